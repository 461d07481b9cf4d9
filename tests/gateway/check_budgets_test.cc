// Budgets that no charge would ever count against.

#include "gateway/serving/check_budgets.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

KeyTable KeysWith(const std::string& budgets) { return KeyTable::Parse("keys:\ntenants:\n" + budgets).value(); }

PriceBook Dollars() { return PriceBook("USD", {PriceVersion()}); }

constexpr char kTwoBudgets[] =
    "  acme: {budget: {currency: USD, hard: 5}}\n"
    "  zoo: {budget: {currency: EUR, soft: 1, hard: 2}}\n";

TEST(CheckBudgetsTest, TheCurrencyIsThePriceBooks) {
  const PriceBook dollars = Dollars();
  EXPECT_OK(CheckBudgets(KeyTable::Parse("keys:").value(), nullptr));
  EXPECT_OK(CheckBudgets(KeysWith("  acme: {budget: {currency: USD, hard: 5}}\n"), &dollars));
  EXPECT_THAT(CheckBudgets(KeysWith(kTwoBudgets), &dollars),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("\"zoo\" has a budget in EUR"), HasSubstr("in USD"), Not(HasSubstr("acme")))));
}

TEST(CheckBudgetsTest, ThereArePrices) {
  EXPECT_THAT(CheckBudgets(KeysWith(kTwoBudgets), nullptr),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("\"acme\""), HasSubstr("--prices"))));
}

}  // namespace
}  // namespace headstart::testing
