#include "gateway/ledger/internal/totals_operator.h"

#include "gateway/ledger/usage_totals.h"

namespace headstart::ledger_internal {
namespace {

bool Parse(const rocksdb::Slice& bytes, v1::UsageTotals& totals) {
  return totals.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

class SumOfTotals final : public rocksdb::AssociativeMergeOperator {
 public:
  // Stored in every file: it never changes.
  const char* Name() const override { return "headstart.UsageTotals"; }

  // False, which RocksDB reports as damage, for bytes that are no totals.
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    v1::UsageTotals sum;
    v1::UsageTotals part;
    if (existing != nullptr && !Parse(*existing, sum)) return false;
    if (!Parse(value, part)) return false;
    Add(part, sum);
    return sum.SerializeToString(result);
  }
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> TotalsOperator() { return std::make_shared<SumOfTotals>(); }

}  // namespace headstart::ledger_internal
