#include "engine/model/gguf.h"

#include <bit>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "engine/model/byte_cursor.h"
#include "engine/model/tensor_layout.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// Real files have some hundred entries of each; the limits keep a hostile header from costing memory.
constexpr uint64_t kMaxMetadata = 1 << 16;
constexpr uint64_t kMaxTensors = 1 << 16;
// The format's own limits on names.
constexpr uint64_t kMaxKeyBytes = 65535;
constexpr uint64_t kMaxTensorNameBytes = 64;
constexpr uint32_t kMaxDimensions = 4;
// A vocabulary is the longest array there is.
constexpr uint64_t kMaxArrayElements = 1 << 24;
constexpr int kMaxArrayDepth = 4;
// A page at most in files seen; beyond this a header could claim any gap.
constexpr uint64_t kMaxAlignment = 1 << 20;
constexpr uint64_t kDefaultAlignment = 32;

struct NamedType {
  uint32_t type;
  std::string_view name;
};

// ggml's numbers of types that a message should name rather than number.
constexpr NamedType kUnsupportedTypes[] = {
    {2, "Q4_0"},   {3, "Q4_1"},    {6, "Q5_0"},   {7, "Q5_1"},   {9, "Q8_1"},     {10, "Q2_K"},   {11, "Q3_K"},
    {12, "Q4_K"},  {13, "Q5_K"},   {14, "Q6_K"},  {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"},
    {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"}, {22, "IQ2_S"}, {23, "IQ4_XS"},  {24, "I8"},     {25, "I16"},
    {26, "I32"},   {27, "I64"},    {28, "F64"},   {29, "IQ1_M"}, {34, "TQ1_0"},   {35, "TQ2_0"},  {39, "MXFP4"},
};

std::optional<DType> DTypeOfGgml(uint32_t type) {
  switch (type) {
    case 0:
      return DType::kF32;
    case 1:
      return DType::kF16;
    case 8:
      return DType::kQ8_0;
    case 30:
      return DType::kBF16;
    default:
      return std::nullopt;
  }
}

std::string NameOfGgml(uint32_t type) {
  for (const auto& known : kUnsupportedTypes) {
    if (known.type == type) return std::string(known.name);
  }
  return fmt::format("number {}", type);
}

// Bytes of one value of a fixed size; 0 for strings and arrays; nothing for a number that is no type.
std::optional<uint64_t> FixedSize(GgufType type) {
  switch (type) {
    case GgufType::kUint8:
    case GgufType::kInt8:
    case GgufType::kBool:
      return 1;
    case GgufType::kUint16:
    case GgufType::kInt16:
      return 2;
    case GgufType::kUint32:
    case GgufType::kInt32:
    case GgufType::kFloat32:
      return 4;
    case GgufType::kUint64:
    case GgufType::kInt64:
    case GgufType::kFloat64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      return 0;
  }
  return std::nullopt;
}

}  // namespace

class GgufParser {
 public:
  GgufParser(std::span<const std::byte> bytes, std::string path) : bytes_(bytes), cursor_(bytes) {
    file_.path_ = std::move(path);
  }

  absl::StatusOr<GgufFile> Run() {
    if (auto status = ReadHeader(); !status.ok()) return status;
    if (auto status = ReadMetadata(); !status.ok()) return status;
    if (auto status = ReadTensors(); !status.ok()) return status;
    if (auto status = PlaceTensors(); !status.ok()) return status;
    return std::move(file_);
  }

 private:
  struct Place {
    uint64_t offset;
    uint64_t bytes;
  };

  template <typename... Args>
  absl::Status Malformed(fmt::format_string<Args...> format, Args&&... args) const {
    return absl::InvalidArgumentError(
        fmt::format("{}: {}", file_.path_, fmt::format(format, std::forward<Args>(args)...)));
  }

  absl::Status Truncated(std::string_view where) const {
    return Malformed("the file ends inside {} (it has {} bytes): it is truncated or malformed", where, bytes_.size());
  }

  absl::Status ReadHeader() {
    const auto magic = cursor_.Read<uint32_t>();
    const auto version = cursor_.Read<uint32_t>();
    tensor_count_ = cursor_.Read<uint64_t>();
    metadata_count_ = cursor_.Read<uint64_t>();
    if (bytes_.size() >= 4 && magic != 0x46554747) return Malformed("not a GGUF file: it does not begin with 'GGUF'");
    if (!cursor_.ok()) return Truncated("the header");
    if (auto status = CheckVersion(version); !status.ok()) return status;
    if (tensor_count_ > kMaxTensors) return Malformed("{} tensors; the limit is {}", tensor_count_, kMaxTensors);
    if (metadata_count_ > kMaxMetadata) {
      return Malformed("{} metadata entries; the limit is {}", metadata_count_, kMaxMetadata);
    }
    return absl::OkStatus();
  }

  absl::Status CheckVersion(uint32_t version) const {
    if (version == 2 || version == 3) return absl::OkStatus();
    if ((version & 0xffff) == 0 && version != 0) {
      return absl::UnimplementedError(
          fmt::format("{}: big-endian GGUF is not supported: convert it to little-endian", file_.path_));
    }
    return absl::UnimplementedError(
        fmt::format("{}: GGUF version {} is not supported; versions 2 and 3 are", file_.path_, version));
  }

  absl::Status ReadMetadata() {
    for (uint64_t i = 0; i < metadata_count_; ++i) {
      const std::string_view key = cursor_.ReadString();
      const auto type = cursor_.Read<GgufType>();
      if (!cursor_.ok()) return Truncated(fmt::format("metadata entry {} of {}", i + 1, metadata_count_));
      if (key.empty() || key.size() > kMaxKeyBytes) {
        return Malformed("metadata entry {} has a key of {} bytes; 1 to {} are allowed", i + 1, key.size(),
                         kMaxKeyBytes);
      }
      auto value = ReadValue(key, type);
      if (!value.ok()) return value.status();
      if (!file_.metadata_.emplace(key, *value).second) return Malformed("metadata key '{}' appears twice", key);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<GgufValue> ReadValue(std::string_view key, GgufType type) {
    if (!FixedSize(type).has_value()) {
      return Malformed("metadata '{}' has type {}, which does not exist", key, static_cast<uint32_t>(type));
    }
    if (type != GgufType::kArray) {
      const GgufValue value = ReadScalar(type);
      if (!cursor_.ok()) return Truncated(fmt::format("metadata '{}'", key));
      return value;
    }
    GgufArray array;
    if (auto status = ReadArray(key, 1, array); !status.ok()) return status;
    return array;
  }

  GgufValue ReadScalar(GgufType type) {
    switch (type) {
      case GgufType::kUint8:
        return uint64_t{cursor_.Read<uint8_t>()};
      case GgufType::kUint16:
        return uint64_t{cursor_.Read<uint16_t>()};
      case GgufType::kUint32:
        return uint64_t{cursor_.Read<uint32_t>()};
      case GgufType::kUint64:
        return cursor_.Read<uint64_t>();
      case GgufType::kInt8:
        return int64_t{cursor_.Read<int8_t>()};
      case GgufType::kInt16:
        return int64_t{cursor_.Read<int16_t>()};
      case GgufType::kInt32:
        return int64_t{cursor_.Read<int32_t>()};
      case GgufType::kInt64:
        return cursor_.Read<int64_t>();
      case GgufType::kFloat32:
        return double{cursor_.Read<float>()};
      case GgufType::kFloat64:
        return cursor_.Read<double>();
      case GgufType::kBool:
        return cursor_.Read<uint8_t>() != 0;
      case GgufType::kString:
      case GgufType::kArray:
        break;
    }
    return cursor_.ReadString();
  }

  // Walks the array, so that whoever decodes it later finds every element whole.
  absl::Status ReadArray(std::string_view key, int depth, GgufArray& array) {
    if (depth > kMaxArrayDepth) return Malformed("metadata '{}' nests arrays deeper than {}", key, kMaxArrayDepth);
    array.element = cursor_.Read<GgufType>();
    array.count = cursor_.Read<uint64_t>();
    if (!cursor_.ok()) return Truncated(fmt::format("metadata '{}'", key));
    const auto size = FixedSize(array.element);
    if (!size.has_value()) {
      return Malformed("metadata '{}' is an array of type {}, which does not exist", key,
                       static_cast<uint32_t>(array.element));
    }
    if (array.count > kMaxArrayElements) {
      return Malformed("metadata '{}' is an array of {} elements; the limit is {}", key, array.count,
                       kMaxArrayElements);
    }
    const size_t start = cursor_.position();
    if (auto status = SkipElements(key, depth, array, *size); !status.ok()) return status;
    if (!cursor_.ok()) return Truncated(fmt::format("metadata '{}'", key));
    array.bytes = cursor_.Since(start);
    return absl::OkStatus();
  }

  absl::Status SkipElements(std::string_view key, int depth, const GgufArray& array, uint64_t fixed_size) {
    if (fixed_size > 0) {
      cursor_.Take(array.count * fixed_size);
      return absl::OkStatus();
    }
    for (uint64_t i = 0; i < array.count && cursor_.ok(); ++i) {
      GgufArray inner;
      if (array.element == GgufType::kString) {
        cursor_.ReadString();
      } else if (auto status = ReadArray(key, depth + 1, inner); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadTensors() {
    std::set<std::string_view> names;
    for (uint64_t i = 0; i < tensor_count_; ++i) {
      const std::string_view name = cursor_.ReadString();
      if (!cursor_.ok()) return Truncated(fmt::format("the entry of tensor {} of {}", i + 1, tensor_count_));
      if (name.empty() || name.size() > kMaxTensorNameBytes) {
        return Malformed("tensor {} has a name of {} bytes; 1 to {} are allowed", i + 1, name.size(),
                         kMaxTensorNameBytes);
      }
      if (!names.insert(name).second) return Malformed("tensor '{}' appears twice", name);
      if (auto status = ReadTensor(name); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status ReadTensor(std::string_view name) {
    TensorView tensor;
    tensor.name = name;
    const auto dimensions = cursor_.Read<uint32_t>();
    if (dimensions > kMaxDimensions) {
      return Malformed("tensor '{}' has {} dimensions; the limit is {}", name, dimensions, kMaxDimensions);
    }
    // The file lists the innermost dimension first.
    tensor.shape.resize(dimensions);
    for (auto it = tensor.shape.rbegin(); it != tensor.shape.rend(); ++it) *it = cursor_.Read<int64_t>();
    const auto type = cursor_.Read<uint32_t>();
    const auto offset = cursor_.Read<uint64_t>();
    if (!cursor_.ok()) return Truncated(fmt::format("the entry of tensor '{}'", name));
    const auto dtype = DTypeOfGgml(type);
    if (!dtype.has_value()) return UnsupportedType(name, type);
    tensor.dtype = *dtype;
    const auto bytes = TensorBytes(*dtype, tensor.shape);
    if (!bytes.has_value()) return BadShape(tensor);
    places_.push_back({offset, static_cast<uint64_t>(*bytes)});
    file_.tensors_.push_back(std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status UnsupportedType(std::string_view name, uint32_t type) const {
    return absl::UnimplementedError(
        fmt::format("{}: tensor '{}' is of type {}, which is not supported; F32, F16, BF16 and Q8_0 are", file_.path_,
                    name, NameOfGgml(type)));
  }

  absl::Status BadShape(const TensorView& tensor) const {
    return Malformed(
        "tensor '{}' of type {} has the shape [{}], which is negative, too large or not whole blocks of {}",
        tensor.name, DTypeName(tensor.dtype), fmt::join(tensor.shape, ", "), kQ8BlockWeights);
  }

  absl::StatusOr<uint64_t> Alignment() const {
    const GgufValue* value = file_.Find("general.alignment");
    if (value == nullptr) return kDefaultAlignment;
    const auto* number = std::get_if<uint64_t>(value);
    if (number == nullptr || !std::has_single_bit(*number) || *number > kMaxAlignment) {
      return Malformed("general.alignment must be a power of two up to {}, and is {}", kMaxAlignment,
                       number == nullptr ? "no unsigned number" : std::to_string(*number));
    }
    return *number;
  }

  absl::Status PlaceTensors() {
    const auto alignment = Alignment();
    if (!alignment.ok()) return alignment.status();
    const uint64_t start = (cursor_.position() + *alignment - 1) / *alignment * *alignment;
    const uint64_t available = start < bytes_.size() ? bytes_.size() - start : 0;
    for (size_t i = 0; i < places_.size(); ++i) {
      TensorView& tensor = file_.tensors_[i];
      const auto [offset, size] = places_[i];
      if (offset % *alignment != 0) {
        return Malformed("tensor '{}' begins at {}, which is not a multiple of the alignment {}", tensor.name, offset,
                         *alignment);
      }
      if (size > available || offset > available - size) {
        return Malformed(
            "tensor '{}' ({} bytes at {}) does not lie within the file's {} bytes of data: the file is "
            "truncated or malformed",
            tensor.name, size, offset, available);
      }
      tensor.bytes = size == 0 ? std::span<const std::byte>{} : bytes_.subspan(start + offset, size);
    }
    if (AnyOverlap(file_.tensors_)) return Malformed("two tensors share bytes of the file");
    return absl::OkStatus();
  }

  std::span<const std::byte> bytes_;
  ByteCursor cursor_;
  GgufFile file_;
  uint64_t tensor_count_ = 0;
  uint64_t metadata_count_ = 0;
  std::vector<Place> places_;  // of file_.tensors_, until the data's start is known
};

absl::StatusOr<GgufFile> GgufFile::Parse(std::span<const std::byte> bytes, std::string path) {
  return GgufParser(bytes, std::move(path)).Run();
}

const GgufValue* GgufFile::Find(std::string_view key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

}  // namespace headstart
