#include "gateway/openai/usage_json.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "absl/time/time.h"
#include "gateway/services/convert.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

std::string MissReasonName(MissReason reason) {
  constexpr std::string_view kPrefix = "MISS_REASON_";
  std::string name = v1::MissReason_Name(ToMissReason(reason)).substr(kPrefix.size());
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

Json TimingsJson(const GenerationTimings& timings) {
  return {{"queue_ms", absl::ToDoubleMilliseconds(timings.queue)},
          {"load_ms", absl::ToDoubleMilliseconds(timings.load)},
          {"prefill_ms", absl::ToDoubleMilliseconds(timings.prefill)},
          {"time_to_first_token_ms", absl::ToDoubleMilliseconds(timings.ttft)},
          {"decode_ms", absl::ToDoubleMilliseconds(timings.decode)},
          {"total_ms", absl::ToDoubleMilliseconds(timings.total)}};
}

Json CostJson(const v1::Charge& charge) {
  return {{"currency", charge.currency()},
          {"price_version", charge.price_version()},
          {"cost_nanos", charge.cost_nanos()},
          {"cost_without_cache_nanos", charge.cost_without_cache_nanos()},
          {"saved_nanos", charge.saved_nanos()}};
}

Json TiersJson(const GenerationUsage& usage) {
  return {{"device", usage.cached_device_tokens},
          {"host", usage.cached_host_tokens},
          {"disk", usage.cached_disk_tokens},
          {"remote", usage.cached_remote_tokens}};
}

Json RequestJson(const ChoiceUsage& choice) {
  const GenerationUsage& usage = choice.finished.usage;
  const v1::Receipt& receipt = choice.finished.receipt;
  return {{"request_id", choice.request_id},
          {"prompt_tokens", usage.prompt_tokens},
          {"cached_tokens", usage.cached_tokens()},
          {"cached_by_tier", TiersJson(usage)},
          {"computed_prompt_tokens", usage.computed_prompt_tokens},
          {"cache_write_tokens", usage.cache_write_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"recomputed_tokens", usage.recomputed_tokens},
          {"miss_reason", MissReasonName(usage.miss_reason)},
          {"timings", TimingsJson(choice.finished.timings)},
          {"cost", CostJson(receipt.charge())},
          {"recorded", receipt.recorded()},
          {"repeated", receipt.repeated()},
          {"budget_warning", receipt.budget_warning()}};
}

// All choices are charged in the same currency, or within one change of prices: then the first one's name stands.
v1::Charge TotalCharge(const std::vector<ChoiceUsage>& choices) {
  v1::Charge total = choices.front().finished.receipt.charge();
  for (size_t i = 1; i < choices.size(); ++i) {
    const v1::Charge& charge = choices[i].finished.receipt.charge();
    total.set_cost_nanos(total.cost_nanos() + charge.cost_nanos());
    total.set_cost_without_cache_nanos(total.cost_without_cache_nanos() + charge.cost_without_cache_nanos());
    total.set_saved_nanos(total.saved_nanos() + charge.saved_nanos());
  }
  return total;
}

Json HeadstartJson(const std::vector<ChoiceUsage>& choices) {
  Json result = RequestJson(choices.front());
  if (choices.size() == 1) return result;
  result["cost"] = CostJson(TotalCharge(choices));
  for (const ChoiceUsage& choice : choices) result["requests"].push_back(RequestJson(choice));
  return result;
}

}  // namespace

Json UsageJson(const std::vector<ChoiceUsage>& choices) {
  const GenerationUsage& first = choices.front().finished.usage;
  int64_t completion_tokens = 0;
  for (const ChoiceUsage& choice : choices) completion_tokens += choice.finished.usage.completion_tokens;
  return {{"prompt_tokens", first.prompt_tokens},
          {"completion_tokens", completion_tokens},
          {"total_tokens", first.prompt_tokens + completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", first.cached_tokens()}, {"audio_tokens", 0}}},
          {"completion_tokens_details",
           {{"reasoning_tokens", 0},
            {"audio_tokens", 0},
            {"accepted_prediction_tokens", 0},
            {"rejected_prediction_tokens", 0}}},
          {"headstart", HeadstartJson(choices)}};
}

}  // namespace headstart
