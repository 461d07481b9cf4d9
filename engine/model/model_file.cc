#include "engine/model/model_file.h"

#include "absl/status/status.h"
#include "fmt/format.h"

namespace headstart {
namespace {

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

absl::StatusOr<std::span<const std::byte>> ReadModelFile(const FileSet& files, std::string_view name) {
  auto bytes = files.Bytes(name);
  if (!bytes.ok()) return bytes;
  if (bytes->empty()) return absl::InvalidArgumentError(fmt::format("{}: the file is empty", files.PathOf(name)));
  if (AsText(*bytes).starts_with("version https://git-lfs.github.com/spec/")) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: a Git LFS pointer, not the file itself: run 'git lfs pull' in its folder", files.PathOf(name)));
  }
  return bytes;
}

absl::StatusOr<std::string_view> ReadModelText(const FileSet& files, std::string_view name) {
  const auto bytes = ReadModelFile(files, name);
  if (!bytes.ok()) return bytes.status();
  return AsText(*bytes);
}

}  // namespace headstart
