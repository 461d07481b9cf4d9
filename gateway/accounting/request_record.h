// RequestRecord: one request that ended, as the account, the metrics and the log see it.
//
// Thread-safety: plain values.

#ifndef HEADSTART_GATEWAY_ACCOUNTING_REQUEST_RECORD_H_
#define HEADSTART_GATEWAY_ACCOUNTING_REQUEST_RECORD_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "engine/generation.h"

namespace headstart {

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
  GenerationTimings timings;  // zero for kCreatePrefix: the engine does not tell
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_REQUEST_RECORD_H_
