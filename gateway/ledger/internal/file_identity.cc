#include "gateway/ledger/internal/file_identity.h"

#include <sys/stat.h>

namespace headstart::ledger_internal {

std::optional<FileIdentity> SystemFileIdentity(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileIdentity{.device = info.st_dev, .inode = info.st_ino};
}

}  // namespace headstart::ledger_internal
