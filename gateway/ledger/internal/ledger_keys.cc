#include "gateway/ledger/internal/ledger_keys.h"

#include <algorithm>
#include <concepts>

namespace headstart::ledger_internal {
namespace {

template <std::unsigned_integral T>
void AppendBig(std::string& out, T value) {
  for (size_t i = sizeof(T); i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}

template <std::unsigned_integral T>
T ReadBig(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<T>(value);
}

void AppendText(std::string& out, std::string_view text) {
  AppendBig(out, static_cast<uint32_t>(text.size()));
  out.append(text);
}

// Takes fields from the front; once one is missing, ok() is false and all others are empty.
class KeyReader {
 public:
  explicit KeyReader(std::string_view bytes) : bytes_(bytes) {}

  uint32_t Number() {
    const std::string_view bytes = Bytes(sizeof(uint32_t));
    return ok_ ? ReadBig<uint32_t>(bytes) : 0;
  }
  std::string Text() { return std::string(Bytes(Number())); }
  bool AtEnd() const { return ok_ && bytes_.empty(); }
  bool ok() const { return ok_; }

 private:
  std::string_view Bytes(size_t size) {
    ok_ = ok_ && size <= bytes_.size();
    if (!ok_) return {};
    const std::string_view bytes = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return bytes;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace

std::string EncodeNumber(uint64_t number) {
  std::string bytes;
  AppendBig(bytes, number);
  return bytes;
}

std::optional<uint64_t> DecodeNumber(std::string_view bytes) {
  if (bytes.size() != sizeof(uint64_t)) return std::nullopt;
  return ReadBig<uint64_t>(bytes);
}

std::string IdKey(std::string_view tenant, std::string_view request_id) {
  std::string key;
  AppendText(key, tenant);
  key.append(request_id);
  return key;
}

std::string RecordKey(absl::Time end, std::string_view id_key) {
  std::string key = EncodeNumber(static_cast<uint64_t>(std::max<int64_t>(0, absl::ToUnixNanos(end))));
  key.append(id_key);
  return key;
}

std::string_view IdKeyOf(std::string_view record_key) {
  return record_key.substr(std::min(record_key.size(), sizeof(uint64_t)));
}

absl::Time HourOf(absl::Time time) { return absl::UnixEpoch() + absl::Floor(time - absl::UnixEpoch(), absl::Hours(1)); }

std::string HourKey(absl::Time hour) {
  std::string key;
  const int64_t number = (hour - absl::UnixEpoch()) / absl::Hours(1);
  AppendBig(key, static_cast<uint32_t>(std::clamp<int64_t>(number, 0, UINT32_MAX)));
  return key;
}

std::string HourKey(const UsageHour& hour) {
  std::string key = HourKey(hour.start);
  for (const std::string* text : {&hour.currency, &hour.tenant, &hour.key_id, &hour.model}) AppendText(key, *text);
  AppendBig(key, static_cast<uint32_t>(hour.labels.size()));
  for (const auto& [label, value] : hour.labels) {
    AppendText(key, label);
    AppendText(key, value);
  }
  return key;
}

std::optional<UsageHour> ParseHourKey(std::string_view key) {
  KeyReader reader(key);
  UsageHour hour;
  hour.start = absl::UnixEpoch() + reader.Number() * absl::Hours(1);
  for (std::string* text : {&hour.currency, &hour.tenant, &hour.key_id, &hour.model}) *text = reader.Text();
  for (uint32_t left = reader.Number(); left > 0 && reader.ok(); --left) {
    std::string label = reader.Text();
    hour.labels[std::move(label)] = reader.Text();
  }
  if (!reader.AtEnd()) return std::nullopt;
  return hour;
}

absl::Time EndOf(const v1::UsageEntry& entry) {
  return absl::FromUnixSeconds(entry.end_time().seconds()) + absl::Nanoseconds(entry.end_time().nanos());
}

UsageHour HourOf(const v1::UsageEntry& entry) {
  return {.start = HourOf(EndOf(entry)),
          .currency = entry.charge().currency(),
          .tenant = entry.tenant(),
          .key_id = entry.key_id(),
          .model = entry.model(),
          .labels = {entry.labels().begin(), entry.labels().end()}};
}

}  // namespace headstart::ledger_internal
