// CacheDirectory: a directory that is ours alone while this lives: a marker file says what it is and in which format,
// a lock keeps other processes away.
//
//   <directory>/HEADSTART_CACHE   the marker       <directory>/LOCK    held while the directory is in use
//   <directory>/blocks/           RocksDB: cached blocks         <directory>/names/   RocksDB: named records
//
// Thread-safety: Claim from any thread; const methods from any thread.
// Ownership: `env` outlives it. Nothing in a directory that is not ours is ever written, let alone deleted.

#ifndef HEADSTART_PREFIX_STORE_TIER_INTERNAL_CACHE_DIRECTORY_H_
#define HEADSTART_PREFIX_STORE_TIER_INTERNAL_CACHE_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/env.h"

namespace headstart::internal {

inline constexpr int kDirectoryFormat = 1;

class CacheDirectory {
 public:
  // Takes `path`, creating it when it is not there and its parent is. FAILED_PRECONDITION, saying what to do, when it
  // is in use, is not a cache's or has a newer format; UNAVAILABLE or RESOURCE_EXHAUSTED when I/O fails. That a marker
  // is there and cannot be read just now is no error: see Confirm.
  static absl::StatusOr<std::unique_ptr<CacheDirectory>> Claim(rocksdb::Env& env, const std::string& path);
  // NOT_FOUND when `path` is no cache's directory yet, which Claim would make it.
  static absl::Status CheckExists(rocksdb::Env& env, const std::string& path);

  ~CacheDirectory();
  CacheDirectory(const CacheDirectory&) = delete;
  CacheDirectory& operator=(const CacheDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string blocks() const { return path_ + "/blocks"; }
  std::string names() const { return path_ + "/names"; }

  // Whether there was no marker: there is nothing here that could be lost.
  bool is_new() const { return is_new_; }

  // Whether the marker was there and made no sense: what lies here may be of any format.
  bool marker_damaged() const { return marker_damaged_; }
  absl::Status WriteMarker();

  // OK once the marker has been read, which it tries when Claim could not: until then nothing here may be touched. As
  // Claim otherwise. From one thread at a time; so is marker_damaged() until it returned OK.
  absl::Status Confirm();

  // Whether a file of some size can be written and synced here now.
  absl::Status TryToWrite() const;

  // Deletes the files of one of the two databases, which must be closed; needs no space. The first one to go makes the
  // rest unreadable, and is sure to be gone for good, even after the loss of power, before the next one goes.
  absl::Status Clear(const std::string& database) const;

  // Whether a database is there: false also for what a Clear left that was interrupted.
  bool HasDatabase(const std::string& database) const;

  struct Sizes {
    int64_t all = 0;   // of every file here
    int64_t logs = 0;  // of those, write-ahead logs
  };
  Sizes FileSizes() const;

  // What the device has room for, whoever uses it; nothing when it does not say.
  std::optional<int64_t> FreeBytes() const;

 private:
  CacheDirectory(rocksdb::Env& env, std::string path) : env_(env), path_(std::move(path)) {}

  absl::Status Lock();
  absl::Status CheckOurs();
  absl::Status ReadMarker();
  absl::Status Delete(const std::string& database, std::string_view name) const;
  void AddSizes(const std::string& directory, Sizes& sizes) const;

  rocksdb::Env& env_;
  const std::string path_;
  rocksdb::FileLock* lock_ = nullptr;
  bool is_new_ = true;
  bool marker_damaged_ = false;
  absl::Status unread_;  // why the marker has not been read
};

}  // namespace headstart::internal

#endif  // HEADSTART_PREFIX_STORE_TIER_INTERNAL_CACHE_DIRECTORY_H_
