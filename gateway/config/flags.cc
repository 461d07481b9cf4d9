#include "gateway/config/flags.h"

#include <charconv>

#include "CLI/CLI.hpp"
#include "engine/text/utf8.h"
#include "fmt/format.h"
#include "gateway/config/byte_size.h"

namespace headstart {

CLI::Option* AddParsed(CLI::App& app, const std::string& flag, const std::string& default_text, const std::string& help,
                       std::function<absl::Status(const std::string&)> parse) {
  auto on_value = [flag, parse = std::move(parse)](const std::string& text) {
    const absl::Status status = parse(text);
    if (!status.ok()) throw CLI::ValidationError(flag, std::string(status.message()));
  };
  return app.add_option_function<std::string>(flag, on_value, help)->default_str(default_text);
}

CLI::Option* AddByteSize(CLI::App& app, const std::string& flag, int64_t& target, const std::string& help) {
  return AddParsed(app, flag, FormatByteSize(target), help, [&target](const std::string& text) {
    const auto bytes = ParseByteSize(text);
    if (bytes.ok()) target = *bytes;
    return bytes.status();
  });
}

CLI::Option* AddDuration(CLI::App& app, const std::string& flag, absl::Duration& target, const std::string& help) {
  return AddParsed(app, flag, absl::FormatDuration(target), help, [&target](const std::string& text) {
    absl::Duration duration;
    if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration()) {
      return absl::InvalidArgumentError(fmt::format("\"{}\" is not a length of time; write 500ms, 30s or 5m", text));
    }
    target = duration;
    return absl::OkStatus();
  });
}

std::string CheckNotEmpty(const std::string& text) { return text.empty() ? "is empty" : ""; }

std::string CheckUtf8(const std::string& text) {
  if (IsValidUtf8(text)) return "";
  return fmt::format("the text is not UTF-8: byte {} begins no character", ValidUtf8Prefix(text));
}

std::optional<uint64_t> ParseUnsigned(const std::string& text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::string CheckUnsigned(const std::string& text) {
  return ParseUnsigned(text) ? "" : fmt::format("\"{}\" is not a whole number of at most 64 bits", text);
}

}  // namespace headstart
