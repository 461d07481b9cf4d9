#include "tests/engine/scheduler/toy_model.h"

#include <algorithm>

#include "engine/sampling/sampler.h"
#include "gtest/gtest.h"

namespace headstart::testing {
namespace {

constexpr uint64_t kBeforeFirst = 0x5eed;

// The finaliser of SplitMix64: any change of the input changes about half of the output's bits.
uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15 + b + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t KvOf(uint64_t previous, TokenId token, int64_t position) {
  return Mix(Mix(previous, static_cast<uint64_t>(position)), static_cast<uint64_t>(ToIndex(token)));
}

std::vector<float> LogitsOfContext(uint64_t context, int vocab_size) {
  std::vector<float> logits(static_cast<size_t>(vocab_size));
  for (size_t v = 0; v < logits.size(); ++v) {
    logits[v] = static_cast<float>(Mix(context, v) >> 44) / static_cast<float>(1 << 18);  // 0 to 4, exact in a float
  }
  return logits;
}

bool Contains(const std::vector<TokenId>& tokens, TokenId token) {
  return std::ranges::find(tokens, token) != tokens.end();
}

// Cuts `text` where the first stop string to be complete begins. False when there is none.
bool CutAtStop(std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& stop : stops) {
      if (text.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest == 0) continue;
    text.resize(end - longest);
    return true;
  }
  return false;
}

}  // namespace

ToyTokenizer::ToyTokenizer(int vocab_size) : vocab_size_(vocab_size) {}

std::vector<TokenId> ToyTokenizer::Encode(std::string_view, const EncodeOptions&) const { return {}; }

std::string ToyTokenizer::TokenBytes(TokenId token, bool with_special) const {
  if (IsSpecial(token) && !with_special) return {};
  const int id = ToIndex(token);
  return {static_cast<char>('a' + id % 4), static_cast<char>('a' + id / 4 % 4)};
}

ToyRunner::ToyRunner(const RunnerLimits& limits, int64_t slots)
    : limits_(limits), pages_(static_cast<size_t>(slots * limits.block_tokens)) {
  // Memory that was never written must not look like anybody's KV.
  for (size_t i = 0; i < pages_.size(); ++i) pages_[i].kv = Mix(0xdead, i);
}

ToyRunner::Entry& ToyRunner::At(std::span<const SlotIndex> table, int64_t position) {
  const SlotIndex slot = table[static_cast<size_t>(position / limits_.block_tokens)];
  return pages_.at(static_cast<size_t>(ToIndex(slot)) * limits_.block_tokens + position % limits_.block_tokens);
}

uint64_t ToyRunner::Read(std::span<const SlotIndex> table, int64_t position, int reader) {
  const Entry& entry = At(table, position);
  EXPECT_FALSE(entry.written_in_step == step_ && entry.written_by != reader)
      << "position " << position << " is read in the step that another sequence computes it in";
  return entry.kv;
}

void ToyRunner::Forward(const RaggedBatch& batch) {
  if (on_forward) on_forward(batch);
  EXPECT_LE(batch.num_tokens(), limits_.max_step_tokens);
  EXPECT_LE(static_cast<int>(batch.logit_rows.size()), limits_.max_logit_rows);
  EXPECT_TRUE(std::ranges::is_sorted(batch.logit_rows));
  EXPECT_EQ(batch.sequence_starts.back(), batch.num_tokens());
  ++step_;
  logits_.clear();
  for (int sequence = 0; sequence < batch.num_sequences(); ++sequence) ComputeSequence(batch, sequence);
  EXPECT_EQ(logits_.size(), batch.logit_rows.size());
  computed_tokens_ += batch.num_tokens();
}

void ToyRunner::ComputeSequence(const RaggedBatch& batch, int sequence) {
  const auto s = static_cast<size_t>(sequence);
  const int begin = batch.sequence_starts[s];
  const int end = batch.sequence_starts[s + 1];
  EXPECT_LT(begin, end) << "a sequence without tokens";
  const std::span<const SlotIndex> table = batch.block_tables.subspan(
      batch.block_table_starts[s], batch.block_table_starts[s + 1] - batch.block_table_starts[s]);
  for (int t = begin; t < end; ++t) {
    const int64_t position = batch.positions[t];
    EXPECT_EQ(position, batch.context_lengths[s] - end + t);
    EXPECT_LT(position, limits_.max_positions);
    const uint64_t previous = position == 0 ? kBeforeFirst : Read(table, position - 1, sequence);
    Entry& entry = At(table, position);
    EXPECT_NE(entry.written_in_step, step_) << "two sequences write to one place";
    entry = {KvOf(previous, batch.tokens[t], position), step_, sequence};
    if (std::ranges::binary_search(batch.logit_rows, t)) logits_.push_back(LogitsOf(table, position + 1, sequence));
  }
}

std::vector<float> ToyRunner::LogitsOf(std::span<const SlotIndex> table, int64_t context, int reader) {
  uint64_t hash = 0;
  for (int64_t position = 0; position < context; ++position) hash = Mix(hash, Read(table, position, reader));
  return LogitsOfContext(hash, limits_.vocab_size);
}

std::span<const float> ToyRunner::Logits(int i) { return logits_.at(static_cast<size_t>(i)); }

void ToyRunner::CopyKv(SlotIndex from, SlotIndex to, int tokens) {
  EXPECT_NE(from, to);
  EXPECT_GE(tokens, 1);
  EXPECT_LE(tokens, limits_.block_tokens);
  ++copies_;
  for (int64_t t = 0; t < tokens; ++t) {
    At({&to, 1}, t) = At({&from, 1}, t);
  }
}

ToyAnswer AnswerAlone(const GenerationRequest& request, const RunnerLimits& limits) {
  const ToyTokenizer tokenizer(limits.vocab_size);
  Sampler sampler(request.sampling, request.prompt);
  std::vector<TokenId> tokens = request.prompt;
  const auto prompt = static_cast<int64_t>(tokens.size());
  int64_t room = limits.max_positions - prompt;
  if (request.max_tokens > 0) room = std::min(room, request.max_tokens);

  ToyAnswer answer;
  uint64_t kv = kBeforeFirst;
  uint64_t hash = 0;
  size_t position = 0;
  while (static_cast<int64_t>(answer.tokens.size()) < room) {
    for (; position < tokens.size(); ++position) {
      kv = KvOf(kv, tokens[position], static_cast<int64_t>(position));
      hash = Mix(hash, kv);
    }
    const auto at = static_cast<int64_t>(tokens.size());
    const TokenId token = sampler.Sample(LogitsOfContext(hash, limits.vocab_size), at).token;
    tokens.push_back(token);
    answer.tokens.push_back(token);
    answer.reason = FinishReason::kStop;
    if ((token == kToyEnd && !request.ignore_eos) || Contains(request.stop_tokens, token)) return answer;
    answer.text += tokenizer.TokenBytes(token, false);
    if (CutAtStop(answer.text, request.stop)) return answer;
  }
  answer.reason = FinishReason::kLength;
  return answer;
}

}  // namespace headstart::testing
