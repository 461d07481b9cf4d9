#include "gateway/files/file_version.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "fmt/format.h"

namespace headstart {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

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

absl::Status CheckKind(const std::string& path, mode_t mode, bool take_pipes) {
  if (S_ISREG(mode) || (take_pipes && !S_ISDIR(mode))) return absl::OkStatus();
  if (S_ISDIR(mode)) return absl::InvalidArgumentError(fmt::format("{} is a folder; name a file", path));
  return absl::InvalidArgumentError(fmt::format("{} is a pipe, a socket or a device; name a plain file", path));
}

absl::Status TooLarge(const std::string& path, int64_t bytes) {
  return absl::InvalidArgumentError(
      fmt::format("{} has {} bytes; at most {} are read", path, bytes, kLargestConfigurationFileBytes));
}

absl::StatusOr<Descriptor> Open(const std::string& path, bool take_pipes) {
  // Opening a pipe would wait for somebody who writes to it, for as long as nobody does.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (take_pipes ? 0 : O_NONBLOCK)));
  if (file.get() < 0) return CannotRead(path, errno);
  struct stat info;
  if (fstat(file.get(), &info) != 0) return CannotRead(path, errno);
  if (auto status = CheckKind(path, info.st_mode, take_pipes); !status.ok()) return status;
  if (info.st_size > kLargestConfigurationFileBytes) return TooLarge(path, info.st_size);
  return file;
}

absl::StatusOr<std::string> ReadAll(const Descriptor& file, const std::string& path) {
  std::string text;
  std::array<char, 16 << 10> piece;
  while (true) {
    const ssize_t bytes = read(file.get(), piece.data(), piece.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return CannotRead(path, errno);
    if (bytes == 0) return text;
    text.append(piece.data(), static_cast<size_t>(bytes));
    const auto read_bytes = static_cast<int64_t>(text.size());  // a file may grow under its reader
    if (read_bytes > kLargestConfigurationFileBytes) return TooLarge(path, read_bytes);
  }
}

}  // namespace

std::vector<FileVersion> VersionsOf(const std::vector<std::string>& paths) {
  std::vector<FileVersion> versions;
  versions.reserve(paths.size());
  for (const std::string& path : paths) versions.push_back(VersionOf(path));
  return versions;
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  const auto file = Open(path, /*take_pipes=*/false);
  return file.ok() ? ReadAll(*file, path) : file.status();
}

absl::StatusOr<std::string> ReadSmallFileOrPipe(const std::string& path) {
  const auto file = Open(path, /*take_pipes=*/true);
  return file.ok() ? ReadAll(*file, path) : file.status();
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
