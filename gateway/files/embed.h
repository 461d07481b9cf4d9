// HEADSTART_EMBED: a file as part of the program, read-only and without a copy in the source. The file is named by its
// full path, and the target says in OBJECT_DEPENDS that it is rebuilt with it.
//
//   HEADSTART_EMBED(page, HEADSTART_PAGE_FOLDER "/index.html");                // at file scope, once for each symbol
//   const std::span<const std::byte> bytes = HEADSTART_EMBEDDED(page);

#ifndef HEADSTART_GATEWAY_FILES_EMBED_H_
#define HEADSTART_GATEWAY_FILES_EMBED_H_

#include <cstddef>
#include <span>

// 64 is a cache line: tensors then lie as they would in a mapped file.
#define HEADSTART_EMBED(symbol, path)                      \
  asm(".pushsection .rodata\n"                             \
      ".balign 64\n"                                       \
      ".global headstart_" #symbol                         \
      "_begin\n"                                           \
      "headstart_" #symbol                                 \
      "_begin:\n"                                          \
      ".incbin \"" path                                    \
      "\"\n"                                               \
      ".global headstart_" #symbol                         \
      "_end\n"                                             \
      "headstart_" #symbol                                 \
      "_end:\n"                                            \
      ".byte 0\n"                                          \
      ".popsection\n");                                    \
  extern "C" const std::byte headstart_##symbol##_begin[]; \
  extern "C" const std::byte headstart_##symbol##_end[]

#define HEADSTART_EMBEDDED(symbol) std::span<const std::byte>(headstart_##symbol##_begin, headstart_##symbol##_end)

#endif  // HEADSTART_GATEWAY_FILES_EMBED_H_
