#include "prefix_store/tier/internal/cache_directory.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "prefix_store/tier/internal/rocks_status.h"
#include "xxhash.h"

namespace headstart::internal {
namespace {

constexpr std::string_view kMarker = "HEADSTART_CACHE";
constexpr std::string_view kNewMarker = "HEADSTART_CACHE.new";
constexpr std::string_view kLock = "LOCK";
constexpr std::string_view kCurrent = "CURRENT";  // RocksDB's: names the manifest, without which nothing is found
constexpr std::string_view kTitle = "Headstart prefix cache, format ";

// One line that people can read and its checksum: "Headstart prefix cache, format 1\n<16 hexadecimal digits>\n".
// Every later format keeps this, so that an older program can tell a newer directory from a damaged one.
std::string MarkerText(int format) {
  const std::string line = fmt::format("{}{}\n", kTitle, format);
  return fmt::format("{}{:016x}\n", line, XXH3_64bits(line.data(), line.size()));
}

// The format that a marker names; none when it is damaged.
std::optional<int> FormatOf(const std::string& text) {
  constexpr int kMostDigits = 9;
  if (!std::string_view(text).starts_with(kTitle)) return std::nullopt;
  int format = 0;
  size_t at = kTitle.size();
  for (int digits = 0; digits < kMostDigits && at < text.size() && text[at] >= '0' && text[at] <= '9'; ++digits, ++at) {
    format = format * 10 + (text[at] - '0');
  }
  return MarkerText(format) == text ? std::optional(format) : std::nullopt;
}

bool IsInUse(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  return text.find("lock hold by current process") != std::string::npos ||
         text.find("While lock file") != std::string::npos;
}

absl::Status SyncDirectory(rocksdb::Env& env, const std::string& path) {
  std::unique_ptr<rocksdb::Directory> directory;
  rocksdb::Status status = env.NewDirectory(path, &directory);
  if (status.ok()) status = directory->Fsync();
  return FromRocks(status, fmt::format("cannot sync {}", path));
}

}  // namespace

absl::StatusOr<std::unique_ptr<CacheDirectory>> CacheDirectory::Claim(rocksdb::Env& env, const std::string& path) {
  const absl::Status created = FromRocks(env.CreateDirIfMissing(path), fmt::format("cannot create {}", path));
  if (!created.ok()) return created;
  std::unique_ptr<CacheDirectory> directory(new CacheDirectory(env, path));
  if (absl::Status status = directory->Lock(); !status.ok()) return status;
  directory->unread_ = directory->is_new_ ? directory->WriteMarker() : directory->ReadMarker();
  const bool refused = directory->is_new_ || absl::IsFailedPrecondition(directory->unread_);
  if (refused && !directory->unread_.ok()) return directory->unread_;
  return directory;
}

absl::Status CacheDirectory::CheckExists(rocksdb::Env& env, const std::string& path) {
  const rocksdb::Status found = env.FileExists(fmt::format("{}/{}", path, kMarker));
  if (!found.IsNotFound() && !found.IsPathNotFound()) return FromRocks(found, fmt::format("cannot look into {}", path));
  return absl::NotFoundError(fmt::format(
      "there is no cache in {}: it has no file {}; name the folder that a server was given", path, kMarker));
}

CacheDirectory::~CacheDirectory() {
  if (lock_ != nullptr) env_.UnlockFile(lock_).PermitUncheckedError();
}

absl::Status CacheDirectory::Lock() {
  if (absl::Status ours = CheckOurs(); !ours.ok()) return ours;
  const rocksdb::Status status = env_.LockFile(path_ + "/LOCK", &lock_);
  if (!status.ok() && IsInUse(status)) {
    return absl::FailedPreconditionError(fmt::format(
        "the cache directory {} is in use by another process or another cache of this one: stop that one or give this "
        "one a directory of its own",
        path_));
  }
  return FromRocks(status, fmt::format("cannot lock {}/LOCK", path_));
}

// Ours: with our marker, or with nothing in it but what a first start leaves before it has written the marker.
absl::Status CacheDirectory::CheckOurs() {
  std::vector<std::string> names;
  const rocksdb::Status status = env_.GetChildren(path_, &names);
  if (!status.ok()) return FromRocks(status, fmt::format("cannot list {}", path_));
  is_new_ = std::find(names.begin(), names.end(), kMarker) == names.end();
  if (!is_new_) return absl::OkStatus();
  for (const std::string& name : names) {
    if (name == "." || name == ".." || name == kLock || name == kNewMarker || name == "lost+found") continue;
    return absl::FailedPreconditionError(
        fmt::format("{} is not a cache directory: it holds {} and no {} file; give the cache an empty directory", path_,
                    name, kMarker));
  }
  return absl::OkStatus();
}

absl::Status CacheDirectory::ReadMarker() {
  const std::string path = fmt::format("{}/{}", path_, kMarker);
  std::string text;
  const rocksdb::Status status = rocksdb::ReadFileToString(&env_, path, &text);
  if (!status.ok()) return FromRocks(status, fmt::format("cannot read {}", path));
  const std::optional<int> format = FormatOf(text);
  marker_damaged_ = !format.has_value();
  if (format.value_or(0) <= kDirectoryFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("the cache directory {} has format {} and this program reads up to {}: use the newer program that "
                  "wrote it, or delete the directory to start with an empty cache",
                  path_, *format, kDirectoryFormat));
}

absl::Status CacheDirectory::Confirm() {
  if (!unread_.ok()) unread_ = ReadMarker();
  return unread_;
}

// By a rename, so that at no moment there is half a marker.
absl::Status CacheDirectory::WriteMarker() {
  const std::string fresh = fmt::format("{}/{}", path_, kNewMarker);
  rocksdb::Status status = rocksdb::WriteStringToFile(&env_, MarkerText(kDirectoryFormat), fresh, /*should_sync=*/true);
  if (status.ok()) status = env_.RenameFile(fresh, fmt::format("{}/{}", path_, kMarker));
  marker_damaged_ = marker_damaged_ && !status.ok();
  return FromRocks(status, fmt::format("cannot write {}/{}", path_, kMarker));
}

absl::Status CacheDirectory::TryToWrite() const {
  constexpr size_t kBytes = 1 << 20;  // what a few blocks take: less might fit where a batch does not
  const std::string path = path_ + "/PROBE";
  const rocksdb::Status written =
      rocksdb::WriteStringToFile(&env_, std::string(kBytes, '\0'), path, /*should_sync=*/true);
  env_.DeleteFile(path).PermitUncheckedError();
  return FromRocks(written, fmt::format("cannot write to {}", path_));
}

absl::Status CacheDirectory::Clear(const std::string& database) const {
  std::vector<std::string> names;
  const rocksdb::Status listed = env_.GetChildren(database, &names);
  if (listed.IsNotFound() || listed.IsPathNotFound()) return absl::OkStatus();
  if (!listed.ok()) return FromRocks(listed, fmt::format("cannot list {}", database));
  const auto current = std::find(names.begin(), names.end(), kCurrent);
  if (current != names.end()) {
    if (absl::Status status = Delete(database, kCurrent); !status.ok()) return status;
    names.erase(current);
  }
  if (absl::Status status = SyncDirectory(env_, database); !status.ok()) return status;
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    if (absl::Status status = Delete(database, name); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CacheDirectory::Delete(const std::string& database, std::string_view name) const {
  const std::string path = fmt::format("{}/{}", database, name);
  return FromRocks(env_.DeleteFile(path), fmt::format("cannot delete {}", path));
}

bool CacheDirectory::HasDatabase(const std::string& database) const {
  const rocksdb::Status found = env_.FileExists(fmt::format("{}/{}", database, kCurrent));
  return !found.IsNotFound() && !found.IsPathNotFound();
}

std::optional<int64_t> CacheDirectory::FreeBytes() const {
  uint64_t bytes = 0;
  if (!env_.GetFreeSpace(path_, &bytes).ok()) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

CacheDirectory::Sizes CacheDirectory::FileSizes() const {
  Sizes sizes;
  for (const std::string& directory : {path_, blocks(), names()}) AddSizes(directory, sizes);
  return sizes;
}

// A file that goes away meanwhile counts for nothing, and so does a directory that cannot be listed.
void CacheDirectory::AddSizes(const std::string& directory, Sizes& sizes) const {
  std::vector<rocksdb::Env::FileAttributes> files;
  if (!env_.GetChildrenFileAttributes(directory, &files).ok()) return;
  for (const rocksdb::Env::FileAttributes& file : files) {
    if (file.name == "." || file.name == ".." || file.name == "blocks" || file.name == "names") continue;
    sizes.all += static_cast<int64_t>(file.size_bytes);
    if (std::string_view(file.name).ends_with(".log")) sizes.logs += static_cast<int64_t>(file.size_bytes);
  }
}

}  // namespace headstart::internal
