// The first promise: a cached answer is the same answer. Logits are compared bit by bit between a cold run of the whole
// text, alone in one step on one thread, and every other way to come to them: a prefix taken from another sequence (its
// blocks shared, moved through host memory, or copied in part), steps of any size, neighbours in the batch, other
// threads, blocks scattered over memory, and other choices of rows whose logits are read. Pages start as NaN, so that
// what is read before it was written shows.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/model/model_source.h"
#include "engine/model/synth.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/conformance/backends.h"
#include "tests/testing/status.h"
#include "tests/testing/tiny_model.h"

namespace headstart::testing {
namespace {

enum class PrefixFrom {
  kShared,  // the donor's whole blocks are read where they are
  kMoved,   // they went through host memory into other slots
};

enum class Company {
  kNone,
  kDecodeAfter,    // one token of a long context behind it
  kPrefillBefore,  // another prompt in front of it
  kBoth,
};

// One way to come to the logits.
struct Way {
  int cached = 0;  // tokens of the prefix that are not computed
  int step = 1;    // tokens of the rest that a step computes
  PrefixFrom prefix = PrefixFrom::kShared;
  Company company = Company::kNone;
  LogitsOf logits = LogitsOf::kAll;
  int threads = 1;

  std::string Describe() const {
    const char* const kCompany[] = {"no company", "a decode behind it", "a prefill before it",
                                    "a prefill and a decode"};
    return fmt::format("{} cached tokens ({}), steps of {}, {}, logits of {}, {} threads", cached,
                       prefix == PrefixFrom::kShared ? "shared" : "moved", step, kCompany[static_cast<int>(company)],
                       logits == LogitsOf::kAll ? "all" : "the last", threads);
  }
};

// Every pair of cached length and step, each with another of the combinations of the rest.
std::vector<Way> Ways(const std::vector<int>& cached_lengths, const std::vector<int>& steps, int length) {
  std::vector<Way> ways;
  for (int cached : cached_lengths) {
    for (int step : steps) {
      if (cached >= length) continue;
      const size_t i = ways.size();
      ways.push_back({.cached = cached,
                      .step = step,
                      .prefix = i % 2 == 0 ? PrefixFrom::kShared : PrefixFrom::kMoved,
                      .company = static_cast<Company>(i / 2 % 4),
                      .logits = i % 3 == 0 ? LogitsOf::kLast : LogitsOf::kAll,
                      .threads = i % 5 < 2 ? 1 : 3});
    }
  }
  return ways;
}

constexpr int kSlots = 128;

// A text, where its pages are, and the logits that a cold run gave.
struct Sequence {
  std::vector<TokenId> tokens;
  std::vector<SlotIndex> slots;
  LogitRows cold;

  int length() const { return static_cast<int>(tokens.size()); }
};

// A model on which ways are tried, with its slots handed out in a scattered order.
class Subject {
 public:
  explicit Subject(TinyModel model) : model_(std::move(model)) {}

  int block_tokens() { return model_.transformer().limits().block_tokens; }
  Transformer& transformer() { return model_.transformer(); }
  LogitRows Cold(const std::vector<TokenId>& tokens) { return model_.Cold(tokens); }

  void Clear() {
    next_slot_ = 0;
    const std::vector<std::byte> nans(static_cast<size_t>(transformer().kv_shape().bytes_per_block()), std::byte{0xff});
    for (uint32_t slot = 0; slot < kSlots; ++slot) model_.backend().WriteBlock(SlotIndex{slot}, nans);
  }

  SlotIndex NewSlot() { return SlotIndex{(next_slot_++ * 37 + 11) % kSlots}; }  // 37 has no common factor with 128

  void GiveSlots(Sequence& sequence) {
    while (static_cast<int>(sequence.slots.size()) * block_tokens() < sequence.length())
      sequence.slots.push_back(NewSlot());
  }

  // The KV of the first `tokens` tokens, and no logits.
  void Fill(const Sequence& sequence, int tokens) {
    constexpr int kStep = 13;
    for (int first = 0; first < tokens; first += kStep) {
      BatchBuilder builder;
      builder.Add({.tokens = sequence.tokens,
                   .first = first,
                   .count = std::min(kStep, tokens - first),
                   .slots = sequence.slots,
                   .logits = LogitsOf::kNone});
      transformer().Forward(builder.batch());
    }
  }

  // Slots with the first `cached` tokens of `donor`, as the prefix store would give them: whole blocks, and a copy of a
  // part.
  std::vector<SlotIndex> TakePrefix(const Sequence& donor, int cached, PrefixFrom from) {
    std::vector<SlotIndex> slots(donor.slots.begin(), donor.slots.begin() + cached / block_tokens());
    if (from == PrefixFrom::kMoved)
      std::transform(slots.begin(), slots.end(), slots.begin(), [&](auto s) { return Move(s); });
    if (const int rest = cached % block_tokens(); rest > 0) {
      slots.push_back(NewSlot());
      transformer().CopyKv(donor.slots[static_cast<size_t>(cached / block_tokens())], slots.back(), rest);
    }
    return slots;
  }

 private:
  SlotIndex Move(SlotIndex from) {
    std::vector<std::byte> bytes(static_cast<size_t>(transformer().kv_shape().bytes_per_block()));
    model_.backend().ReadBlock(from, bytes);
    const SlotIndex to = NewSlot();
    model_.backend().WriteBlock(to, bytes);
    return to;
  }

  TinyModel model_;
  uint32_t next_slot_ = 0;
};

struct ModelCase {
  std::string shape;
  DType weights;
  SynthFormat format;

  friend void PrintTo(const ModelCase& model, std::ostream* out) {
    *out << model.shape << " " << NameOf(model.weights);
  }
};

struct KvCase {
  DType dtype;
  int block_tokens;

  friend void PrintTo(const KvCase& kv, std::ostream* out) {
    *out << NameOf(kv.dtype) << " in blocks of " << kv.block_tokens;
  }
};

using Parameters = std::tuple<BackendCase, ModelCase, KvCase>;

class ExactnessTest : public ::testing::TestWithParam<Parameters> {
 protected:
  void SetUp() override {
    one_thread_ = Load(1);
    three_threads_ = Load(3);
  }

  std::unique_ptr<Subject> Load(int threads) {
    const auto& [backend, model, kv] = GetParam();
    const auto files = SynthModelFiles({.shape = model.shape, .format = model.format, .dtype = model.weights});
    EXPECT_OK(files);
    absl::StatusOr<std::unique_ptr<ModelSource>> source = OpenModel(*files, model.shape);
    EXPECT_OK(source);
    absl::StatusOr<TinyModel> tiny = TinyModel::Load(*std::move(source), backend.create(threads),
                                                     {.kv_dtype = kv.dtype,
                                                      .block_tokens = kv.block_tokens,
                                                      .slots = kSlots,
                                                      .max_step_tokens = 700,
                                                      .max_logit_rows = 700});
    EXPECT_OK(tiny);
    return std::make_unique<Subject>(*std::move(tiny));
  }

  Sequence NewSequence(int length, uint32_t seed) {
    Sequence sequence;
    sequence.tokens = RandomTokens(length, one_thread_->transformer().limits().vocab_size, seed);
    sequence.cold = one_thread_->Cold(sequence.tokens);
    return sequence;
  }

  // The donor has the text's first `cached` tokens and then goes on in its own way, through the rest of its last block.
  Sequence DonorOf(const Sequence& text, int cached) {
    Sequence donor = {.tokens = {text.tokens.begin(), text.tokens.begin() + cached}, .slots = {}, .cold = {}};
    for (int i = 0; i < 20; ++i)
      donor.tokens.push_back(TokenId{(ToIndex(text.tokens[static_cast<size_t>(i)]) + 1) % 512});
    return donor;
  }

  void ExpectSameBits(const Way& way, const Sequence& text, const Sequence& decoding, const Sequence& prefilling) {
    Subject& subject = way.threads == 1 ? *one_thread_ : *three_threads_;
    subject.Clear();
    Sequence donor = DonorOf(text, way.cached);
    subject.GiveSlots(donor);
    if (way.cached > 0) subject.Fill(donor, donor.length());
    Sequence target = text;
    target.slots = subject.TakePrefix(donor, way.cached, way.prefix);
    subject.GiveSlots(target);
    Sequence before = prefilling;
    subject.GiveSlots(before);
    Sequence after = decoding;
    subject.GiveSlots(after);
    if (HasDecode(way)) subject.Fill(after, after.length() - 1);

    for (int first = way.cached; first < text.length() && !HasFailure(); first += way.step) {
      RunStep(subject, way, target, first, before, after);
    }
  }

 private:
  static bool HasDecode(const Way& way) {
    return way.company == Company::kDecodeAfter || way.company == Company::kBoth;
  }
  static bool HasPrefill(const Way& way) {
    return way.company == Company::kPrefillBefore || way.company == Company::kBoth;
  }

  // What a step's logits should be, in the order of its rows.
  struct Expected {
    std::vector<const std::vector<float>*> rows;
    std::vector<std::string> names;
  };

  static void Add(BatchBuilder& builder, Expected& expected, const Sequence& sequence, int first, int count,
                  LogitsOf logits, std::string_view name) {
    builder.Add({.tokens = sequence.tokens, .first = first, .count = count, .slots = sequence.slots, .logits = logits});
    for (int i = logits == LogitsOf::kAll ? first : first + count - 1; i < first + count; ++i) {
      expected.rows.push_back(&sequence.cold[static_cast<size_t>(i)]);
      expected.names.push_back(fmt::format("{} token {}", name, i));
    }
  }

  void RunStep(Subject& subject, const Way& way, const Sequence& target, int first, const Sequence& before,
               const Sequence& after) {
    BatchBuilder builder;
    Expected expected;
    if (HasPrefill(way)) Add(builder, expected, before, 0, before.length(), LogitsOf::kLast, "the prefill before it:");
    Add(builder, expected, target, first, std::min(way.step, target.length() - first), way.logits, "the text:");
    if (HasDecode(way)) Add(builder, expected, after, after.length() - 1, 1, LogitsOf::kLast, "the decode behind it:");
    subject.transformer().Forward(builder.batch());
    for (size_t i = 0; i < expected.rows.size() && !HasFailure(); ++i) {
      ExpectRow(subject.transformer().Logits(static_cast<int>(i)), *expected.rows[i], way, expected.names[i]);
    }
  }

  static void ExpectRow(std::span<const float> actual, const std::vector<float>& expected, const Way& way,
                        const std::string& name) {
    if (std::memcmp(actual.data(), expected.data(), expected.size() * sizeof(float)) == 0) return;
    const auto id = std::mismatch(expected.begin(), expected.end(), actual.begin()).first - expected.begin();
    ADD_FAILURE() << way.Describe() << ": " << name << ": the logit of id " << id << " is "
                  << actual[static_cast<size_t>(id)] << " and was " << expected[static_cast<size_t>(id)];
  }

  std::unique_ptr<Subject> one_thread_;
  std::unique_ptr<Subject> three_threads_;
};

TEST_P(ExactnessTest, LogitsAreTheSameBits) {
  constexpr int kLength = 100;
  const Sequence text = NewSequence(kLength, 1);
  const Sequence decoding = NewSequence(61, 2);
  const Sequence prefilling = NewSequence(19, 3);
  for (const Way& way : Ways({0, 1, 8, 15, 16, 17, 50, 64, 99}, {1, 3, 16, 37, kLength}, kLength)) {
    if (way.step == 1 && way.cached < 50) continue;  // many steps that longer prefixes show as well
    ExpectSameBits(way, text, decoding, prefilling);
    if (HasFailure()) return;
  }
}

// Contexts of several spans of keys, whatever a backend's span is, and steps that cross their edges.
TEST_P(ExactnessTest, LogitsOfLongContextsAreTheSameBits) {
  constexpr int kLength = 530;
  const Sequence text = NewSequence(kLength, 1);
  const Sequence decoding = NewSequence(300, 2);
  const Sequence prefilling = NewSequence(19, 3);
  for (const Way& way : Ways({0, 128, 255, 256, 257, 512, kLength - 1}, {100, kLength}, kLength)) {
    ExpectSameBits(way, text, decoding, prefilling);
    if (HasFailure()) return;
  }
}

// All architectures: QK norm, adjacent rope pairs and one KV head, a sliding window, biases.
std::vector<ModelCase> AllShapes(DType weights) {
  std::vector<ModelCase> models;
  for (const char* shape : {"tiny", "tiny-llama3", "tiny-mistral", "tiny-qwen2"}) {
    models.push_back({shape, weights, SynthFormat::kGguf});
  }
  return models;
}

// The type of the weights matters to the linear layers alone, which these exercise in full.
std::vector<ModelCase> SomeShapes(DType weights, SynthFormat format) {
  return {{"tiny", weights, format}, {"tiny-qwen2", weights, format}};
}

std::vector<BackendCase> Backends(bool reference) {
  std::vector<BackendCase> backends = AllBackends();
  std::erase_if(backends, [&](const BackendCase& backend) { return (backend.name == "reference") != reference; });
  return backends;
}

std::string TestName(const ::testing::TestParamInfo<Parameters>& test) {
  const auto& [backend, model, kv] = test.param;
  std::string shape = model.shape;
  std::replace(shape.begin(), shape.end(), '-', '_');
  return fmt::format("{}_{}_{}_kv{}_block{}", backend.name, shape, NameOf(model.weights), NameOf(kv.dtype),
                     kv.block_tokens);
}

const KvCase kKvCases[] = {{DType::kBF16, 16}, {DType::kF32, 32}, {DType::kBF16, 8}};

// The reference computes with f32 whatever the weights' type.
INSTANTIATE_TEST_SUITE_P(Reference, ExactnessTest,
                         ::testing::Combine(::testing::ValuesIn(Backends(true)),
                                            ::testing::ValuesIn(AllShapes(DType::kF32)), ::testing::ValuesIn(kKvCases)),
                         TestName);
INSTANTIATE_TEST_SUITE_P(F32, ExactnessTest,
                         ::testing::Combine(::testing::ValuesIn(Backends(false)),
                                            ::testing::ValuesIn(AllShapes(DType::kF32)), ::testing::ValuesIn(kKvCases)),
                         TestName);
INSTANTIATE_TEST_SUITE_P(Bf16, ExactnessTest,
                         ::testing::Combine(::testing::ValuesIn(Backends(false)),
                                            ::testing::ValuesIn(SomeShapes(DType::kBF16, SynthFormat::kHuggingFace)),
                                            ::testing::ValuesIn(kKvCases)),
                         TestName);
INSTANTIATE_TEST_SUITE_P(Q8_0, ExactnessTest,
                         ::testing::Combine(::testing::ValuesIn(Backends(false)),
                                            ::testing::ValuesIn(SomeShapes(DType::kQ8_0, SynthFormat::kGguf)),
                                            ::testing::ValuesIn(kKvCases)),
                         TestName);

}  // namespace
}  // namespace headstart::testing
