#include "gateway/openai/openai_request.h"

#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/openai/body_fields.h"
#include "gateway/openai/chat_input.h"
#include "gateway/openai/json_scan.h"
#include "gateway/services/limits.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::json;

// What OpenAI gives to a completion that does not say how long it may be. Chats go on to the end of the context.
constexpr int64_t kDefaultCompletionTokens = 16;

constexpr int64_t kSecondsPerDay = 24 * 60 * 60;
constexpr double kMaxTtlSeconds = 10.0 * 365 * kSecondsPerDay;  // longer is as good as without end

constexpr std::string_view kNotDone = "is not something that this server does";

absl::StatusOr<Json> ParseBody(std::string_view body) {
  if (auto status = CheckJsonSize(body); !status.ok()) return status;
  Json value;
  try {
    value = Json::parse(body);
  } catch (const Json::parse_error& error) {
    return InvalidField("body", fmt::format("is not valid JSON in UTF-8 at byte {}", error.byte));
  } catch (const Json::exception&) {
    return InvalidField("body", "has a number that is out of range");
  }
  if (!value.is_object()) return InvalidField("body", "is not a JSON object");
  return value;
}

void TakeSampling(BodyFields& fields, v1::Sampling& sampling) {
  const auto real = [&fields](std::string_view name, auto set) {
    if (const auto value = fields.Number(name)) set(static_cast<float>(*value));
  };
  real("temperature", [&](float value) { sampling.set_temperature(value); });
  real("top_p", [&](float value) { sampling.set_top_p(value); });
  real("min_p", [&](float value) { sampling.set_min_p(value); });
  real("repetition_penalty", [&](float value) { sampling.set_repetition_penalty(value); });
  real("frequency_penalty", [&](float value) { sampling.set_frequency_penalty(value); });
  real("presence_penalty", [&](float value) { sampling.set_presence_penalty(value); });
  if (const auto seed = fields.Integer("seed")) sampling.set_seed(static_cast<uint64_t>(*seed));
  if (const auto top_k = fields.Integer("top_k")) {
    // −1 is how others write that it is off.
    if (*top_k < -1 || *top_k > INT32_MAX) return fields.Fail("top_k", "is out of its range: -1 or 0 is off");
    sampling.set_top_k(static_cast<int32_t>(*top_k == -1 ? 0 : *top_k));
  }
}

void TakeStop(BodyFields& fields, OpenAiRequest& request) {
  const Json* stop = fields.Any("stop");
  if (stop == nullptr) return;
  if (stop->is_string()) {
    request.names.Set("stop[0]", "stop");
    return request.generate.add_stop(stop->get<std::string>());
  }
  if (!stop->is_array()) return fields.Fail("stop", "is neither a string nor a list of strings");
  for (const Json& item : *stop) {
    if (!item.is_string()) return fields.Fail(fmt::format("stop[{}]", request.generate.stop_size()), "is not a string");
    request.generate.add_stop(item.get<std::string>());
  }
}

void TakeLabel(BodyFields& fields, std::string_view name, OpenAiRequest& request) {
  auto value = fields.String(name);
  if (!value) return;
  (*request.generate.mutable_labels())[std::string(name)] = *std::move(value);
  request.names.Set(fmt::format("labels.{}", name), name);
}

void TakeLabels(BodyFields& fields, OpenAiRequest& request) {
  if (const Json* metadata = fields.Object("metadata")) {
    for (const auto& [key, value] : metadata->items()) {
      if (!value.is_string()) return fields.Fail("metadata", fmt::format("has \"{}\", which is not a string", key));
      (*request.generate.mutable_labels())[key] = value.get<std::string>();
    }
  }
  TakeLabel(fields, "user", request);
  TakeLabel(fields, "prompt_cache_key", request);
}

void TakePriority(BodyFields& fields, v1::CacheControl& cache) {
  const auto priority = fields.String("priority");
  if (!priority || *priority == "normal") return;
  if (*priority != "low" && *priority != "high") return fields.Fail("priority", "is none of low, normal and high");
  cache.set_priority(*priority == "low" ? v1::CACHE_PRIORITY_LOW : v1::CACHE_PRIORITY_HIGH);
}

void TakeTtl(BodyFields& fields, v1::CacheControl& cache) {
  const auto seconds = fields.Number("ttl_seconds");
  if (!seconds) return;
  if (!(*seconds > 0) || *seconds > kMaxTtlSeconds)
    return fields.Fail("ttl_seconds", "is not above 0, and at most ten years");
  constexpr double kNanos = 1e9;
  cache.mutable_ttl()->set_seconds(static_cast<int64_t>(*seconds));
  cache.mutable_ttl()->set_nanos(static_cast<int32_t>((*seconds - std::floor(*seconds)) * kNanos));
}

void TakeRetention(BodyFields& fields, v1::CacheControl& cache) {
  const auto retention = fields.String("prompt_cache_retention");
  if (!retention || *retention == "in_memory" || *retention == "in-memory") return;
  if (*retention != "24h") return fields.Fail("prompt_cache_retention", "is neither in_memory nor 24h");
  cache.mutable_ttl()->set_seconds(kSecondsPerDay);
}

void TakeCache(BodyFields& fields, v1::CacheControl& cache) {
  TakeRetention(fields, cache);
  const Json* object = fields.Object("cache");
  if (object == nullptr) return;
  BodyFields control(*object, "cache");
  control.TakeOnly({"read", "write", "priority", "ttl_seconds"});
  if (const auto read = control.Bool("read")) cache.set_read(*read);
  if (const auto write = control.Bool("write")) cache.set_write(*write);
  TakePriority(control, cache);
  TakeTtl(control, cache);
  fields.Fail(control.status());
}

void TakeStream(BodyFields& fields, OpenAiRequest& request) {
  request.stream = fields.Bool("stream").value_or(false);
  const Json* options = fields.Object("stream_options");
  if (options == nullptr) return;
  BodyFields stream(*options, "stream_options");
  request.include_usage = stream.Bool("include_usage").value_or(false);
  fields.Fail(stream.status());
}

void TakeChoices(BodyFields& fields, int max_choices, OpenAiRequest& request) {
  const auto choices = fields.Integer("n");
  if (!choices) return;
  if (*choices < 1 || *choices > max_choices) {
    return fields.Fail("n", fmt::format("is {}; this server takes 1 to {}", *choices, max_choices));
  }
  request.choices = static_cast<int>(*choices);
}

void TakeMaxTokens(BodyFields& fields, OpenAiRequest& request) {
  const auto limit = fields.Integer("max_completion_tokens");
  const auto old_limit = fields.Integer("max_tokens");
  if (limit) request.names.Set("max_tokens", "max_completion_tokens");
  if (limit && old_limit && *old_limit < 1)
    return fields.Fail("max_tokens", fmt::format("is {}; it is at least 1, or unset", *old_limit));
  if (limit || old_limit) request.generate.set_max_tokens(limit ? *limit : *old_limit);
}

void TakeChatLogprobs(BodyFields& fields, v1::GenerateRequest& request) {
  request.set_logprobs(fields.Bool("logprobs").value_or(false));
  const auto top = fields.Integer("top_logprobs");
  if (!top) return;
  if (*top < 0 || *top > kMaxTopLogprobs)
    return fields.Fail("top_logprobs", fmt::format("is not 0 to {}", kMaxTopLogprobs));
  request.set_top_logprobs(static_cast<int32_t>(*top));
}

void TakeCompletionLogprobs(BodyFields& fields, v1::GenerateRequest& request) {
  const auto top = fields.Integer("logprobs");
  if (!top) return;
  if (*top < 0 || *top > kMaxTopLogprobs)
    return fields.Fail("logprobs", fmt::format("is not 0 to {}", kMaxTopLogprobs));
  request.set_logprobs(true);
  request.set_top_logprobs(static_cast<int32_t>(*top));
}

// What would change the answer, and is not done.
void RefuseWhatIsNotDone(BodyFields& fields) {
  if (const Json* bias = fields.Any("logit_bias"); bias != nullptr && !bias->empty())
    fields.Fail("logit_bias", kNotDone);
  if (fields.Integer("best_of").value_or(1) != 1) fields.Fail("best_of", kNotDone);
}

void TakeCommon(BodyFields& fields, int max_choices, OpenAiRequest& request) {
  v1::GenerateRequest& generate = request.generate;
  generate.set_model(fields.String("model").value_or(""));
  TakeSampling(fields, *generate.mutable_sampling());
  TakeMaxTokens(fields, request);
  TakeStop(fields, request);
  generate.set_ignore_eos(fields.Bool("ignore_eos").value_or(false));
  TakeLabels(fields, request);
  TakeCache(fields, *generate.mutable_cache());
  TakeStream(fields, request);
  TakeChoices(fields, max_choices, request);
  RefuseWhatIsNotDone(fields);
}

void TakeTokenIds(BodyFields& fields, const Json& ids, v1::TokensInput& tokens) {
  for (const Json& id : ids) {
    const bool is_id = id.is_number_integer() && id.get<double>() >= 0 && id.get<double>() <= INT32_MAX;
    if (!is_id) return fields.Fail(fmt::format("prompt[{}]", tokens.ids_size()), "is not a token id");
    tokens.add_ids(id.get<int32_t>());
  }
}

void TakePrompt(BodyFields& fields, v1::Input& input) {
  const Json* prompt = fields.Any("prompt");
  if (prompt == nullptr) return fields.Fail("prompt", "is missing");
  const bool is_list_of_one = prompt->is_array() && prompt->size() == 1 && !prompt->front().is_number();
  if (is_list_of_one) prompt = &prompt->front();
  if (prompt->is_string()) {
    input.mutable_text()->set_text(prompt->get<std::string>());
  } else if (prompt->is_array() && (prompt->empty() || prompt->front().is_number())) {
    TakeTokenIds(fields, *prompt, *input.mutable_tokens());
  } else if (prompt->is_array()) {
    fields.Fail("prompt", "has several prompts; send a request for each, and what they share is computed once");
  } else {
    fields.Fail("prompt", "is neither a string nor a list of token ids");
  }
}

void TakeCompletion(BodyFields& fields, OpenAiRequest& request) {
  request.names.Set("input", "prompt");
  TakePrompt(fields, *request.generate.mutable_input());
  TakeCompletionLogprobs(fields, request.generate);
  if (!request.generate.has_max_tokens()) request.generate.set_max_tokens(kDefaultCompletionTokens);
  if (fields.Bool("echo").value_or(false)) fields.Fail("echo", kNotDone);
  if (!fields.String("suffix").value_or("").empty()) fields.Fail("suffix", kNotDone);
}

void TakeChat(BodyFields& fields, OpenAiRequest& request) {
  request.names.Set("input", "messages");
  request.tools = TakeChatInput(fields, *request.generate.mutable_input()->mutable_chat());
  request.parallel_tool_calls = fields.Bool("parallel_tool_calls").value_or(true);
  TakeChatLogprobs(fields, request.generate);
}

}  // namespace

absl::StatusOr<OpenAiRequest> ParseOpenAiRequest(OpenAiApi api, std::string_view body, int max_choices) {
  const auto json = ParseBody(body);
  if (!json.ok()) return json.status();
  BodyFields fields(*json);
  OpenAiRequest request;
  request.api = api;
  TakeCommon(fields, max_choices, request);
  if (api == OpenAiApi::kChatCompletions) {
    TakeChat(fields, request);
  } else {
    TakeCompletion(fields, request);
  }
  if (!fields.status().ok()) return fields.status();
  return request;
}

}  // namespace headstart
