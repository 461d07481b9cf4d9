#include "prefix_store/replay/replay.h"

#include <algorithm>
#include <utility>

#include "prefix_store/replay/weightless_tier.h"

namespace headstart {
namespace {

// The smallest block the store takes: what a block of the trace is called needs one token.
constexpr int kStandInTokens = 8;

double Ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

class Replayer {
 public:
  Replayer(const Trace& trace, const ReplayOptions& options, const PrefixStoreOptions& store,
           absl::FunctionRef<int64_t()> now_ns)
      : trace_(trace),
        capacity_blocks_(options.capacity_blocks),
        device_(TierKind::kDevice, store.device_blocks),
        host_(TierKind::kHost, options.host_blocks),
        disk_(TierKind::kDisk, options.disk_blocks),
        store_(WithClock(store), Tiers(options)),
        now_ns_(now_ns) {
    result_.hits.push_back({.tier = TierName(TierKind::kDevice)});
    if (options.host_blocks > 0) result_.hits.push_back({.tier = TierName(TierKind::kHost)});
    if (options.disk_blocks > 0) result_.hits.push_back({.tier = TierName(TierKind::kDisk)});
  }

  absl::Status Run(const TraceRequest& request) {
    const absl::Status status = Serve(request);
    result_.evicted_blocks = store_.stats().evicted_blocks;
    return status;
  }

  ReplayResult result() && { return std::move(result_); }

 private:
  // The store's clock shows when the request being served was made.
  PrefixStoreOptions WithClock(PrefixStoreOptions store) {
    store.clock = [this] { return now_; };
    return store;
  }
  PrefixStoreTiers Tiers(const ReplayOptions& options) {
    if (options.host_blocks == 0) return {};
    return {.device = &device_, .host = &host_, .disk = options.disk_blocks > 0 ? &disk_ : nullptr, .io = &io_};
  }
  absl::Status Serve(const TraceRequest& request);
  absl::StatusOr<SequenceBlocks> Acquire(std::span<const TokenId> tokens);
  void Settle();
  void CountHits(const TraceRequest& request, const TokensByTier& cached);
  std::span<const TokenId> StandIns(std::span<const int32_t> blocks);

  template <typename Call>
  auto Timed(OperationTime& time, Call call) {
    const int64_t start = now_ns_();
    auto result = call();
    time.total_ns += now_ns_() - start;
    ++time.calls;
    return result;
  }

  const Trace& trace_;
  const int64_t capacity_blocks_;
  AgeMs now_{};
  InlineExecutor io_;
  WeightlessTier device_;
  WeightlessTier host_;
  WeightlessTier disk_;
  PrefixStore store_;
  absl::FunctionRef<int64_t()> now_ns_;
  std::vector<TokenId> tokens_;  // of the request being served
  ReplayResult result_;
};

// The name comes first, so that different blocks share no token at their start, and nothing is copied.
std::span<const TokenId> Replayer::StandIns(std::span<const int32_t> blocks) {
  tokens_.clear();
  for (const int32_t block : blocks) {
    tokens_.push_back(TokenId{block});
    tokens_.resize(tokens_.size() + kStandInTokens - 1);
  }
  tokens_.push_back(TokenId{});
  return tokens_;
}

absl::Status Replayer::Serve(const TraceRequest& request) {
  now_ = AgeMs{request.at_ms};
  const auto fitting = std::min<int64_t>(std::ssize(request.blocks), capacity_blocks_);
  const auto tokens = StandIns(std::span(request.blocks).first(fitting));
  auto sequence = Timed(result_.acquire, [&] { return Acquire(tokens); });
  if (!sequence.ok()) return sequence.status();
  CountHits(request, sequence->cached_by_tier());
  Timed(result_.publish, [&] { return sequence->Publish(tokens.first(fitting * kStandInTokens)); });
  Timed(result_.release, [&] { return std::exchange(*sequence, SequenceBlocks()), 0; });
  Settle();
  return absl::OkStatus();
}

absl::StatusOr<SequenceBlocks> Replayer::Acquire(std::span<const TokenId> tokens) {
  auto sequence = store_.Acquire({.tokens = tokens});
  if (!sequence.ok()) return sequence;
  while (sequence->load_state() == LoadState::kLoading) store_.Poll();
  sequence->Take(std::ssize(tokens));
  return sequence;
}

void Replayer::Settle() {
  do {
    store_.Poll();
  } while (store_.stats().transfers_pending > 0);
}

void Replayer::CountHits(const TraceRequest& request, const TokensByTier& cached) {
  ++result_.requests;
  result_.blocks += std::ssize(request.blocks);
  result_.tokens += request.input_tokens;
  const int64_t by_tier[] = {cached.device, cached.host, cached.disk};
  int64_t before = 0;
  for (size_t tier = 0; tier < result_.hits.size(); ++tier) {
    const int64_t blocks = by_tier[tier] / kStandInTokens;
    result_.hits[tier].blocks += blocks;
    result_.hits[tier].tokens +=
        request.TokensIn(before + blocks, trace_.block_tokens) - request.TokensIn(before, trace_.block_tokens);
    before += blocks;
  }
}

}  // namespace

double ReplayResult::block_hit_ratio() const {
  int64_t hit = 0;
  for (const TierHits& tier : hits) hit += tier.blocks;
  return Ratio(hit, blocks);
}

double ReplayResult::token_hit_ratio() const {
  int64_t hit = 0;
  for (const TierHits& tier : hits) hit += tier.tokens;
  return Ratio(hit, tokens);
}

absl::StatusOr<ReplayResult> Replay(const Trace& trace, const ReplayOptions& options,
                                    absl::FunctionRef<int64_t()> now_ns) {
  const PrefixStoreOptions store = {
      .block_tokens = kStandInTokens, .device_blocks = options.capacity_blocks + 1, .policy = options.policy};
  if (options.capacity_blocks < 1) {
    return absl::InvalidArgumentError("a cache of no blocks finds nothing; give it at least one");
  }
  if (options.disk_blocks > 0 && options.host_blocks == 0) {
    return absl::InvalidArgumentError("the disk is reached through host memory; give it at least one block");
  }
  if (auto status = PrefixStore::Validate(store); !status.ok()) return status;
  Replayer replayer(trace, options, store, now_ns);
  for (const TraceRequest& request : trace.requests) {
    if (auto status = replayer.Run(request); !status.ok()) return status;
  }
  return std::move(replayer).result();
}

}  // namespace headstart
