#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "prefix_store/replay/trace.h"

namespace headstart {
namespace {

using nlohmann::json;

// Above any prompt and any clock, and low enough that sums of them cannot overflow.
constexpr double kMaxNumber = 1e15;
constexpr int64_t kMaxBlockTokens = 1 << 20;

// Names blocks from 0 in the order in which they first appear.
class BlockNames {
 public:
  std::optional<int32_t> Name(const json& id) {
    if (!id.is_number_integer()) return std::nullopt;
    const auto [entry, is_new] = names_.try_emplace(id.get<int64_t>(), static_cast<int32_t>(names_.size()));
    return entry->second;
  }
  int32_t size() const { return static_cast<int32_t>(names_.size()); }

 private:
  absl::flat_hash_map<int64_t, int32_t> names_;
};

// What the fields of a request are called.
struct RequestFields {
  const char* time;
  double time_unit_ms;
  const char* input_tokens;
  const char* output_tokens;
};
constexpr RequestFields kMooncakeFields = {"timestamp", 1, "input_length", "output_length"};
constexpr RequestFields kWekaFields = {"t", 1000, "in", "out"};

absl::StatusOr<double> Number(const json& object, const char* field, std::string_view where) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_number()) {
    return absl::InvalidArgumentError(fmt::format("{}: \"{}\" is missing or not a number", where, field));
  }
  const double value = found->get<double>();
  if (!(value >= 0 && value <= kMaxNumber)) {
    return absl::InvalidArgumentError(
        fmt::format("{}: \"{}\" is {}; it must be from 0 to {}", where, field, value, kMaxNumber));
  }
  return value;
}

absl::Status ParseNumbers(const json& object, const RequestFields& fields, std::string_view where,
                          TraceRequest& request) {
  const auto time = Number(object, fields.time, where);
  const auto input = Number(object, fields.input_tokens, where);
  const auto output = Number(object, fields.output_tokens, where);
  for (const auto& number : {time, input, output}) {
    if (!number.ok()) return number.status();
  }
  request.at_ms = std::llround(*time * fields.time_unit_ms);
  request.input_tokens = static_cast<int64_t>(*input);
  request.output_tokens = static_cast<int64_t>(*output);
  return absl::OkStatus();
}

absl::Status ParseBlocks(const json& object, std::string_view where, BlockNames& names, TraceRequest& request) {
  const auto ids = object.find("hash_ids");
  if (ids == object.end() || !ids->is_array()) {
    return absl::InvalidArgumentError(fmt::format("{}: \"hash_ids\" is missing or not a list", where));
  }
  request.blocks.reserve(ids->size());
  for (const json& id : *ids) {
    const auto name = names.Name(id);
    if (!name)
      return absl::InvalidArgumentError(fmt::format("{}: \"hash_ids\" holds {}, not an integer", where, id.dump()));
    request.blocks.push_back(*name);
  }
  return absl::OkStatus();
}

absl::Status AddRequest(const json& object, const RequestFields& fields, std::string_view where, BlockNames& names,
                        Trace& trace) {
  if (!object.is_object()) return absl::InvalidArgumentError(fmt::format("{} is not a JSON object", where));
  TraceRequest request;
  if (auto status = ParseNumbers(object, fields, where, request); !status.ok()) return status;
  if (auto status = ParseBlocks(object, where, names, request); !status.ok()) return status;
  trace.requests.push_back(std::move(request));
  return absl::OkStatus();
}

Trace Finish(Trace trace, const BlockNames& names) {
  trace.distinct_blocks = names.size();
  std::stable_sort(trace.requests.begin(), trace.requests.end(),
                   [](const TraceRequest& a, const TraceRequest& b) { return a.at_ms < b.at_ms; });
  return trace;
}

json ParseJson(std::string_view text) { return json::parse(text, nullptr, /*allow_exceptions=*/false); }

absl::StatusOr<int64_t> BlockTokens(const json& session) {
  const auto tokens = Number(session, "block_size", "the session");
  if (!tokens.ok()) return tokens.status();
  if (*tokens < 1 || *tokens > kMaxBlockTokens) {
    return absl::InvalidArgumentError(
        fmt::format("the session: \"block_size\" is {}; it must be from 1 to {}", *tokens, kMaxBlockTokens));
  }
  return static_cast<int64_t>(*tokens);
}

}  // namespace

absl::StatusOr<Trace> ParseMooncakeTrace(std::string_view text) {
  constexpr int64_t kMooncakeBlockTokens = 512;
  Trace trace{.block_tokens = kMooncakeBlockTokens, .requests = {}};
  BlockNames names;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view object = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (object.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto status = AddRequest(ParseJson(object), kMooncakeFields, fmt::format("line {}", line), names, trace);
    if (!status.ok()) return status;
  }
  return Finish(std::move(trace), names);
}

absl::StatusOr<Trace> ParseWekaSession(std::string_view text) {
  const json session = ParseJson(text);
  if (!session.is_object()) return absl::InvalidArgumentError("the session is not a JSON object");
  const auto requests = session.find("requests");
  if (requests == session.end() || !requests->is_array()) {
    return absl::InvalidArgumentError("the session: \"requests\" is missing or not a list");
  }
  const auto block_tokens = BlockTokens(session);
  if (!block_tokens.ok()) return block_tokens.status();
  Trace trace{.block_tokens = *block_tokens, .requests = {}};
  BlockNames names;
  for (const json& request : *requests) {
    const auto where = fmt::format("request {}", trace.requests.size());
    if (auto status = AddRequest(request, kWekaFields, where, names, trace); !status.ok()) return status;
  }
  return Finish(std::move(trace), names);
}

// Only a session says how large its blocks are; and only a Mooncake file has more than one object.
absl::StatusOr<Trace> ParseTrace(std::string_view text) {
  const std::string_view first_line = text.substr(0, text.find('\n'));
  const bool is_session = first_line.find("\"input_length\"") == std::string_view::npos &&
                          text.find("\"block_size\"") != std::string_view::npos;
  return is_session ? ParseWekaSession(text) : ParseMooncakeTrace(text);
}

}  // namespace headstart
