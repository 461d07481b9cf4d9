// OpenAiCall: one completion that was asked for over HTTP, from its parsed request to the last byte of its answer. Each
// of its choices is a session of its own.
//
//   waiting ──(the first session starts)──▶ streaming ──(the last one ends)──▶ done
//      ├──────────(all have ended: the whole answer)────────────────────────────▶ done
//      └──────────(one is refused or cut short: an error; the others are cancelled)──▶ done
//
// Thread-safety: events come from workers, the engine's thread and the account's; mutex_ guards what they share.
// Ownership: held by its sessions' events, and so until the last of them has ended. Service context and encoder outlive
// the engine.
//
// A stream's status and headers are sent when its first session starts, so that what is refused before has a status of
// its own; later errors are an event.

#ifndef HEADSTART_GATEWAY_OPENAI_OPENAI_CALL_H_
#define HEADSTART_GATEWAY_OPENAI_OPENAI_CALL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "gateway/auth/authenticator.h"
#include "gateway/http/http_exchange.h"
#include "gateway/openai/choice_answer.h"
#include "gateway/openai/completion_json.h"
#include "gateway/openai/openai_request.h"
#include "gateway/services/generation_session.h"

namespace headstart {

class OpenAiCall final : public std::enable_shared_from_this<OpenAiCall> {
 public:
  struct Parts {
    const ServiceContext& context;
    const InputEncoder& encoder;
    ToolCallFormat tool_call_format;
  };
  // REQUIRES: request.generate passed CheckGenerate.
  static void Start(const Parts& parts, std::shared_ptr<HttpExchange> exchange, const Caller& caller,
                    OpenAiRequest request);

 private:
  class Events;
  struct Choice {
    ChoiceAnswer answer;
    ChoiceAnswer::Added whole;  // without `stream`: what it has so far
    size_t offset = 0;          // of the next token with log-probabilities
    std::string request_id = {};
    std::optional<SessionEvents::Finished> finished = std::nullopt;
  };

  OpenAiCall(const Parts& parts, std::shared_ptr<HttpExchange> exchange, OpenAiRequest request);

  void StartSessions(const Caller& caller);
  std::shared_ptr<const v1::GenerateRequest> RequestOf(int choice) const;
  void CancelAll() ABSL_LOCKS_EXCLUDED(mutex_);

  void OnStarted(int choice, const SessionEvents::Started& started) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDelta(int choice, GenerationDelta delta) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnFinished(int choice, const SessionEvents::Finished& finished) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnFailed(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  void Begin(const SessionEvents::Started& started) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Add(int choice, ChoiceAnswer::Added added) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(const std::string& events) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Complete() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<ChoiceUsage> Usage() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Parts parts_;
  const std::shared_ptr<HttpExchange> exchange_;
  const OpenAiRequest request_;

  mutable Mutex mutex_;
  std::optional<CompletionJson> json_ ABSL_GUARDED_BY(mutex_);  // from the first start on
  HttpHeaders headers_ ABSL_GUARDED_BY(mutex_);
  std::vector<Choice> choices_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<GenerationSession>> sessions_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;  // of a stream: its client
  bool done_ ABSL_GUARDED_BY(mutex_) = false;  // answered, with whatever: what comes later is of no interest
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_OPENAI_CALL_H_
