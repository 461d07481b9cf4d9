// RequestRecord: one request that ended, as the account, the metrics and the log see it.
//
// Thread-safety: plain values.

#ifndef HEADSTART_GATEWAY_ACCOUNTING_REQUEST_RECORD_H_
#define HEADSTART_GATEWAY_ACCOUNTING_REQUEST_RECORD_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "engine/generation.h"
#include "prefix_store/seconds_histogram.h"

namespace headstart {

// OpenTelemetry's for gen_ai.server.time_per_output_token, with two below: small models are faster.
inline constexpr std::array<double, 15> kTokenGapBoundsSeconds = {0.001, 0.0025, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15,
                                                                  0.2,   0.3,    0.4,  0.5,   0.75, 1,     2.5};

enum class RequestKind { kGenerate, kCreatePrefix };

// Never the prompt or the answer.
struct RequestRecord {
  RequestKind kind = RequestKind::kGenerate;
  std::string request_id;
  uint64_t request_digest = 0;  // of what was asked: tells a request tried again from another one with its id
  std::string tenant;
  std::string key_id;  // the API key's name, never the key; empty where callers need none
  std::string model;
  std::map<std::string, std::string> labels;
  absl::Time start;  // when the server got it
  absl::Time end;
  FinishReason reason = FinishReason::kStop;
  GenerationUsage usage;
  GenerationTimings timings;
  absl::Duration tokenize;                              // running the chat template and tokenizing
  SecondsHistogram token_gaps{kTokenGapBoundsSeconds};  // between tokens of the answer; likewise
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_REQUEST_RECORD_H_
