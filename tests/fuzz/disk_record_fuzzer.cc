// Any bytes as records of the disk tier. Decoding them may fail, and must not do worse; what decodes encodes to the
// same bytes. The first byte chooses whether the rest is taken as it is or given the checksum it lacks, so that the
// fields behind the checksum are reached too.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "prefix_store/tier/internal/byte_order.h"
#include "prefix_store/tier/internal/record_codec.h"
#include "xxhash.h"

namespace {

using namespace headstart::internal;  // NOLINT(google-build-using-namespace): one file, one subject

constexpr headstart::PrefixKey kBlock{1, 2};

void CheckRecord(std::string bytes, bool give_checksum) {
  if (give_checksum)
    AppendLittle(bytes, static_cast<uint64_t>(XXH3_64bits_withSeed(bytes.data(), bytes.size(), kBlock.low)));
  const auto record = DecodeRecord(kBlock, bytes);
  if (record.ok() && EncodeRecord(kBlock, *record) != bytes) std::abort();
}

void CheckKey(std::string_view bytes) {
  const auto key = DecodeRecordKey(bytes);
  if (key.has_value() && EncodeRecordKey(*key) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  CheckRecord(std::string(rest), data[0] % 2 == 1);
  CheckKey(rest);
  const auto bytes = DecodeBytes(kBlock, static_cast<int64_t>(data[0]), rest);
  if (bytes.ok() && bytes->bytes.size() != data[0]) std::abort();
  return 0;
}
