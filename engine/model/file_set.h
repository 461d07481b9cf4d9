// FileSet: named read-only files as bytes: a folder that is memory-mapped, or bytes compiled into the program.
//
// Thread-safety: const methods may be called from any thread.
// Ownership: bytes are valid while the FileSet lives. A mapped file must not be truncated by others meanwhile: the
// system ends a process that reads past the end of a file it mapped. Errors: NOT_FOUND, PERMISSION_DENIED and so on,
// naming the path; INVALID_ARGUMENT for a name that leaves the folder.

#ifndef HEADSTART_ENGINE_MODEL_FILE_SET_H_
#define HEADSTART_ENGINE_MODEL_FILE_SET_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace headstart {

class FileSet {
 public:
  virtual ~FileSet() = default;

  virtual bool Has(std::string_view name) const = 0;

  // The whole file. NOT_FOUND naming the path; PERMISSION_DENIED and others as the system says.
  virtual absl::StatusOr<std::span<const std::byte>> Bytes(std::string_view name) const = 0;

  // The names of all files directly in the set, in order. Empty when the folder cannot be read.
  virtual std::vector<std::string> List() const = 0;

  // How to name a file of this set in a message.
  virtual std::string PathOf(std::string_view name) const = 0;
};

// Maps files of `folder` when first asked for. Names may not leave the folder.
std::shared_ptr<const FileSet> MappedFolder(std::string folder);

// Files in memory, not owned.
std::shared_ptr<const FileSet> MemoryFiles(std::map<std::string, std::span<const std::byte>, std::less<>> files);

// Files in memory, owned by the set.
std::shared_ptr<const FileSet> OwnedFiles(std::map<std::string, std::string, std::less<>> files);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_FILE_SET_H_
