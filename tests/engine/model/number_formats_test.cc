#include "engine/model/number_formats.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace headstart {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(NumberFormats, EveryF16ComesBackFromItsFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = FromF16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(FromF16(ToF16(value))));
    } else {
      ASSERT_EQ(ToF16(value), bits) << value;
    }
  }
}

TEST(NumberFormats, EveryBF16ComesBackFromItsFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = FromBF16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(ToBF16(value), bits) << value;
  }
}

// Between two neighbours of the narrow type: below the middle goes down, above it up, on it to the even one.
template <typename Narrow, typename Widen>
void ExpectRoundsToNearestEven(uint32_t last_finite, Narrow narrow, Widen widen) {
  for (uint32_t bits = 0; bits < last_finite; ++bits) {
    const float low = widen(static_cast<uint16_t>(bits));
    const float high = widen(static_cast<uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), bits) << low;
    ASSERT_EQ(narrow(std::nextafter(middle, kInfinity)), bits + 1) << low;
    ASSERT_EQ(narrow(middle), bits % 2 == 0 ? bits : bits + 1) << low;
  }
}

TEST(NumberFormats, F16RoundsToNearestEven) { ExpectRoundsToNearestEven(0x7bff, ToF16, FromF16); }

TEST(NumberFormats, BF16RoundsToNearestEven) { ExpectRoundsToNearestEven(0x7f7f, ToBF16, FromBF16); }

TEST(NumberFormats, WhatIsTooLargeBecomesInfinity) {
  EXPECT_EQ(FromF16(ToF16(65519.99f)), 65504.0f);
  EXPECT_EQ(FromF16(ToF16(65520.0f)), kInfinity);
  EXPECT_EQ(FromF16(ToF16(-1e30f)), -kInfinity);
  EXPECT_EQ(FromBF16(ToBF16(3.4e38f)), kInfinity);
  EXPECT_TRUE(std::isnan(FromBF16(ToBF16(std::bit_cast<float>(0x7f800001u)))));
}

TEST(NumberFormats, Q8IsWithinHalfAStepOfTheWeight) {
  std::vector<float> row(64);
  for (size_t i = 0; i < row.size(); ++i) row[i] = std::sin(static_cast<float>(i)) * (i < 32 ? 1.0f : 1e-3f);
  std::vector<std::byte> bytes(static_cast<size_t>(DTypeBytes(DType::kQ8_0, 64)));
  EncodeRow(DType::kQ8_0, row, bytes);
  std::vector<float> back(row.size());
  DecodeRow(DType::kQ8_0, bytes, back);
  for (size_t i = 0; i < row.size(); ++i) {
    const float largest = i < 32 ? 1.0f : 1e-3f;
    // Half a step of the scale, and the scale's own rounding to eleven bits.
    EXPECT_NEAR(back[i], row[i], largest / 127 / 2 + largest / 2048) << i;
  }
}

TEST(NumberFormats, Q8RoundsHalfAwayFromZero) {
  std::vector<float> row(32, 0.0f);
  row[0] = 127;
  row[1] = 2.5f;
  row[2] = -2.5f;
  std::vector<std::byte> bytes(34);
  EncodeRow(DType::kQ8_0, row, bytes);
  EXPECT_EQ(static_cast<int8_t>(bytes[2]), 127);
  EXPECT_EQ(static_cast<int8_t>(bytes[3]), 3);
  EXPECT_EQ(static_cast<int8_t>(bytes[4]), -3);
}

TEST(NumberFormats, Q8OfZerosIsZero) {
  const std::vector<float> row(32, 0.0f);
  std::vector<std::byte> bytes(34, std::byte{1});
  EncodeRow(DType::kQ8_0, row, bytes);
  EXPECT_EQ(bytes, std::vector<std::byte>(34));
}

}  // namespace
}  // namespace headstart
