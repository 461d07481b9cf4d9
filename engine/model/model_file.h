// Reads a file of a model with the checks that make for a clear message: empty files, and pointers that Git LFS leaves
// in place of large files.
//
// Thread-safety: a pure function.

#ifndef HEADSTART_ENGINE_MODEL_MODEL_FILE_H_
#define HEADSTART_ENGINE_MODEL_MODEL_FILE_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/model/file_set.h"

namespace headstart {

// INVALID_ARGUMENT for those two; otherwise what FileSet::Bytes gives.
absl::StatusOr<std::span<const std::byte>> ReadModelFile(const FileSet& files, std::string_view name);

// The same as text.
absl::StatusOr<std::string_view> ReadModelText(const FileSet& files, std::string_view name);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_MODEL_FILE_H_
