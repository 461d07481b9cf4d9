#include "gateway/ledger/internal/ledger_directory.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "gateway/ledger/internal/rocks_status.h"

namespace headstart::ledger_internal {
namespace {

constexpr std::string_view kMarker = "HEADSTART_LEDGER";
constexpr std::string_view kNewMarker = "HEADSTART_LEDGER.new";
constexpr std::string_view kLock = "LOCK";
constexpr std::string_view kTitle = "Headstart ledger, format ";

std::string MarkerText(int format) { return fmt::format("{}{}\n", kTitle, format); }

// The format that a marker names; none when it is damaged.
std::optional<int> FormatOf(const std::string& text) {
  if (!text.starts_with(kTitle)) return std::nullopt;
  int format = 0;
  std::from_chars(text.data() + kTitle.size(), text.data() + text.size(), format);
  return MarkerText(format) == text ? std::optional(format) : std::nullopt;
}

bool IsInUse(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  return text.find("lock hold by current process") != std::string::npos ||
         text.find("While lock file") != std::string::npos || text.find("lock is already held") != std::string::npos;
}

bool IsOursBeforeTheMarker(std::string_view name) {
  return name == "." || name == ".." || name == kLock || name == kNewMarker || name == "lost+found";
}

}  // namespace

absl::StatusOr<std::unique_ptr<LedgerDirectory>> LedgerDirectory::Claim(rocksdb::Env& env, const std::string& path,
                                                                        IdentifyFile identify) {
  absl::Status status = FromRocksIo(env.CreateDirIfMissing(path), fmt::format("cannot create {}", path));
  std::unique_ptr<LedgerDirectory> directory(new LedgerDirectory(env, path, std::move(identify)));
  if (status.ok()) status = directory->CheckOurs();
  if (status.ok()) status = directory->Lock();
  if (status.ok()) status = directory->CheckFormat();
  if (!status.ok()) return status;
  return directory;
}

LedgerDirectory::~LedgerDirectory() {
  if (lock_ != nullptr) env_.UnlockFile(lock_).PermitUncheckedError();
}

// Ours: with our marker, or with nothing in it but what a first start leaves before it has written the marker.
absl::Status LedgerDirectory::CheckOurs() const {
  std::vector<std::string> names;
  const absl::Status listed = FromRocksIo(env_.GetChildren(path_, &names), fmt::format("cannot list {}", path_));
  if (!listed.ok() || std::ranges::find(names, kMarker) != names.end()) return listed;
  const auto foreign = std::ranges::find_if_not(names, IsOursBeforeTheMarker);
  if (foreign == names.end()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} is not a ledger's directory: it holds {} and no {}; give the ledger an empty directory", path_,
                  *foreign, kMarker));
}

absl::Status LedgerDirectory::Lock() {
  const rocksdb::Status status = env_.LockFile(lock_path(), &lock_);
  if (status.ok()) identity_ = identify_(lock_path());
  if (!status.ok() && IsInUse(status)) {
    return absl::FailedPreconditionError(fmt::format(
        "the ledger's directory {} is in use by another server: stop that one or give this one a directory of its own",
        path_));
  }
  return FromRocksIo(status, fmt::format("cannot lock {}", lock_path()));
}

absl::Status LedgerDirectory::CheckFormat() const {
  const std::string path = fmt::format("{}/{}", path_, kMarker);
  std::string text;
  const rocksdb::Status status = rocksdb::ReadFileToString(&env_, path, &text);
  if (status.IsPathNotFound() || status.IsNotFound()) return WriteMarker();
  if (!status.ok()) return FromRocksIo(status, fmt::format("cannot read {}", path));
  const std::optional<int> format = FormatOf(text);
  if (!format) {
    return absl::FailedPreconditionError(fmt::format(
        "{} is damaged, so the ledger's format is not known; restore it, which reads \"{}\" for this program's format",
        path, MarkerText(kLedgerFormat).substr(0, kTitle.size() + 1)));
  }
  if (*format <= kLedgerFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("the ledger in {} has format {} and this program reads up to {}: use the newer program that wrote it",
                  path_, *format, kLedgerFormat));
}

// By a rename, so that at no moment there is half a marker.
absl::Status LedgerDirectory::WriteMarker() const {
  const std::string fresh = fmt::format("{}/{}", path_, kNewMarker);
  rocksdb::Status status = rocksdb::WriteStringToFile(&env_, MarkerText(kLedgerFormat), fresh, /*should_sync=*/true);
  if (status.ok()) status = env_.RenameFile(fresh, fmt::format("{}/{}", path_, kMarker));
  return FromRocksIo(status, fmt::format("cannot write {}/{}", path_, kMarker));
}

}  // namespace headstart::ledger_internal
