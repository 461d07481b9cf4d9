#include "gateway/services/explain_misses.h"

#include <string_view>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/insight/miss_explainer.h"
#include "gateway/services/call_guard.h"
#include "gateway/services/convert.h"
#include "gateway/services/proto_time.h"

namespace headstart {
namespace {

std::string Requests(int64_t count) { return fmt::format("{} request{}", count, count == 1 ? "" : "s"); }

std::string SentenceOf(const MissGroup& group, std::string_view first_way) {
  const std::string requests = Requests(group.requests);
  switch (group.reason) {
    case MissReason::kDiverged:
      return fmt::format("{} differ{} from {} earlier request{} at token {}: \"{}\"{}", requests,
                         group.requests == 1 ? "s" : "", group.earlier_requests, group.earlier_requests == 1 ? "" : "s",
                         group.token, first_way,
                         group.saved_by_moving_tokens == 0
                             ? ""
                             : fmt::format("; moved behind what they share, {} more tokens would have been cached",
                                           group.saved_by_moving_tokens));
    case MissReason::kEvicted:
      return fmt::format(
          "{} asked for what had been evicted: {} tokens; a larger cache, or a pinned prefix, keeps them", requests,
          group.computed_tokens);
    case MissReason::kExpired:
      return fmt::format("{} came after the time to live of what they share had passed", requests);
    case MissReason::kTierError:
      return fmt::format("{} asked for what a tier could not give back: {} tokens", requests, group.computed_tokens);
    case MissReason::kCachingOff:
      return fmt::format("{} asked not to read the cache", requests);
    case MissReason::kNew:
      return fmt::format("{} began like no other, or went on where none had", requests);
    default:
      return fmt::format("{} computed {} tokens", requests, group.computed_tokens);
  }
}

GenerationUsage AllCached(int64_t tokens) {
  GenerationUsage usage;
  usage.prompt_tokens = tokens;
  usage.cached_device_tokens = tokens;
  return usage;
}

void FillPlace(const ServiceContext& context, const MissGroup& group, v1::MissExplanation& explanation) {
  const Tokenizer& tokenizer = context.engine.tokenizer();
  explanation.set_token(group.token);
  explanation.set_earlier_requests(group.earlier_requests);
  explanation.set_text_before(tokenizer.Decode(group.before, /*with_special=*/true));
  for (const WayOn& way : group.ways) {
    v1::Divergence& divergence = *explanation.add_divergences();
    divergence.set_text(tokenizer.Decode(way.tokens, /*with_special=*/true));
    divergence.set_requests(way.prompts);
  }
}

v1::MissExplanation ToExplanation(const ServiceContext& context, const MissGroup& group) {
  v1::MissExplanation explanation;
  explanation.set_reason(ToMissReason(group.reason));
  explanation.set_requests(group.requests);
  explanation.set_computed_tokens(group.computed_tokens);
  if (group.reason == MissReason::kDiverged) FillPlace(context, group, explanation);
  explanation.set_saved_by_moving_tokens(group.saved_by_moving_tokens);
  *explanation.mutable_saved_by_moving() =
      context.accountant.Predict(context.model_name, AllCached(group.saved_by_moving_tokens));
  explanation.set_summary(
      SentenceOf(group, explanation.divergences().empty() ? "" : explanation.divergences(0).text()));
  return explanation;
}

}  // namespace

absl::Status CheckExplainMisses(const Caller& caller, const v1::ExplainMissesRequest& request) {
  if (!request.tenant().empty() && request.tenant() != caller.tenant) {
    if (auto status = RequireOperator(caller, "another tenant's misses"); !status.ok()) return status;
  }
  const int count = request.max_explanations();
  if (count >= 0 && count <= kMaxExplanations) return absl::OkStatus();
  return InvalidField("max_explanations", fmt::format("is {}; it is 0 to {}", count, kMaxExplanations));
}

v1::ExplainMissesResponse ExplainMisses(const ServiceContext& context, const std::string& tenant,
                                        int max_explanations) {
  const RememberedPrompts prompts = context.history.Of(tenant);
  v1::ExplainMissesResponse response;
  response.set_remembered_requests(static_cast<int64_t>(prompts.size()));
  if (!prompts.empty()) Set(prompts.front()->time, response.mutable_since());
  for (const MissGroup& group : ExplainMisses(prompts, max_explanations)) {
    *response.add_explanations() = ToExplanation(context, group);
  }
  return response;
}

}  // namespace headstart
