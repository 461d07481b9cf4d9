// Replacing a file: a new one beside it, synced, then renamed over it under a lock on their folder.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "fmt/format.h"
#include "gateway/auth/key_file_edit.h"
#include "gateway/files/file_version.h"

namespace headstart {
namespace {

constexpr mode_t kOwnerOnly = 0600;

absl::Status Failed(std::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, fmt::format("cannot {} {}", what, path));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Whoever could read the file before can afterwards, and nobody else.
bool TakeOver(int fd, const std::string& path) {
  struct stat before;
  if (stat(path.c_str(), &before) != 0) return fchmod(fd, kOwnerOnly) == 0;
  if (fchown(fd, before.st_uid, before.st_gid) != 0 && errno != EPERM) return false;
  return fchmod(fd, before.st_mode & 07777) == 0;
}

absl::Status Replace(const std::string& path, std::string_view text, int folder) {
  std::string fresh = path + ".XXXXXX";
  const FileDescriptor file(mkostemp(fresh.data(), O_CLOEXEC));
  if (!file.ok()) return Failed("create a file beside", path);
  absl::Status status;
  if (!WriteAll(file.get(), text) || !TakeOver(file.get(), path) || fsync(file.get()) != 0) {
    status = Failed("write", fresh);
  } else if (rename(fresh.c_str(), path.c_str()) != 0) {
    status = Failed("replace", path);
  }
  if (!status.ok()) {
    unlink(fresh.c_str());
    return status;
  }
  return fsync(folder) == 0 ? absl::OkStatus() : Failed("sync the folder of", path);
}

// The file itself, where `path` is a link to it.
std::string TargetOf(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

absl::Status ChangeFile(const std::string& path,
                        const std::function<absl::StatusOr<std::string>(const std::string& text)>& edit) {
  const std::string target = TargetOf(path);
  const std::string parent = std::filesystem::path(target).parent_path().string();
  const FileDescriptor folder(open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok()) return Failed("open the folder of", path);
  if (flock(folder.get(), LOCK_EX) != 0) return Failed("lock the folder of", path);
  auto text = ReadSmallFile(target);
  if (absl::IsNotFound(text.status())) text = "";
  if (!text.ok()) return text.status();
  auto changed = edit(*text);
  if (!changed.ok()) {
    const std::string why(changed.status().message());
    return absl::Status(changed.status().code(), fmt::format("{}: {}", path, why));
  }
  return Replace(target, *changed, folder.get());
}

}  // namespace headstart
