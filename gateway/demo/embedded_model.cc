#include "gateway/demo/embedded_model.h"

#include <cstddef>
#include <span>

// 64 is a cache line: tensors then lie as they would in a mapped file. The section is read-only data.
#define HEADSTART_EMBED(symbol, file)                      \
  asm(".pushsection .rodata\n"                             \
      ".balign 64\n"                                       \
      ".global headstart_" #symbol                         \
      "_begin\n"                                           \
      "headstart_" #symbol                                 \
      "_begin:\n"                                          \
      ".incbin \"" HEADSTART_DEMO_MODEL "/" file           \
      "\"\n"                                               \
      ".global headstart_" #symbol                         \
      "_end\n"                                             \
      "headstart_" #symbol                                 \
      "_end:\n"                                            \
      ".byte 0\n"                                          \
      ".popsection\n");                                    \
  extern "C" const std::byte headstart_##symbol##_begin[]; \
  extern "C" const std::byte headstart_##symbol##_end[]

HEADSTART_EMBED(demo_weights, "model.safetensors");
HEADSTART_EMBED(demo_config, "config.json");
HEADSTART_EMBED(demo_tokenizer, "tokenizer.json");
HEADSTART_EMBED(demo_tokenizer_config, "tokenizer_config.json");

#define HEADSTART_EMBEDDED(symbol) std::span<const std::byte>(headstart_##symbol##_begin, headstart_##symbol##_end)

namespace headstart {

std::shared_ptr<const FileSet> EmbeddedDemoModel() {
  return MemoryFiles({{"model.safetensors", HEADSTART_EMBEDDED(demo_weights)},
                      {"config.json", HEADSTART_EMBEDDED(demo_config)},
                      {"tokenizer.json", HEADSTART_EMBEDDED(demo_tokenizer)},
                      {"tokenizer_config.json", HEADSTART_EMBEDDED(demo_tokenizer_config)}});
}

}  // namespace headstart
