#include "prefix_store/tier/internal/rocks_log.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

namespace headstart::internal {
namespace {

class ErrorLogger final : public rocksdb::Logger {
 public:
  explicit ErrorLogger(std::function<void(std::string_view)> on_error)
      : Logger(rocksdb::InfoLogLevel::ERROR_LEVEL), on_error_(std::move(on_error)) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    if (!on_error_) return;
    std::array<char, 512> line;  // a line of a log: what is longer is cut
    if (std::vsnprintf(line.data(), line.size(), format, arguments) < 0) return;
    std::string_view text(line.data());
    on_error_(text.substr(0, text.find('\n')));
  }

 private:
  const std::function<void(std::string_view)> on_error_;
};

class ManualRecovery final : public rocksdb::EventListener {
 public:
  explicit ManualRecovery(std::shared_ptr<std::atomic<bool>> failed) : failed_(std::move(failed)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status*) override { *failed_ = true; }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* automatic) override {
    *automatic = false;
  }

 private:
  const std::shared_ptr<std::atomic<bool>> failed_;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> NewErrorLogger(std::function<void(std::string_view)> on_error) {
  return std::make_shared<ErrorLogger>(std::move(on_error));
}

std::shared_ptr<rocksdb::EventListener> NewManualRecovery(std::shared_ptr<std::atomic<bool>> failed) {
  return std::make_shared<ManualRecovery>(std::move(failed));
}

}  // namespace headstart::internal
