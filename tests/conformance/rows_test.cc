// The operations that work on one row at a time, of every backend, against their definitions.

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/operation_harness.h"
#include "tests/conformance/rounding.h"

namespace headstart::testing {
namespace {

constexpr float kEpsilon = 1e-5f;

class RowsTest : public ::testing::TestWithParam<BackendCase> {
 protected:
  Backend& backend() { return harness_.backend(); }

  OperationHarness harness_{GetParam().create(2)};
};

// What RMSNorm makes of `count` values.
std::vector<double> Normed(const float* in, const std::vector<float>& weight) {
  double squares = 0;
  for (size_t i = 0; i < weight.size(); ++i) squares += double{in[i]} * in[i];
  const double scale = 1 / std::sqrt(squares / static_cast<double>(weight.size()) + double{kEpsilon});
  std::vector<double> out;
  for (size_t i = 0; i < weight.size(); ++i) out.push_back(in[i] * scale * weight[i]);
  return out;
}

// The sum of squares rounds at most twice for each term and halves its relative error under the root; a few roundings
// follow.
double NormTolerance(double value, int size) { return std::fabs(value) * (size + 8) * kF32Unit; }

void ExpectNormed(const Rows& actual, const Rows& in, const std::vector<float>& weight) {
  const int size = static_cast<int>(weight.size());
  Rows expected = in;
  for (int row = 0; row < in.rows; ++row) {
    for (int first = 0; first < in.cols; first += size) {
      const std::vector<double> normed = Normed(in.row(row) + first, weight);
      for (int i = 0; i < size; ++i) expected.at(row, first + i) = static_cast<float>(normed[static_cast<size_t>(i)]);
    }
  }
  ExpectNear(actual, expected, [&](int row, int col) { return NormTolerance(expected.at(row, col), size); });
}

TEST_P(RowsTest, RmsNormIsTheDefinition) {
  for (int size : {1, 7, 32, 100, 1024}) {
    const Rows in = RandomRows(3, size, 1);
    const std::vector<float> weight = RandomValues(size, 2);
    const Activations out = harness_.New(3, size);
    backend().RmsNorm(harness_.Upload(in), *harness_.LoadVector(weight), kEpsilon, out);
    ExpectNormed(harness_.Download(out), in, weight);
  }
}

TEST_P(RowsTest, RmsNormOfZerosIsZero) {
  const Rows zeros = {.rows = 1, .cols = 8, .values = std::vector<float>(8, 0)};
  const Activations out = harness_.New(1, 8);
  backend().RmsNorm(harness_.Upload(zeros), *harness_.LoadVector(RandomValues(8, 2)), kEpsilon, out);
  ExpectEqual(harness_.Download(out), zeros);
}

TEST_P(RowsTest, HeadNormWorksOnEachHeadOfAColumnRange) {
  for (int head_dim : {8, 64, 80}) {
    const Rows in = RandomRows(3, head_dim * 6, 1);
    const std::vector<float> weight = RandomValues(head_dim, 2);
    const Activations all = harness_.Upload(in);
    backend().HeadNorm(all.Columns(head_dim, 4 * head_dim), *harness_.LoadVector(weight), kEpsilon);
    const Rows actual = harness_.Download(all);

    Rows middle = {.rows = 3, .cols = 4 * head_dim, .values = {}};
    Rows middle_in = middle;
    for (int row = 0; row < 3; ++row) {
      middle.values.insert(middle.values.end(), actual.row(row) + head_dim, actual.row(row) + 5 * head_dim);
      middle_in.values.insert(middle_in.values.end(), in.row(row) + head_dim, in.row(row) + 5 * head_dim);
      for (int col : {0, head_dim - 1, 5 * head_dim, 6 * head_dim - 1}) {
        EXPECT_EQ(actual.at(row, col), in.at(row, col)) << "outside the range: col " << col;
      }
    }
    ExpectNormed(middle, middle_in, weight);
  }
}

TEST_P(RowsTest, SwiGluIsTheDefinition) {
  for (int size : {1, 31, 64, 200}) {
    Rows in = RandomRows(4, 2 * size, 1);
    for (float& value : in.values) value *= 20;  // gates from −20 to 20: both tails of the sigmoid
    const Activations out = harness_.New(4, size);
    backend().SwiGlu(harness_.Upload(in), out);
    Rows expected = {.rows = 4, .cols = size, .values = {}};
    for (int row = 0; row < 4; ++row) {
      for (int i = 0; i < size; ++i) {
        const double gate = in.at(row, i);
        expected.values.push_back(static_cast<float>(gate / (1 + std::exp(-gate)) * in.at(row, size + i)));
      }
    }
    // The exponential's error passes into the result at most once, and four operations round.
    ExpectNear(harness_.Download(out), expected,
               [&](int row, int col) { return std::fabs(expected.at(row, col)) * (kExpError + 5 * kF32Unit); });
  }
}

TEST_P(RowsTest, SwiGluOfExtremeGatesIsFinite) {
  const Rows in = {.rows = 1, .cols = 10, .values = {-1e4f, -200, -100, 100, 1e4f, 1, 1, 1, 1, 1}};
  const Activations out = harness_.New(1, 5);
  backend().SwiGlu(harness_.Upload(in), out);
  const Rows actual = harness_.Download(out);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(actual.at(0, i), 0, 1e-30) << i;
  EXPECT_EQ(actual.at(0, 3), 100);
  EXPECT_EQ(actual.at(0, 4), 1e4f);
}

TEST_P(RowsTest, EmbedTakesRowsOfTheTableExactly) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kQ8_0}) {
    const RandomTensor table(dtype, {50, 96}, 1);
    const TensorView view = table.view();
    const std::unique_ptr<Matrix> matrix = harness_.Load({&view, 1});
    const Activations out = harness_.New(4, 96);
    const std::vector<TokenId> tokens = {TokenId{49}, TokenId{0}, TokenId{33}, TokenId{49}};
    const std::vector<SlotIndex> slots = {SlotIndex{0}};
    BatchBuilder builder;
    builder.Add({.tokens = tokens, .count = 4, .slots = slots});
    harness_.BeginStep(builder);
    backend().Embed(*matrix, out);
    Rows expected = {.rows = 4, .cols = 96, .values = {}};
    for (TokenId token : tokens) {
      const float* row = table.values().data() + int64_t{ToIndex(token)} * 96;
      expected.values.insert(expected.values.end(), row, row + 96);
    }
    SCOPED_TRACE(NameOf(dtype));
    ExpectEqual(harness_.Download(out), expected);
  }
}

TEST_P(RowsTest, GatherTakesTheLogitRowsOfTheBatch) {
  const Rows in = RandomRows(7, 40, 1);
  const Activations uploaded = harness_.Upload(in);
  const Activations out = harness_.New(3, 40);
  const std::vector<TokenId> tokens(4);
  const std::vector<SlotIndex> slots = {SlotIndex{0}};
  BatchBuilder builder;  // logit rows 1, 2 and 6 of 7
  builder.Add({.tokens = tokens, .count = 2, .slots = slots, .logits = LogitsOf::kLast});
  builder.Add({.tokens = tokens, .count = 1, .slots = slots, .logits = LogitsOf::kAll});
  builder.Add({.tokens = tokens, .count = 2, .slots = slots, .logits = LogitsOf::kNone});
  builder.Add({.tokens = tokens, .count = 2, .slots = slots, .logits = LogitsOf::kLast});
  harness_.BeginStep(builder);
  backend().GatherLogitRows(uploaded, out);
  Rows expected = {.rows = 3, .cols = 40, .values = {}};
  for (int row : {1, 2, 6}) expected.values.insert(expected.values.end(), in.row(row), in.row(row) + 40);
  ExpectEqual(harness_.Download(out), expected);
}

struct RopeCase {
  RopePairing pairing;
  int head_dim;
  int rotary_dim;
  float magnitude;
};

Rows Turned(const Rows& in, const RopeCase& rope, const std::vector<float>& frequencies, int first_position) {
  Rows out = in;
  const int pairs = rope.rotary_dim / 2;
  for (int row = 0; row < in.rows; ++row) {
    for (int head = 0; head < in.cols; head += rope.head_dim) {
      for (int i = 0; i < pairs; ++i) {
        const bool adjacent = rope.pairing == RopePairing::kAdjacent;
        const int a = head + (adjacent ? 2 * i : i);
        const int b = head + (adjacent ? 2 * i + 1 : i + pairs);
        const double angle = double{frequencies[static_cast<size_t>(i)]} * (first_position + row);
        const double cosine = rope.magnitude * std::cos(angle);
        const double sine = rope.magnitude * std::sin(angle);
        out.at(row, a) = static_cast<float>(in.at(row, a) * cosine - in.at(row, b) * sine);
        out.at(row, b) = static_cast<float>(in.at(row, a) * sine + in.at(row, b) * cosine);
      }
    }
  }
  return out;
}

TEST_P(RowsTest, RopeIsTheDefinition) {
  constexpr int kMaxPositions = 100000;
  for (const RopeCase& rope :
       {RopeCase{RopePairing::kHalves, 64, 64, 1}, RopeCase{RopePairing::kAdjacent, 64, 64, 1},
        RopeCase{RopePairing::kHalves, 80, 32, 1}, RopeCase{RopePairing::kAdjacent, 20, 12, 1.3f},
        RopeCase{RopePairing::kHalves, 6, 6, 0.7f}}) {
    std::vector<float> frequencies;
    for (int i = 0; i < rope.rotary_dim / 2; ++i) {
      frequencies.push_back(static_cast<float>(std::pow(10000.0, -2.0 * i / rope.rotary_dim)));
    }
    for (int first_position : {0, 1, 255, kMaxPositions - 3}) {
      SCOPED_TRACE(::testing::Message() << "head_dim " << rope.head_dim << " rotary_dim " << rope.rotary_dim
                                        << " adjacent " << (rope.pairing == RopePairing::kAdjacent) << " from "
                                        << first_position);
      OperationHarness harness(GetParam().create(2));
      ASSERT_TRUE(harness.backend()
                      .SetRope({.rotary_dim = rope.rotary_dim,
                                .pairing = rope.pairing,
                                .inverse_frequencies = frequencies,
                                .magnitude = rope.magnitude},
                               kMaxPositions)
                      .ok());
      const Rows in = RandomRows(3, rope.head_dim * 2, 1);
      const Activations heads = harness.Upload(in);
      harness.BeginPlainStep(3, first_position);
      harness.backend().Rope(heads, rope.head_dim);
      // Cosine and sine round once after the magnitude, two products and a sum follow: values are below 1, so four
      // units of twice the magnitude.
      ExpectNear(harness.Download(heads), Turned(in, rope, frequencies, first_position),
                 [&](int, int) { return 4 * kF32Unit * 2 * rope.magnitude; });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, RowsTest, ::testing::ValuesIn(AllBackends()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace headstart::testing
