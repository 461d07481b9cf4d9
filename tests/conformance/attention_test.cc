// StoreKv and Attention of every backend against the definition over plain arrays: no pages, no spans, no batch.

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "kernels/reference/number_formats.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/operation_harness.h"
#include "tests/conformance/rounding.h"

namespace headstart::testing {
namespace {

struct Dimensions {
  int kv_heads;
  int group;  // query heads to a KV head
  int head_dim;
  int block_tokens;
  int window;

  int q_cols() const { return kv_heads * group * head_dim; }
  int kv_cols() const { return kv_heads * head_dim; }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(head_dim)); }
};

// One sequence's queries, keys and values for all its tokens, and where its blocks lie.
struct Sequence {
  Rows q;
  Rows k;
  Rows v;
  std::vector<SlotIndex> slots;

  int length() const { return q.rows; }
};

float AsStored(float value, DType dtype) {
  if (dtype == DType::kF32) return value;
  return kernels::reference::F32FromBf16(kernels::reference::Bf16FromF32(value));
}

// The definition for one query head, and how far rounding may carry a backend from it.
class Oracle {
 public:
  Oracle(const Dimensions& dimensions, DType kv_dtype) : dimensions_(dimensions), kv_dtype_(kv_dtype) {}

  struct Output {
    std::vector<double> values;
    std::vector<double> tolerances;
  };

  Output Attend(const Sequence& sequence, int position, int head) {
    const int dim = dimensions_.head_dim;
    query_ = sequence.q.row(position) + head * dim;
    const int first = dimensions_.window == 0 ? 0 : std::max(0, position + 1 - dimensions_.window);
    Gather(sequence, first, position, head / dimensions_.group);
    Weigh();
    Output output;
    for (int i = 0; i < dim; ++i) {
      output.values.push_back(MeanOf(i));
      output.tolerances.push_back(ToleranceOf(i, output.values.back()));
    }
    return output;
  }

 private:
  void Gather(const Sequence& sequence, int first, int last, int kv_head) {
    const auto offset = kv_head * dimensions_.head_dim;
    count_ = last + 1 - first;
    keys_.clear();
    values_.clear();
    for (int t = first; t <= last; ++t) {
      for (int i = 0; i < dimensions_.head_dim; ++i) {
        keys_.push_back(AsStored(sequence.k.at(t, offset + i), kv_dtype_));
        values_.push_back(AsStored(sequence.v.at(t, offset + i), kv_dtype_));
      }
    }
  }

  double Key(int t, int i) const { return keys_[static_cast<size_t>(t) * dimensions_.head_dim + i]; }
  double Value(int t, int i) const { return values_[static_cast<size_t>(t) * dimensions_.head_dim + i]; }

  void Weigh() {
    weights_.clear();
    largest_score_spread_ = 0;
    double sum = 0;
    for (int t = 0; t < count_; ++t) {
      double score = 0;
      double spread = 0;
      for (int i = 0; i < dimensions_.head_dim; ++i) {
        score += query_[i] * Key(t, i);
        spread += std::pow(query_[i] * Key(t, i), 2);
      }
      largest_score_spread_ = std::max(largest_score_spread_, dimensions_.scale() * std::sqrt(spread));
      weights_.push_back(std::exp(dimensions_.scale() * score));  // scores are small: no need to subtract the largest
      sum += weights_.back();
    }
    for (double& weight : weights_) weight /= sum;
  }

  double MeanOf(int i) const {
    double mean = 0;
    for (int t = 0; t < count_; ++t) mean += weights_[static_cast<size_t>(t)] * Value(t, i);
    return mean;
  }

  // With pages in bf16 a backend may round the query to bf16 too. A relative error e[k] of the query's k-th number
  // moves the output by scale · q[k] · e[k] · Σ w (v − out) K[k], to first order. In second order a score that is off
  // by d adds d²; f32's worst case comes on top.
  double ToleranceOf(int i, double mean) const {
    const double unit = kv_dtype_ == DType::kF32 ? kF32Unit : kBf16Unit;
    double from_query = 0;
    for (int k = 0; k < dimensions_.head_dim; ++k) {
      double covariance = 0;
      for (int t = 0; t < count_; ++t)
        covariance += weights_[static_cast<size_t>(t)] * (Value(t, i) - mean) * Key(t, k);
      from_query += std::pow(dimensions_.scale() * query_[k] * covariance, 2);
    }
    double magnitude = 0;
    for (int t = 0; t < count_; ++t) magnitude += weights_[static_cast<size_t>(t)] * std::fabs(Value(t, i));
    const double score_error = kSixDeviations * unit * largest_score_spread_;
    return kSixDeviations * unit * std::sqrt(from_query) + score_error * score_error * magnitude +
           ((count_ + 2 * dimensions_.head_dim + 16) * kF32Unit + 2 * kExpError) * magnitude;
  }

  const Dimensions& dimensions_;
  const DType kv_dtype_;
  const float* query_ = nullptr;
  int count_ = 0;
  std::vector<double> keys_;
  std::vector<double> values_;
  std::vector<double> weights_;
  double largest_score_spread_ = 0;
};

using Parameters = std::tuple<BackendCase, DType, Dimensions>;

class AttentionTest : public ::testing::TestWithParam<Parameters> {
 protected:
  static constexpr int kSlots = 128;
  static constexpr int kLayer = 1;

  AttentionTest() : harness_(std::get<0>(GetParam()).create(2)) {}

  DType kv_dtype() const { return std::get<1>(GetParam()); }
  const Dimensions& dimensions() const { return std::get<2>(GetParam()); }
  Backend& backend() { return harness_.backend(); }

  void SetUp() override {
    const KvShape shape = {.layers = 3,
                           .kv_heads = dimensions().kv_heads,
                           .head_dim = dimensions().head_dim,
                           .block_tokens = dimensions().block_tokens,
                           .dtype = kv_dtype()};
    ASSERT_TRUE(backend().AllocateKv(shape, kSlots).ok());
    // Every bit set is NaN in any format: what is read without being written shows.
    const std::vector<std::byte> nans(static_cast<size_t>(shape.bytes_per_block()), std::byte{0xff});
    for (uint32_t slot = 0; slot < kSlots; ++slot) backend().WriteBlock(SlotIndex{slot}, nans);
  }

  Sequence NewSequence(int length, uint32_t seed) {
    Sequence sequence = {.q = RandomRows(length, dimensions().q_cols(), seed),
                         .k = RandomRows(length, dimensions().kv_cols(), seed + 1),
                         .v = RandomRows(length, dimensions().kv_cols(), seed + 2),
                         .slots = {}};
    for (float& value : sequence.q.values) value *= 4;  // so that attention prefers some keys
    const int blocks = (length + dimensions().block_tokens - 1) / dimensions().block_tokens;
    for (int block = 0; block < blocks; ++block) {
      sequence.slots.push_back(SlotIndex{(next_slot_++ * 37) % kSlots});  // scattered: 37 has no common factor with 128
    }
    return sequence;
  }

  struct Piece {
    const Sequence& sequence;
    int first;
    int count;
  };

  // Stores the pieces' keys and values and attends for them, as one step. Rows are in the pieces' order.
  Rows Step(const std::vector<Piece>& pieces) {
    Rows q = {.cols = dimensions().q_cols(), .values = {}};
    Rows k = {.cols = dimensions().kv_cols(), .values = {}};
    Rows v = k;
    BatchBuilder builder;
    for (const Piece& piece : pieces) {
      Append(q, piece.sequence.q, piece);
      Append(k, piece.sequence.k, piece);
      Append(v, piece.sequence.v, piece);
      const std::vector<TokenId> tokens(static_cast<size_t>(piece.sequence.length()));
      builder.Add({.tokens = tokens, .first = piece.first, .count = piece.count, .slots = piece.sequence.slots});
    }
    const Activations q_in = harness_.Upload(q);
    const Activations k_in = harness_.Upload(k);
    const Activations v_in = harness_.Upload(v);
    const Activations out = harness_.New(q.rows, q.cols);
    harness_.BeginStep(builder);
    backend().StoreKv(kLayer, k_in, v_in);
    backend().Attention({.layer = kLayer,
                         .heads = dimensions().kv_heads * dimensions().group,
                         .scale = dimensions().scale(),
                         .window = dimensions().window},
                        q_in, out);
    return harness_.Download(out);
  }

  static void Append(Rows& rows, const Rows& all, const Piece& piece) {
    rows.values.insert(rows.values.end(), all.row(piece.first), all.row(piece.first) + piece.count * all.cols);
    rows.rows += piece.count;
  }

  void ExpectAttended(const Rows& actual, const std::vector<Piece>& pieces) {
    Oracle oracle(dimensions(), kv_dtype());
    Rows expected = {.rows = actual.rows, .cols = actual.cols, .values = {}};
    std::vector<double> tolerances;
    for (const Piece& piece : pieces) {
      for (int position = piece.first; position < piece.first + piece.count; ++position) {
        for (int head = 0; head < dimensions().kv_heads * dimensions().group; ++head) {
          const Oracle::Output output = oracle.Attend(piece.sequence, position, head);
          expected.values.insert(expected.values.end(), output.values.begin(), output.values.end());
          tolerances.insert(tolerances.end(), output.tolerances.begin(), output.tolerances.end());
        }
      }
    }
    ExpectNear(actual, expected,
               [&](int row, int col) { return tolerances[static_cast<size_t>(row) * expected.cols + col]; });
  }

  OperationHarness harness_;
  uint32_t next_slot_ = 3;
};

TEST_P(AttentionTest, ColdPrefillIsTheDefinition) {
  const Sequence sequence = NewSequence(37, 1);
  ExpectAttended(Step({{sequence, 0, 37}}), {{sequence, 0, 37}});
}

TEST_P(AttentionTest, RaggedBatchIsTheDefinition) {
  const Sequence decoding = NewSequence(50, 1);
  const Sequence fresh = NewSequence(9, 4);
  const Sequence resuming = NewSequence(270, 7);
  const Sequence single = NewSequence(1, 10);
  Step({{decoding, 0, 49}, {resuming, 0, 267}});
  const std::vector<Piece> pieces = {{decoding, 49, 1}, {fresh, 0, 9}, {resuming, 267, 3}, {single, 0, 1}};
  ExpectAttended(Step(pieces), pieces);
}

// Bits, not tolerances: however a sequence was cut into steps, wherever its blocks lie and whatever else is in the
// steps.
TEST_P(AttentionTest, BitsDoNotDependOnSteps) {
  const Sequence whole = NewSequence(290, 1);
  const Rows cold = Step({{whole, 0, 290}});
  const Sequence company = NewSequence(20, 50);
  Sequence elsewhere = whole;
  std::reverse(elsewhere.slots.begin(), elsewhere.slots.end());
  const std::vector<std::vector<int>> kSchedules = {{290},     {1, 289},       {256, 34},      {255, 1, 34},
                                                    {257, 33}, {100, 100, 90}, {287, 1, 1, 1}, {7, 9, 15, 17, 31, 211}};
  for (const std::vector<int>& schedule : kSchedules) {
    Rows actual = {.cols = cold.cols, .values = {}};
    for (int count : schedule) {
      const Rows step = Step({{company, 0, 20}, {elsewhere, actual.rows, count}});
      Append(actual, step, {company, 20, count});
    }
    SCOPED_TRACE(::testing::Message() << "steps of " << ::testing::PrintToString(schedule));
    ExpectEqual(actual, cold);
  }
}

std::string TestName(const ::testing::TestParamInfo<Parameters>& test) {
  const Dimensions& d = std::get<2>(test.param);
  return fmt::format("{}_{}_kv{}x{}_dim{}_block{}_window{}", std::get<0>(test.param).name,
                     NameOf(std::get<1>(test.param)), d.kv_heads, d.group, d.head_dim, d.block_tokens, d.window);
}

INSTANTIATE_TEST_SUITE_P(Conformance, AttentionTest,
                         ::testing::Combine(::testing::ValuesIn(AllBackends()),
                                            ::testing::Values(DType::kBF16, DType::kF32),
                                            ::testing::Values(Dimensions{2, 3, 16, 16, 0}, Dimensions{1, 4, 8, 16, 0},
                                                              Dimensions{2, 2, 64, 8, 0}, Dimensions{3, 1, 32, 32, 0},
                                                              Dimensions{1, 3, 128, 16, 0}, Dimensions{2, 1, 80, 64, 0},
                                                              Dimensions{2, 2, 16, 16, 24}, Dimensions{1, 2, 16, 8, 1},
                                                              Dimensions{1, 2, 16, 16, 270})),
                         TestName);

}  // namespace
}  // namespace headstart::testing
