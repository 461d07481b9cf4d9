#include "engine/model/gguf_writer.h"

#include <functional>
#include <numeric>

namespace headstart {
namespace {

template <typename T>
void Append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendString(std::string& out, std::string_view text) {
  Append<uint64_t>(out, text.size());
  out.append(text);
}

uint32_t GgmlNumber(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0;
    case DType::kF16:
      return 1;
    case DType::kQ8_0:
      return 8;
    case DType::kBF16:
      return 30;
  }
  return 0;
}

}  // namespace

void GgufWriter::AddKey(std::string_view key, GgufType type) {
  AppendString(metadata_, key);
  Append(metadata_, type);
  ++metadata_count_;
}

void GgufWriter::Add(std::string_view key, std::string_view value) {
  AddKey(key, GgufType::kString);
  AppendString(metadata_, value);
}

void GgufWriter::Add(std::string_view key, uint32_t value) {
  AddKey(key, GgufType::kUint32);
  Append(metadata_, value);
}

void GgufWriter::Add(std::string_view key, float value) {
  AddKey(key, GgufType::kFloat32);
  Append(metadata_, value);
}

void GgufWriter::Add(std::string_view key, bool value) {
  AddKey(key, GgufType::kBool);
  Append(metadata_, static_cast<uint8_t>(value));
}

void GgufWriter::Add(std::string_view key, std::span<const std::string> values) {
  AddKey(key, GgufType::kArray);
  Append(metadata_, GgufType::kString);
  Append<uint64_t>(metadata_, values.size());
  for (const std::string& value : values) AppendString(metadata_, value);
}

void GgufWriter::Add(std::string_view key, std::span<const int32_t> values) {
  AddKey(key, GgufType::kArray);
  Append(metadata_, GgufType::kInt32);
  Append<uint64_t>(metadata_, values.size());
  for (const int32_t value : values) Append(metadata_, value);
}

void GgufWriter::AddTensor(std::string_view name, DType dtype, std::span<const int64_t> shape) {
  AppendString(tensors_, name);
  Append(tensors_, static_cast<uint32_t>(shape.size()));
  for (auto dimension = shape.rbegin(); dimension != shape.rend(); ++dimension) Append(tensors_, *dimension);
  Append(tensors_, GgmlNumber(dtype));
  Append(tensors_, next_offset_);
  ++tensor_count_;
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  const int64_t bytes = DTypeBytes(dtype, count);
  next_offset_ += bytes + GgufPadding(bytes);
}

std::string GgufWriter::Header() const {
  std::string header = "GGUF";
  Append<uint32_t>(header, 3);
  Append(header, tensor_count_);
  Append(header, metadata_count_);
  header += metadata_;
  header += tensors_;
  header.append(static_cast<size_t>(GgufPadding(static_cast<int64_t>(header.size()))), '\0');
  return header;
}

}  // namespace headstart
