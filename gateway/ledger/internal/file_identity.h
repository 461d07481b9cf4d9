// FileIdentity: which file a path leads to, so that one who keeps a file open notices when the path no longer leads to
// it: it was removed, replaced, or moved away with its directory. While a file is open no other one gets its identity.
//
// Thread-safety: free functions over values.
//
//   const auto identity = SystemFileIdentity(path);   // of a file that is kept open
//   ...
//   if (SystemFileIdentity(path) != identity) ...     // whoever opens the path now finds something else

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_FILE_IDENTITY_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_FILE_IDENTITY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace headstart::ledger_internal {

struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// None when nothing is there, or nothing can be found out.
using IdentifyFile = std::function<std::optional<FileIdentity>(const std::string& path)>;

// One stat(2), symbolic links followed.
std::optional<FileIdentity> SystemFileIdentity(const std::string& path);

// For files that live in this process's memory: nobody else removes those.
inline std::optional<FileIdentity> MemoryFileIdentity(const std::string&) { return FileIdentity{}; }

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_FILE_IDENTITY_H_
