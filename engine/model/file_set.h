// FileSet: named read-only files as bytes: a folder that is memory-mapped, or bytes compiled into the program.
//
// Thread-safety: const methods may be called from any thread.
// Ownership: bytes are valid while the FileSet lives.

#ifndef HEADSTART_ENGINE_MODEL_FILE_SET_H_
#define HEADSTART_ENGINE_MODEL_FILE_SET_H_

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headstart {

class FileSet {
 public:
  virtual ~FileSet() = default;

  virtual bool Has(std::string_view name) const = 0;

  // The whole file. NOT_FOUND naming the path; PERMISSION_DENIED and others as the system says.
  virtual absl::StatusOr<std::span<const std::byte>> Bytes(std::string_view name) const = 0;

  // How to name a file of this set in a message.
  virtual std::string PathOf(std::string_view name) const = 0;
};

// Maps files of `folder` when first asked for. Names may not leave the folder.
std::shared_ptr<const FileSet> MappedFolder(std::string folder);

// Files in memory, not owned.
std::shared_ptr<const FileSet> MemoryFiles(std::map<std::string, std::span<const std::byte>, std::less<>> files);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_FILE_SET_H_
