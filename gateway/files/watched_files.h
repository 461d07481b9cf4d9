// WatchedFiles<T>: what a few small files say, read anew when they change. A version that cannot be read or is wrong is
// said once and does not take the place of the last good one.
//
// Thread-safety: every method may be called from any thread.
// Errors: Open gives what reading or `parse` says; Refresh tells `on_news` in one sentence.
//
//   auto prices = WatchedFiles<PriceBook>::Open({"prices.yaml"}, ParsePriceBook, on_news);
//   (*prices)->Refresh();            // as often as one likes, such as by a Ticker: reads only what has changed
//   (*prices)->current()->At(now);   // never null; stays valid while it is held

#ifndef HEADSTART_GATEWAY_FILES_WATCHED_FILES_H_
#define HEADSTART_GATEWAY_FILES_WATCHED_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/mutex.h"
#include "fmt/format.h"
#include "gateway/files/file_version.h"

namespace headstart {

enum class FileNews : uint8_t {
  kReadAnew,  // it changed, and what it says now is in use
  kTrouble,   // what it says cannot be used, or not for long
};

// From any thread.
using OnFileNews = std::function<void(FileNews news, const std::string& sentence)>;

// Something that looks for changes when it is told to.
class Refreshable {
 public:
  virtual ~Refreshable() = default;
  virtual void Refresh() = 0;
};

template <typename T>
class WatchedFiles final : public Refreshable {
 public:
  // One text for each path. Its errors name the place within the file; the path is put in front of them.
  using Parse = std::function<absl::StatusOr<T>(const std::vector<std::string>& texts)>;

  static absl::StatusOr<std::unique_ptr<WatchedFiles>> Open(std::vector<std::string> paths, Parse parse,
                                                            OnFileNews on_news) {
    std::unique_ptr<WatchedFiles> files(new WatchedFiles(std::move(paths), std::move(parse), std::move(on_news)));
    const std::vector<FileVersion> versions = VersionsOf(files->paths_);
    auto parsed = files->Read();
    if (!parsed.ok()) return parsed.status();
    MutexLock lock(files->mutex_);
    files->current_ = std::make_shared<const T>(*std::move(parsed));
    files->versions_ = versions;
    return files;
  }

  std::shared_ptr<const T> current() const ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    return current_;
  }

  void Refresh() override ABSL_LOCKS_EXCLUDED(mutex_, refresh_mutex_) {
    MutexLock one_at_a_time(refresh_mutex_);
    // Looked at before reading: what changes while it is read is read again the next time.
    std::vector<FileVersion> versions = VersionsOf(paths_);
    {
      MutexLock lock(mutex_);
      if (versions == versions_) return;
      versions_ = std::move(versions);
    }
    auto parsed = Read();
    if (!parsed.ok())
      return on_news_(FileNews::kTrouble,
                      fmt::format("{}; its last good version stays in use", std::string(parsed.status().message())));
    MutexLock lock(mutex_);
    current_ = std::make_shared<const T>(*std::move(parsed));
    on_news_(FileNews::kReadAnew, fmt::format("{} was read anew", paths_.front()));
  }

 private:
  WatchedFiles(std::vector<std::string> paths, Parse parse, OnFileNews on_news)
      : paths_(std::move(paths)), parse_(std::move(parse)), on_news_(std::move(on_news)) {}

  absl::StatusOr<T> Read() const {
    auto texts = ReadFiles(paths_);
    if (!texts.ok()) return texts.status();
    auto parsed = parse_(*texts);
    if (parsed.ok()) return parsed;
    return absl::Status(parsed.status().code(),
                        fmt::format("{}: {}", paths_.front(), std::string(parsed.status().message())));
  }

  const std::vector<std::string> paths_;
  const Parse parse_;
  const OnFileNews on_news_;
  Mutex refresh_mutex_;
  mutable Mutex mutex_;
  std::vector<FileVersion> versions_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const T> current_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_FILES_WATCHED_FILES_H_
