#include "gateway/files/file_version.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "fmt/format.h"

namespace headstart {
namespace {

int64_t Nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

FileVersion VersionOf(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return {};
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size_bytes = info.st_size,
          .modified_ns = Nanoseconds(info.st_mtim),
          .changed_ns = Nanoseconds(info.st_ctim)};
}

absl::Status CannotRead(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, fmt::format("cannot read {}", path));
}

absl::Status CheckReadable(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return CannotRead(path, errno);
  if (S_ISDIR(info.st_mode)) return absl::InvalidArgumentError(fmt::format("{} is a folder; name a file", path));
  if (info.st_size > kLargestConfigurationFileBytes) {
    return absl::InvalidArgumentError(
        fmt::format("{} has {} bytes; at most {} are read", path, info.st_size, kLargestConfigurationFileBytes));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<FileVersion> VersionsOf(const std::vector<std::string>& paths) {
  std::vector<FileVersion> versions;
  versions.reserve(paths.size());
  for (const std::string& path : paths) versions.push_back(VersionOf(path));
  return versions;
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  if (auto status = CheckReadable(path); !status.ok()) return status;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CannotRead(path, errno);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) return CannotRead(path, errno);
  return text;
}

absl::StatusOr<std::vector<std::string>> ReadFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> texts;
  texts.reserve(paths.size());
  for (const std::string& path : paths) {
    auto text = ReadSmallFile(path);
    if (!text.ok()) return text.status();
    texts.push_back(*std::move(text));
  }
  return texts;
}

}  // namespace headstart
