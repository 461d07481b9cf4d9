#include "engine/model/safetensors.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "engine/model/byte_cursor.h"
#include "engine/model/json_fields.h"
#include "engine/model/tensor_layout.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using nlohmann::json;

// The format's reference allows 100 MB; headers of the largest models take a few MiB, and each byte costs memory to
// parse.
constexpr uint64_t kMaxHeaderBytes = 32 << 20;
constexpr size_t kMaxTensors = 1 << 16;
constexpr size_t kMaxDimensions = 8;
constexpr size_t kMaxIndexBytes = 8 << 20;

std::optional<DType> DTypeOf(std::string_view name) {
  for (const auto dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    if (name == DTypeName(dtype)) return dtype;
  }
  return std::nullopt;
}

// One entry of the header as it is spelled, not yet checked against the file.
struct Entry {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;
  bool is_metadata() const { return name == "__metadata__"; }
};

// Takes the header as a stream of events: a repeated name is seen, and depth is bounded whatever the input.
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  std::vector<Entry> entries;
  std::string error;

  bool null() override { return Unexpected(); }
  bool boolean(bool) override { return Unexpected(); }
  bool number_float(number_float_t, const string_t&) override { return Unexpected(); }
  bool binary(binary_t&) override { return Unexpected(); }

  bool number_integer(number_integer_t) override { return Unexpected(); }  // negative
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ != 2 || list_ == nullptr) return Unexpected();
    if (value > static_cast<uint64_t>(kMaxTensorBytes)) return Fail(fmt::format("{} is too large", value));
    if (list_->size() >= kMaxDimensions) return Fail(fmt::format("more than {} numbers", kMaxDimensions));
    list_->push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (depth_ != 2 || list_ != nullptr) return Unexpected();
    if (entries.back().is_metadata()) return true;
    if (field_ != "dtype") return Unexpected();
    entries.back().dtype = value;
    return true;
  }

  bool start_object(size_t) override {
    if (depth_ >= 2) return Unexpected();
    ++depth_;
    return true;
  }

  bool key(string_t& name) override {
    if (depth_ == 1) return StartEntry(name);
    field_ = name;
    const bool known =
        entries.back().is_metadata() || field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
    return known || Fail(fmt::format("unknown field '{}'", field_));
  }

  bool end_object() override {
    --depth_;
    return true;
  }

  bool start_array(size_t) override {
    if (depth_ != 2 || list_ != nullptr || entries.back().is_metadata()) return Unexpected();
    if (field_ != "shape" && field_ != "data_offsets") return Unexpected();
    list_ = field_ == "shape" ? &entries.back().shape : &entries.back().offsets;
    return list_->empty() || Fail(fmt::format("{} appears twice", field_));
  }

  bool end_array() override {
    list_ = nullptr;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    if (error.empty()) error = fmt::format("the header is not valid JSON at byte {}", position);
    return false;
  }

 private:
  bool StartEntry(string_t& name) {
    if (entries.size() >= kMaxTensors) return Fail(fmt::format("more than {} tensors", kMaxTensors));
    entries.push_back({.name = name, .dtype = "", .shape = {}, .offsets = {}});
    return true;
  }

  bool Unexpected() { return Fail("a value where the format has none"); }
  bool Fail(std::string what) {
    if (entries.empty()) {
      error = std::move(what);
    } else {
      error = fmt::format("tensor '{}': {}", entries.back().name, what);
    }
    return false;
  }

  int depth_ = 0;
  std::string field_;
  std::vector<int64_t>* list_ = nullptr;
};

class SafetensorsParser {
 public:
  SafetensorsParser(std::span<const std::byte> bytes, std::string_view path) : bytes_(bytes), path_(path) {}

  absl::StatusOr<SafetensorsFile> Run() {
    auto entries = ReadEntries();
    if (!entries.ok()) return entries.status();
    std::sort(entries->begin(), entries->end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    for (size_t i = 0; i < entries->size(); ++i) {
      const Entry& entry = (*entries)[i];
      if (i > 0 && (*entries)[i - 1].name == entry.name) return Malformed("'{}' appears twice", entry.name);
      if (entry.is_metadata()) continue;
      if (auto status = AddTensor(entry); !status.ok()) return status;
    }
    if (AnyOverlap(file_.tensors)) return Malformed("two tensors share bytes of the file");
    return std::move(file_);
  }

 private:
  template <typename... Args>
  absl::Status Malformed(fmt::format_string<Args...> format, Args&&... args) const {
    return absl::InvalidArgumentError(fmt::format("{}: {}", path_, fmt::format(format, std::forward<Args>(args)...)));
  }

  absl::StatusOr<std::vector<Entry>> ReadEntries() {
    ByteCursor cursor(bytes_);
    const auto length = cursor.Read<uint64_t>();
    if (!cursor.ok()) return Malformed("{} bytes are too few for a safetensors file", bytes_.size());
    if (length > kMaxHeaderBytes) return Malformed("a header of {} bytes; the limit is {}", length, kMaxHeaderBytes);
    const auto header = cursor.Take(length);
    if (!cursor.ok()) {
      return Malformed("the file ends inside its header of {} bytes (it has {}): it is truncated or malformed", length,
                       bytes_.size());
    }
    data_ = bytes_.subspan(cursor.position());
    const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
    if (!text.starts_with('{')) return Malformed("the header does not begin with '{{'");
    HeaderReader reader;
    if (!json::sax_parse(text.begin(), text.end(), &reader)) return Malformed("{}", reader.error);
    return std::move(reader.entries);
  }

  absl::Status AddTensor(const Entry& entry) {
    if (entry.dtype.empty()) return Malformed("tensor '{}': dtype is missing", entry.name);
    if (auto status = CheckOffsets(entry); !status.ok()) return status;
    const auto dtype = DTypeOf(entry.dtype);
    if (!dtype.has_value()) {
      file_.unsupported.emplace(entry.name, entry.dtype);
      return absl::OkStatus();
    }
    const int64_t size = entry.offsets[1] - entry.offsets[0];
    if (TensorBytes(*dtype, entry.shape) != size) {
      return Malformed("tensor '{}': the shape [{}] in {} does not take the {} bytes of its data_offsets", entry.name,
                       fmt::join(entry.shape, ", "), entry.dtype, size);
    }
    file_.tensors.push_back({.name = entry.name,
                             .dtype = *dtype,
                             .shape = entry.shape,
                             .bytes = data_.subspan(static_cast<size_t>(entry.offsets[0]), static_cast<size_t>(size))});
    return absl::OkStatus();
  }

  absl::Status CheckOffsets(const Entry& entry) const {
    const auto& offsets = entry.offsets;
    if (offsets.size() != 2) return Malformed("tensor '{}': data_offsets must be two numbers", entry.name);
    if (offsets[0] <= offsets[1] && static_cast<uint64_t>(offsets[1]) <= data_.size()) return absl::OkStatus();
    return Malformed(
        "tensor '{}': data_offsets [{}, {}] do not lie within the file's {} bytes of data: the file is "
        "truncated or malformed",
        entry.name, offsets[0], offsets[1], data_.size());
  }

  std::span<const std::byte> bytes_;
  std::span<const std::byte> data_;
  std::string_view path_;
  SafetensorsFile file_;
};

}  // namespace

absl::StatusOr<SafetensorsFile> ParseSafetensors(std::span<const std::byte> bytes, std::string_view path) {
  return SafetensorsParser(bytes, path).Run();
}

absl::StatusOr<std::map<std::string, std::string>> ParseSafetensorsIndex(std::string_view text, std::string_view path) {
  const auto root = ParseJsonObject(text, path, kMaxIndexBytes);
  if (!root.ok()) return root.status();
  JsonFields fields(*root, std::string(path));
  const json* map = fields.Find("weight_map");
  if (map == nullptr || !map->is_object()) fields.Fail("weight_map", "must be an object");
  if (!fields.status().ok()) return fields.status();
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string())
      return absl::InvalidArgumentError(fmt::format("{}: the file of '{}' must be a string", path, name));
    files.emplace(name, file.get<std::string>());
  }
  return files;
}

}  // namespace headstart
