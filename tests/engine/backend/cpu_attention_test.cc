// Attention of the CPU backend over random block tables, against a softmax in double; and that no cut of the work, nor
// anything that lies in memory that a token does not see, changes a bit.

#include <cmath>
#include <limits>
#include <ostream>

#include "gtest/gtest.h"
#include "tests/engine/backend/cpu_harness.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using kernels::InstructionSet;
using kernels::testing::kUnit;
using kernels::testing::RandomFloats;
using kernels::testing::RoundToBf16;

constexpr int kSlots = 256;
constexpr int kLayer = 1;

struct AttentionCase {
  DType kv_dtype;
  int block_tokens;
  int kv_heads;
  int group;
  int head_dim;
  int window;

  int heads() const { return kv_heads * group; }
  KvShape kv_shape() const { return {2, kv_heads, head_dim, block_tokens, kv_dtype}; }
  float scale() const { return 1 / std::sqrt(static_cast<float>(head_dim)); }
};

void PrintTo(const AttentionCase& shape, std::ostream* out) {
  *out << (shape.kv_dtype == DType::kF32 ? "f32" : "bf16") << " block " << shape.block_tokens << " heads "
       << shape.kv_heads << " x " << shape.group << " dim " << shape.head_dim << " window " << shape.window;
}

const AttentionCase kCases[] = {
    {DType::kBF16, 16, 2, 4, 64, 0},  {DType::kBF16, 8, 1, 3, 32, 0},    {DType::kBF16, 32, 3, 1, 128, 0},
    {DType::kBF16, 256, 1, 8, 64, 0}, {DType::kBF16, 16, 1, 2, 80, 100}, {DType::kBF16, 8, 2, 2, 24, 17},
    {DType::kBF16, 64, 1, 60, 16, 0}, {DType::kF32, 16, 2, 3, 64, 0},    {DType::kF32, 8, 1, 4, 20, 300},
    {DType::kF32, 128, 1, 2, 96, 1},
};

// One sequence's queries, keys and values, and its blocks.
struct Sequence {
  int tokens;
  std::vector<float> q, k, v;  // [tokens, heads × head_dim], [tokens, kv_heads × head_dim] twice
  std::vector<SlotIndex> slots;
};

Sequence RandomSequence(const AttentionCase& shape, int tokens, uint32_t seed, SlotDealer& dealer) {
  const size_t kv = static_cast<size_t>(tokens) * shape.kv_heads * shape.head_dim;
  return {tokens, RandomFloats(kv * shape.group, seed, 2), RandomFloats(kv, seed + 1, 2), RandomFloats(kv, seed + 2),
          dealer.Deal((tokens + shape.block_tokens - 1) / shape.block_tokens)};
}

// Runs sequences through a backend in steps and collects each one's outputs.
class Runner {
 public:
  Runner(InstructionSet isa, int threads, const AttentionCase& shape)
      : backend_(MakeBackend(isa, threads)), shape_(shape) {
    EXPECT_OK(backend_->AllocateKv(shape.kv_shape(), kSlots));
  }

  void FillAllBlocks(std::byte value) {
    const std::vector<std::byte> bytes(shape_.kv_shape().bytes_per_block(), value);
    for (uint32_t slot = 0; slot < kSlots; ++slot) backend_->WriteBlock(SlotIndex{slot}, bytes);
  }

  struct Share {
    const Sequence* sequence;
    int start;
    int count;
  };
  // The outputs of the step's tokens, [tokens, heads × head_dim].
  std::vector<float> Step(const std::vector<Share>& shares) {
    std::vector<Chunk> chunks;
    std::vector<float> q, k, v;
    for (const Share& share : shares) {
      chunks.push_back({&share.sequence->slots, share.start, share.count});
      AppendRows(share.sequence->q, share, QueryCols(), q);
      AppendRows(share.sequence->k, share, KvCols(), k);
      AppendRows(share.sequence->v, share, KvCols(), v);
    }
    const OwnedBatch batch(chunks);
    const int rows = batch.view().num_tokens();
    backend_->BeginStep(batch.view());
    backend_->StoreKv(kLayer, Upload(*backend_, k, rows, KvCols()), Upload(*backend_, v, rows, KvCols()));
    const Activations out = backend_->NewActivations(rows, QueryCols()).value();
    backend_->Attention({kLayer, shape_.heads(), shape_.scale(), shape_.window},
                        Upload(*backend_, q, rows, QueryCols()), out);
    return Download(out);
  }
  // The first `head` tokens in one step, the others `step` at a time.
  std::vector<float> InSteps(const Sequence& sequence, int step, int head = 0) {
    std::vector<float> all;
    if (head > 0) all = Step({{&sequence, 0, head}});
    for (int start = head; start < sequence.tokens; start += step) {
      const std::vector<float> part = Step({{&sequence, start, std::min(step, sequence.tokens - start)}});
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  Backend& backend() { return *backend_; }
  int QueryCols() const { return shape_.heads() * shape_.head_dim; }
  int KvCols() const { return shape_.kv_heads * shape_.head_dim; }

 private:
  static void AppendRows(const std::vector<float>& from, const Share& share, int cols, std::vector<float>& to) {
    to.insert(to.end(), from.begin() + share.start * cols, from.begin() + (share.start + share.count) * cols);
  }

  std::unique_ptr<Backend> backend_;
  AttentionCase shape_;
};

class CpuAttentionTest : public ::testing::TestWithParam<std::tuple<InstructionSet, AttentionCase>> {
 protected:
  InstructionSet isa() const { return std::get<0>(GetParam()); }
  const AttentionCase& shape() const { return std::get<1>(GetParam()); }
};

float Stored(const AttentionCase& shape, float value) {
  return shape.kv_dtype == DType::kF32 ? value : RoundToBf16(value);
}

// One head of one token in double, and how far f32 may be from it.
struct Exact {
  std::vector<double> values, tolerances;
};

// Scores are off by at most (head_dim + 2) u Σ|q·k| · scale; a score's error is its weight's relative error, to which
// the exponential adds 2^-22. Numerator and denominator each add one rounding a key, and spans add two a merge; n + 8
// covers both. The weights' errors count twice, above and below the fraction bar, against the mean magnitude of the
// values.
Exact ExactHead(const AttentionCase& shape, const Sequence& sequence, int token, int head) {
  const int dim = shape.head_dim, kv_cols = shape.kv_heads * dim, column = head / shape.group * dim;
  const float* q = sequence.q.data() + (token * shape.heads() + head) * dim;
  const int first = shape.window > 0 ? std::max(0, token - shape.window + 1) : 0;
  std::vector<double> scores;
  double error = 0, max = -INFINITY;
  for (int key = first; key <= token; ++key) {
    double sum = 0, magnitude = 0;
    for (int i = 0; i < dim; ++i) {
      const double product = double{Stored(shape, q[i])} * Stored(shape, sequence.k[key * kv_cols + column + i]);
      sum += product;
      magnitude += std::abs(product);
    }
    scores.push_back(sum * shape.scale());
    max = std::max(max, scores.back());
    error = std::max(error, magnitude * shape.scale() * (dim + 2) * kUnit);
  }
  double total = 0;
  Exact exact = {std::vector<double>(dim, 0), std::vector<double>(dim, 0)};
  for (int key = first; key <= token; ++key) {
    const double weight = std::exp(scores[key - first] - max);
    total += weight;
    for (int i = 0; i < dim; ++i) {
      const double value = Stored(shape, sequence.v[key * kv_cols + column + i]);
      exact.values[i] += weight * value;
      exact.tolerances[i] += weight * std::abs(value);
    }
  }
  // The subtraction of the maximum rounds once at the magnitude of the scores' spread.
  const double spread = (std::abs(max) + 1) * 4 * kUnit;
  const double relative = 2 * (error + spread + 0x1p-22) + 2 * (token - first + 8) * kUnit;
  for (int i = 0; i < dim; ++i) {
    exact.values[i] /= total;
    exact.tolerances[i] = exact.tolerances[i] / total * relative;
  }
  return exact;
}

TEST_P(CpuAttentionTest, MatchesDoublePrecisionWhateverUnusedMemoryHolds) {
  SlotDealer dealer(kSlots, 1);
  Runner runner(isa(), 2, shape());
  runner.FillAllBlocks(std::byte{0xff});  // NaN in either dtype
  for (int tokens : {1, 9, 47, 530}) {
    const Sequence sequence = RandomSequence(shape(), tokens, tokens, dealer);
    const std::vector<float> out = runner.InSteps(sequence, 300);
    for (int token = 0; token < tokens; token += 1 + tokens / 40) {
      for (int head = 0; head < shape().heads(); head += 1 + shape().heads() / 5) {
        const Exact exact = ExactHead(shape(), sequence, token, head);
        for (int i = 0; i < shape().head_dim; ++i) {
          ASSERT_NEAR(out[token * runner.QueryCols() + head * shape().head_dim + i], exact.values[i],
                      exact.tolerances[i])
              << "token " << token << " head " << head << " dim " << i;
        }
      }
    }
  }
}

TEST_P(CpuAttentionTest, BitsDoNotDependOnChunksOrThreads) {
  SlotDealer dealer(kSlots, 2);
  const Sequence sequence = RandomSequence(shape(), 560, 7, dealer);
  const std::vector<uint32_t> expected = AllBits(Runner(isa(), 1, shape()).InSteps(sequence, 1));
  for (int threads : {1, 2, 4}) {
    for (int step : {7, 64, 255, 560}) {
      ASSERT_EQ(AllBits(Runner(isa(), threads, shape()).InSteps(sequence, step)), expected) << threads << ", " << step;
    }
    ASSERT_EQ(AllBits(Runner(isa(), threads, shape()).InSteps(sequence, 1, 540)), expected) << threads;
  }
}

TEST_P(CpuAttentionTest, BitsDoNotDependOnNeighboursOrPlaces) {
  SlotDealer dealer(kSlots, 3);
  Runner alone(isa(), 2, shape()), together(isa(), 3, shape());
  together.FillAllBlocks(std::byte{0xff});
  std::vector<Sequence> sequences;
  for (int tokens : {70, 1, 300, 33}) sequences.push_back(RandomSequence(shape(), tokens, tokens, dealer));
  std::vector<Runner::Share> shares;
  std::vector<float> expected;
  for (Sequence& sequence : sequences) {
    const std::vector<float> part = alone.Step({{&sequence, 0, sequence.tokens}});
    expected.insert(expected.end(), part.begin(), part.end());
    sequence.slots = dealer.Deal(static_cast<int>(sequence.slots.size()));
    shares.push_back({&sequence, 0, sequence.tokens});
  }
  EXPECT_EQ(AllBits(together.Step(shares)), AllBits(expected));
}

// A later token's keys and values may be infinite or NaN: no earlier token of the same tile may notice.
TEST_P(CpuAttentionTest, LaterTokensLeaveNoTrace) {
  SlotDealer dealer(kSlots, 4);
  Sequence sequence = RandomSequence(shape(), 40, 5, dealer);
  Runner runner(isa(), 1, shape());
  std::vector<float> expected = runner.InSteps(sequence, 39);
  constexpr float kBad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -0.0f};
  for (float bad : kBad) {
    const int kv_cols = runner.KvCols();
    std::fill(sequence.k.begin() + 39 * kv_cols, sequence.k.end(), bad);
    std::fill(sequence.v.begin() + 39 * kv_cols, sequence.v.end(), bad);
    std::vector<float> out = runner.InSteps(sequence, 40);
    out.resize(39 * runner.QueryCols());
    expected.resize(out.size());
    ASSERT_EQ(AllBits(out), AllBits(expected)) << bad;
  }
}

TEST_P(CpuAttentionTest, KvCopiesAtEveryPartialCount) {
  SlotDealer dealer(kSlots, 6);
  const int block_tokens = shape().block_tokens;
  const Sequence sequence = RandomSequence(shape(), block_tokens, 8, dealer);
  Runner runner(isa(), 1, shape());
  const std::vector<uint32_t> expected = AllBits(runner.InSteps(sequence, block_tokens));
  for (int tokens = 1; tokens < block_tokens; ++tokens) {
    Sequence copy = sequence;
    copy.slots = {SlotIndex{0} == sequence.slots[0] ? SlotIndex{1} : SlotIndex{0}};
    const std::vector<std::byte> poison(shape().kv_shape().bytes_per_block(), std::byte{0xff});
    runner.backend().WriteBlock(copy.slots[0], poison);
    runner.backend().CopyKv(sequence.slots[0], copy.slots[0], tokens);
    // The next token sees every token that was copied.
    const std::vector<uint32_t> next = AllBits(runner.Step({{&copy, tokens, 1}}));
    ASSERT_TRUE(std::equal(next.begin(), next.end(), expected.begin() + tokens * runner.QueryCols())) << tokens;
  }
}

TEST_P(CpuAttentionTest, BlocksMoveAsBytes) {
  SlotDealer dealer(kSlots, 7);
  Sequence sequence = RandomSequence(shape(), 300, 9, dealer);
  Runner runner(isa(), 2, shape());
  const std::vector<uint32_t> expected = AllBits(runner.InSteps(sequence, 300));
  std::vector<std::byte> bytes(shape().kv_shape().bytes_per_block()), again(bytes.size());
  for (SlotIndex& slot : sequence.slots) {
    const SlotIndex target = dealer.Deal(1)[0];
    runner.backend().ReadBlock(slot, bytes);
    runner.backend().WriteBlock(target, bytes);
    runner.backend().ReadBlock(target, again);
    ASSERT_EQ(bytes, again);
    slot = target;
  }
  const std::vector<uint32_t> last = AllBits(runner.Step({{&sequence, 299, 1}}));
  EXPECT_TRUE(std::equal(last.begin(), last.end(), expected.end() - last.size()));
}

INSTANTIATE_TEST_SUITE_P(AllPaths, CpuAttentionTest,
                         ::testing::Combine(::testing::ValuesIn(kernels::SupportedInstructionSets()),
                                            ::testing::ValuesIn(kCases)));

}  // namespace
}  // namespace headstart::testing
