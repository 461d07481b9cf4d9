// TlsContexts: OpenSSL contexts made of TlsMaterial, a new one whenever the material changes.
//
// Thread-safety: Current may be called from any thread.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_TLS_CONTEXTS_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_TLS_CONTEXTS_H_

#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/mutex.h"
#include "gateway/tls/tls_material.h"

namespace headstart {

// INVALID_ARGUMENT saying which part OpenSSL refuses. TLS 1.2 and up.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(const TlsMaterial& material);

class TlsContexts {
 public:
  using Source = std::function<std::shared_ptr<const TlsMaterial>()>;
  using OnEvent = std::function<void(const std::string& event)>;

  TlsContexts(Source source, OnEvent on_event) : source_(std::move(source)), on_event_(std::move(on_event)) {}

  // The error of the first material. Later ones that are broken are told to `on_event`, once each; the last good one
  // stays.
  absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> Current() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const Source source_;
  const OnEvent on_event_;
  Mutex mutex_;
  std::shared_ptr<const TlsMaterial> material_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<boost::asio::ssl::context> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_TLS_CONTEXTS_H_
