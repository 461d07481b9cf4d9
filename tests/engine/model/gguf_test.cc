#include "engine/model/gguf.h"

#include <limits>
#include <string>
#include <vector>

#include "engine/model/gguf_fields.h"
#include "tests/engine/model/raw_file.h"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::headstart::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

constexpr uint32_t kU8 = 0, kU32 = 4, kF32 = 6, kString = 8, kArray = 9;
constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

RawFile Header(uint64_t tensors, uint64_t metadata, uint32_t version = 3) {
  return RawFile().Text("GGUF").U32(version).U64(tensors).U64(metadata);
}

// One entry, and what belongs behind it.
RawFile Metadata(std::string_view key, uint32_t type) { return Header(0, 1).String(key).U32(type); }

RawFile Tensor(RawFile file, std::string_view name, std::vector<uint64_t> shape, uint32_t type, uint64_t offset) {
  file.String(name).U32(static_cast<uint32_t>(shape.size()));
  for (const uint64_t dimension : shape) file.U64(dimension);
  return file.U32(type).U64(offset);
}

// A file of one tensor with 4096 bytes of data behind the table.
RawFile OneTensor(std::vector<uint64_t> shape, uint32_t type, uint64_t offset) {
  return Tensor(Header(1, 0), "t", std::move(shape), type, offset).Zeros(4096);
}

RawFile TwoTensors(std::string_view second, uint64_t offset) {
  return Tensor(Tensor(Header(2, 0), "t", {32}, 0, 0), second, {32}, 0, offset).Zeros(4096);
}

RawFile Aligned(uint32_t alignment) {
  return Tensor(Header(1, 1).String("general.alignment").U32(kU32).U32(alignment), "t", {8}, 0, 0).Zeros(4096);
}

RawFile Nested(int depth) {
  RawFile file = Metadata("k", kArray);
  for (int i = 1; i < depth; ++i) file.U32(kArray).U64(1);
  return file.U32(kU8).U64(1).U8(7);
}

struct BadFile {
  std::string what;
  RawFile file;
  absl::StatusCode code;
  std::string message;
};

std::vector<BadFile> BadHeaders() {
  return {
      {"no bytes", RawFile(), kInvalid, "ends inside the header"},
      {"another magic", RawFile().Text("GGML").Zeros(100), kInvalid, "not a GGUF file"},
      {"half a header", RawFile().Text("GGUF").U32(3).U32(1), kInvalid, "ends inside the header"},
      {"version 1", Header(0, 0, 1), kUnimplemented, "version 1 is not supported; versions 2 and 3 are"},
      {"version 4", Header(0, 0, 4), kUnimplemented, "version 4"},
      {"big-endian", Header(0, 0, 0x03000000), kUnimplemented, "big-endian"},
      {"tensor count", Header(kHuge, 0), kInvalid, "tensors; the limit is 65536"},
      {"metadata count", Header(0, kHuge), kInvalid, "metadata entries; the limit is 65536"},
      {"metadata missing", Header(0, 1), kInvalid, "ends inside metadata entry 1 of 1"},
      {"tensors missing", Header(1, 0), kInvalid, "ends inside the entry of tensor 1 of 1"},
  };
}

std::vector<BadFile> BadMetadata() {
  return {
      {"key longer than the file", Header(0, 1).U64(kHuge).Text("k"), kInvalid, "ends inside metadata entry"},
      {"key without a name", Metadata("", kU8).U8(0), kInvalid, "a key of 0 bytes"},
      {"key beyond the limit", Metadata(std::string(70000, 'k'), kU8).U8(0), kInvalid, "a key of 70000 bytes"},
      {"no such type", Metadata("k", 13).Zeros(64), kInvalid, "type 13, which does not exist"},
      {"value cut off", Metadata("k", kU32).U8(1), kInvalid, "ends inside metadata 'k'"},
      {"string beyond the file", Metadata("k", kString).U64(kHuge - 7).Text("x"), kInvalid, "ends inside metadata 'k'"},
      {"same key twice", Header(0, 2).String("k").U32(kU8).U8(1).String("k").U32(kU8).U8(2), kInvalid,
       "'k' appears twice"},
      {"array of no type", Metadata("k", kArray).U32(99).U64(0), kInvalid, "array of type 99"},
      {"array count", Metadata("k", kArray).U32(kU8).U64(kHuge), kInvalid, "the limit is 16777216"},
      {"array whose size overflows", Metadata("k", kArray).U32(kF32).U64(1ull << 62), kInvalid, "the limit is"},
      {"array beyond the file", Metadata("k", kArray).U32(kF32).U64(1 << 20), kInvalid, "ends inside metadata 'k'"},
      {"array of strings cut off", Metadata("k", kArray).U32(kString).U64(2).String("a"), kInvalid, "ends inside"},
      {"arrays in arrays in arrays", Nested(5), kInvalid, "nests arrays deeper than 4"},
  };
}

std::vector<BadFile> BadTensors() {
  return {
      {"dimensions", OneTensor({1, 1, 1, 1, 1}, 0, 0), kInvalid, "5 dimensions; the limit is 4"},
      {"negative dimension", OneTensor({kHuge}, 0, 0), kInvalid, "the shape [-1]"},
      {"product overflows to 0", OneTensor({1ull << 32, 1ull << 32}, 0, 0), kInvalid, "too large"},
      {"product overflows to 32", OneTensor({32, (1ull << 59) + 1}, 0, 0), kInvalid, "too large"},
      {"bytes overflow", OneTensor({1ull << 62}, 0, 0), kInvalid, "too large"},
      {"rows not whole blocks", OneTensor({33, 2}, 8, 0), kInvalid, "whole blocks of 32"},
      {"no name", Tensor(Header(1, 0), "", {1}, 0, 0).Zeros(64), kInvalid, "a name of 0 bytes"},
      {"long name", Tensor(Header(1, 0), std::string(65, 'n'), {1}, 0, 0).Zeros(64), kInvalid, "a name of 65 bytes"},
      {"same name twice", TwoTensors("t", 128), kInvalid, "tensor 't' appears twice"},
      {"overlap", TwoTensors("u", 96), kInvalid, "two tensors share bytes"},
      {"offset not aligned", OneTensor({8}, 0, 4), kInvalid, "not a multiple of the alignment 32"},
      {"offset beyond the file", OneTensor({8}, 0, 1 << 20), kInvalid, "does not lie within"},
      {"offset that overflows", OneTensor({8}, 0, kHuge - 31), kInvalid, "does not lie within"},
      {"larger than the file", OneTensor({1 << 20}, 0, 0), kInvalid, "does not lie within"},
      {"alignment 0", Aligned(0), kInvalid, "power of two up to 1048576, and is 0"},
      {"alignment 48", Aligned(48), kInvalid, "and is 48"},
      {"alignment of 2 GiB", Aligned(1u << 31), kInvalid, "and is 2147483648"},
      {"alignment beyond the data", Aligned(1 << 20), kInvalid, "does not lie within"},
      {"type Q4_K", OneTensor({256}, 12, 0), kUnimplemented,
       "type Q4_K, which is not supported; F32, F16, BF16 and Q8_0 are"},
      {"type that is none", OneTensor({256}, 1000, 0), kUnimplemented, "number 1000"},
  };
}

void ExpectRefused(const std::vector<BadFile>& files) {
  for (const BadFile& bad : files) {
    EXPECT_THAT(GgufFile::Parse(bad.file.bytes(), "m.gguf"), StatusIs(bad.code, HasSubstr(bad.message))) << bad.what;
    EXPECT_THAT(GgufFile::Parse(bad.file.bytes(), "m.gguf"), StatusIs(bad.code, HasSubstr("m.gguf: "))) << bad.what;
  }
}

TEST(GgufFile, RefusesBadHeaders) { ExpectRefused(BadHeaders()); }
TEST(GgufFile, RefusesBadMetadata) { ExpectRefused(BadMetadata()); }
TEST(GgufFile, RefusesBadTensors) { ExpectRefused(BadTensors()); }

TEST(GgufFile, AcceptsWhatLiesJustInsideTheLimits) {
  EXPECT_OK(GgufFile::Parse(Header(0, 0).bytes(), "m"));
  EXPECT_OK(GgufFile::Parse(Header(0, 0, 2).bytes(), "m"));
  EXPECT_OK(GgufFile::Parse(Nested(4).bytes(), "m"));
  EXPECT_OK(GgufFile::Parse(Aligned(64).bytes(), "m"));
  EXPECT_OK(GgufFile::Parse(TwoTensors("u", 128).bytes(), "m"));
  EXPECT_OK(GgufFile::Parse(Tensor(Header(1, 0), std::string(64, 'n'), {0}, 0, 0).Zeros(64).bytes(), "m"));
}

TEST(GgufFile, ListsShapesOutermostFirst) {
  const RawFile raw = OneTensor({32, 3}, 8, 32);
  ASSERT_OK_AND_ASSIGN(const GgufFile file, GgufFile::Parse(raw.bytes(), "m"));
  ASSERT_EQ(file.tensors().size(), 1);
  EXPECT_EQ(file.tensors()[0].shape, (std::vector<int64_t>{3, 32}));
  EXPECT_EQ(file.tensors()[0].dtype, DType::kQ8_0);
  EXPECT_EQ(file.tensors()[0].bytes.size(), 3 * 34);
}

TEST(GgufFields, ReadEveryWidth) {
  const RawFile raw = Header(0, 4)
                          .String("u8")
                          .U32(kU8)
                          .U8(200)
                          .String("i32")
                          .U32(5)
                          .U32(static_cast<uint32_t>(-3))
                          .String("f32")
                          .U32(kF32)
                          .F32(0.5f)
                          .String("u64")
                          .U32(10)
                          .U64(1ull << 40);
  ASSERT_OK_AND_ASSIGN(const GgufFile file, GgufFile::Parse(raw.bytes(), "m"));
  GgufFields fields(file);
  EXPECT_EQ(fields.Int("u8"), 200);
  EXPECT_EQ(fields.Int("i32"), -3);
  EXPECT_EQ(fields.Number("f32"), 0.5);
  EXPECT_EQ(fields.Number("u8"), 200);
  EXPECT_EQ(fields.Int("absent", 7), 7);
  EXPECT_OK(fields.status());
  fields.Int("u64");
  EXPECT_THAT(fields.status(), StatusIs(kInvalid, HasSubstr("'u64' must be an integer that fits 31 bits")));
}

TEST(GgufFields, TheFirstMistakeStays) {
  const RawFile raw = Metadata("k", kU8).U8(1);
  ASSERT_OK_AND_ASSIGN(const GgufFile file, GgufFile::Parse(raw.bytes(), "m"));
  GgufFields fields(file);
  EXPECT_EQ(fields.String("k"), "");
  EXPECT_EQ(fields.Int("absent"), 0);
  EXPECT_THAT(fields.status(), StatusIs(kInvalid, HasSubstr("'k' must be a string")));
}

TEST(GgufFields, ReadArrays) {
  const RawFile raw = Header(0, 2)
                          .String("s")
                          .U32(kArray)
                          .U32(kString)
                          .U64(2)
                          .String("a")
                          .String("")
                          .String("f")
                          .U32(kArray)
                          .U32(kF32)
                          .U64(2)
                          .F32(1)
                          .F32(-2);
  ASSERT_OK_AND_ASSIGN(const GgufFile file, GgufFile::Parse(raw.bytes(), "m"));
  GgufFields fields(file);
  EXPECT_EQ(fields.Strings("s"), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(fields.Floats("f"), (std::vector<float>{1, -2}));
  EXPECT_TRUE(fields.Ints("absent").empty());
  EXPECT_OK(fields.status());
  fields.Ints("f");
  EXPECT_THAT(fields.status(), StatusIs(kInvalid, HasSubstr("must be an array of 32-bit integers")));
}

}  // namespace
}  // namespace headstart
