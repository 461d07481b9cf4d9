#include "engine/model/file_set.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "engine/mutex.h"
#include "fmt/format.h"

namespace headstart {
namespace {

absl::Status SystemError(std::string_view doing, std::string_view path) {
  return absl::ErrnoToStatus(errno, fmt::format("cannot {} {}", doing, path));
}

// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// A whole file, mapped for reading.
class Mapping {
 public:
  static absl::StatusOr<std::unique_ptr<Mapping>> Open(const std::string& path);
  Mapping(void* start, size_t size) : start_(start), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (size_ > 0) ::munmap(start_, size_);
  }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(start_), size_}; }

 private:
  void* start_;
  size_t size_;
};

absl::StatusOr<std::unique_ptr<Mapping>> Mapping::Open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError("open", path);
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return SystemError("read the size of", path);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(fmt::format("{} is not a regular file", path));
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return std::make_unique<Mapping>(nullptr, 0);  // mmap refuses a length of 0
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) return SystemError("map", path);
  return std::make_unique<Mapping>(start, size);
}

// Links inside the folder may lead anywhere (model caches are made of them); names may not.
bool StaysInFolder(std::string_view name) {
  const std::filesystem::path path(name);
  if (name.empty() || path.is_absolute() || name.find('\0') != std::string_view::npos) return false;
  for (const auto& part : path) {
    if (part == "..") return false;
  }
  return true;
}

class FolderFiles : public FileSet {
 public:
  explicit FolderFiles(std::string folder) : folder_(std::move(folder)) {}

  bool Has(std::string_view name) const override {
    std::error_code error;
    return StaysInFolder(name) && std::filesystem::is_regular_file(PathOf(name), error);
  }

  absl::StatusOr<std::span<const std::byte>> Bytes(std::string_view name) const override {
    if (!StaysInFolder(name)) {
      return absl::InvalidArgumentError(fmt::format("'{}' is not the name of a file inside {}", name, folder_));
    }
    const MutexLock lock(mutex_);
    auto found = mappings_.find(name);
    if (found == mappings_.end()) {
      auto mapping = Mapping::Open(PathOf(name));
      if (!mapping.ok()) return mapping.status();
      found = mappings_.emplace(name, *std::move(mapping)).first;
    }
    return found->second->bytes();
  }

  std::vector<std::string> List() const override {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->is_regular_file(error)) names.push_back(entry->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string PathOf(std::string_view name) const override { return (std::filesystem::path(folder_) / name).string(); }

 private:
  const std::string folder_;
  mutable Mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<Mapping>, std::less<>> mappings_ ABSL_GUARDED_BY(mutex_);
};

class BorrowedFiles : public FileSet {
 public:
  using Map = std::map<std::string, std::span<const std::byte>, std::less<>>;
  explicit BorrowedFiles(Map files) : files_(std::move(files)) {}

  bool Has(std::string_view name) const override { return files_.contains(name); }

  absl::StatusOr<std::span<const std::byte>> Bytes(std::string_view name) const override {
    const auto found = files_.find(name);
    if (found == files_.end()) return absl::NotFoundError(fmt::format("there is no file {}", name));
    return found->second;
  }

  std::vector<std::string> List() const override {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : files_) names.push_back(name);
    return names;
  }

  std::string PathOf(std::string_view name) const override { return std::string(name); }

 private:
  const Map files_;
};

BorrowedFiles::Map ViewsOf(const std::map<std::string, std::string, std::less<>>& files) {
  BorrowedFiles::Map views;
  for (const auto& [name, text] : files) views.emplace(name, std::as_bytes(std::span(text)));
  return views;
}

// The texts come first, so that they outlive the views of them.
struct OwnedTexts {
  const std::map<std::string, std::string, std::less<>> texts;
};

class OwningFiles : private OwnedTexts, public BorrowedFiles {
 public:
  explicit OwningFiles(std::map<std::string, std::string, std::less<>> files)
      : OwnedTexts{std::move(files)}, BorrowedFiles(ViewsOf(texts)) {}
};

}  // namespace

std::shared_ptr<const FileSet> MappedFolder(std::string folder) {
  return std::make_shared<FolderFiles>(std::move(folder));
}

std::shared_ptr<const FileSet> MemoryFiles(std::map<std::string, std::span<const std::byte>, std::less<>> files) {
  return std::make_shared<BorrowedFiles>(std::move(files));
}

std::shared_ptr<const FileSet> OwnedFiles(std::map<std::string, std::string, std::less<>> files) {
  return std::make_shared<OwningFiles>(std::move(files));
}

}  // namespace headstart
