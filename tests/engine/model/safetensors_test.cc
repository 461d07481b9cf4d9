#include "engine/model/safetensors.h"

#include <limits>
#include <string>
#include <vector>

#include "tests/engine/model/raw_file.h"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::headstart::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// A file of that header and 64 bytes of data.
RawFile File(std::string_view header) { return RawFile().String(header).Zeros(64); }

RawFile Tensor(std::string_view fields) { return File("{\"t\":{" + std::string(fields) + "}}"); }

struct BadFile {
  std::string what;
  RawFile file;
  std::string message;
};

std::vector<BadFile> BadHeaders() {
  return {
      {"no bytes", RawFile(), "0 bytes are too few"},
      {"seven bytes", RawFile().Zeros(7), "7 bytes are too few"},
      {"length near 2^63", RawFile().U64((1ull << 63) - 1).Zeros(64),
       "a header of 9223372036854775807 bytes; the limit is"},
      {"length of 2^64 - 1", RawFile().U64(std::numeric_limits<uint64_t>::max()).Zeros(64), "the limit is"},
      {"length beyond the file", RawFile().U64(1000).Text("{}"), "ends inside its header of 1000 bytes"},
      {"no header", RawFile().U64(0).Zeros(8), "does not begin with '{'"},
      {"an array", File("[]"), "does not begin with '{'"},
      {"not JSON", File("{\"t\""), "not valid JSON"},
      {"more after the object", File("{} {}"), "not valid JSON"},
      {"not UTF-8", File("{\"\xff\":{}}"), "not valid JSON"},
      {"same tensor twice",
       File(
           R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"t":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"),
       "'t' appears twice"},
      {"a number for a tensor", File(R"({"t":1})"), "a value where the format has none"},
      {"deep nesting", File(R"({"t":{"shape":[[[[1]]]]}})"), "a value where the format has none"},
      {"deeper objects", File(R"({"t":{"dtype":{"a":{}}}})"), "a value where the format has none"},
      {"numbers as metadata", File(R"({"__metadata__":{"format":1}})"), "a value where the format has none"},
  };
}

std::vector<BadFile> BadTensors() {
  return {
      {"no dtype", Tensor(R"("shape":[1],"data_offsets":[0,4])"), "dtype is missing"},
      {"unknown field", Tensor(R"("dtype":"F32","stride":[1])"), "unknown field 'stride'"},
      {"no offsets", Tensor(R"("dtype":"F32","shape":[1])"), "data_offsets must be two numbers"},
      {"three offsets", Tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), "must be two numbers"},
      {"offsets turned round", Tensor(R"("dtype":"F32","shape":[1],"data_offsets":[8,4])"), "do not lie within"},
      {"offsets beyond the file", Tensor(R"("dtype":"F32","shape":[4],"data_offsets":[56,72])"), "the file's 64 bytes"},
      {"unsupported and beyond", Tensor(R"("dtype":"I64","shape":[4],"data_offsets":[56,88])"), "do not lie within"},
      {"negative offset", Tensor(R"("dtype":"F32","shape":[1],"data_offsets":[-4,0])"),
       "a value where the format has none"},
      {"huge offset", Tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615])"), "is too large"},
      {"offset as float", Tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0.0,4.0])"), "a value where"},
      {"shape too small", Tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), "does not take the 4 bytes"},
      {"shape too large", Tensor(R"("dtype":"BF16","shape":[2],"data_offsets":[0,8])"), "the shape [2] in BF16"},
      {"shape overflows to 4", Tensor(R"("dtype":"F32","shape":[4294967296,4294967296,1],"data_offsets":[0,0])"),
       "does not take the 0 bytes"},
      {"shape given twice", Tensor(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,16])"),
       "shape appears twice"},
      {"nine dimensions", Tensor(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,1])"), "more than 8 numbers"},
      {"overlap",
       File(
           R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"u":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"),
       "two tensors share bytes"},
  };
}

void ExpectRefused(const std::vector<BadFile>& files) {
  for (const BadFile& bad : files) {
    EXPECT_THAT(ParseSafetensors(bad.file.bytes(), "m.safetensors"), StatusIs(kInvalid, HasSubstr(bad.message)))
        << bad.what;
  }
}

TEST(Safetensors, RefusesBadHeaders) { ExpectRefused(BadHeaders()); }
TEST(Safetensors, RefusesBadTensors) { ExpectRefused(BadTensors()); }

TEST(Safetensors, ReadsTensorsAndSetsOtherTypesAside) {
  const RawFile raw =
      File(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]},)"
           R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
           R"("q":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[20,24]}}   )");
  ASSERT_OK_AND_ASSIGN(const SafetensorsFile file, ParseSafetensors(raw.bytes(), "m"));
  ASSERT_EQ(file.tensors.size(), 2);
  EXPECT_EQ(file.tensors[0].name, "a");
  EXPECT_TRUE(file.tensors[0].shape.empty());
  EXPECT_EQ(file.tensors[1].name, "b");
  EXPECT_EQ(file.tensors[1].dtype, DType::kBF16);
  EXPECT_EQ(file.tensors[1].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(file.tensors[1].bytes.data() - file.tensors[0].bytes.data(), 8);
  EXPECT_EQ(file.unsupported.at("q"), "F8_E4M3");
}

TEST(SafetensorsIndex, ReadsTheMap) {
  ASSERT_OK_AND_ASSIGN(const auto files,
                       ParseSafetensorsIndex(R"({"metadata":{},"weight_map":{"a":"1.st","b":"2.st"}})", "i"));
  EXPECT_EQ(files, (std::map<std::string, std::string>{{"a", "1.st"}, {"b", "2.st"}}));
  EXPECT_THAT(ParseSafetensorsIndex("{}", "i"),
              StatusIs(kInvalid, HasSubstr("i: field 'weight_map' must be an object")));
  EXPECT_THAT(ParseSafetensorsIndex(R"({"weight_map":{"a":1}})", "i"),
              StatusIs(kInvalid, HasSubstr("'a' must be a string")));
  EXPECT_THAT(ParseSafetensorsIndex("[]", "i"), StatusIs(kInvalid, HasSubstr("must be a JSON object")));
}

}  // namespace
}  // namespace headstart
