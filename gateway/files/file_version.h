// FileVersion: what shows that a file may have changed, without reading it. And small files, read whole.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_FILES_FILE_VERSION_H_
#define HEADSTART_GATEWAY_FILES_FILE_VERSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace headstart {

// Of what the path leads to, symbolic links followed: replacing a link, as Kubernetes does, is a change too. All zero
// when nothing is there.
struct FileVersion {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size_bytes = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

std::vector<FileVersion> VersionsOf(const std::vector<std::string>& paths);

inline constexpr int64_t kLargestConfigurationFileBytes = 16 << 20;

// NOT_FOUND, PERMISSION_DENIED or INVALID_ARGUMENT (no plain file, or too large) naming the path. Never waits for
// whoever may write into a pipe.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// Waits for a pipe's writers to be done: for programs that have nothing else to do, given a file as <(...) by a shell.
absl::StatusOr<std::string> ReadSmallFileOrPipe(const std::string& path);

absl::StatusOr<std::vector<std::string>> ReadFiles(const std::vector<std::string>& paths);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_FILES_FILE_VERSION_H_
