#include "gateway/server/malformed_requests.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/errors/grpc_status.h"
#include "google/protobuf/descriptor.h"

namespace headstart {
namespace {

namespace hooks = grpc::experimental;

// Whether "/package.Service/Method" is a method that this program knows; of others, UNIMPLEMENTED is the truth.
bool IsKnown(std::string_view path) {
  std::string name(path.substr(std::min<size_t>(1, path.size())));
  std::ranges::replace(name, '/', '.');
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name) != nullptr;
}

grpc::Status Malformed(const char* method) {
  const auto status = absl::InvalidArgumentError(
      fmt::format("the request of {} cannot be parsed; it is not the protocol buffer that the method takes, or one of "
                  "its strings is not UTF-8",
                  method));
  return ToGrpcStatus(WithReason(status, "MALFORMED_REQUEST"));
}

class Explainer final : public hooks::Interceptor {
 public:
  explicit Explainer(const char* method) : method_(method) {}

  void Intercept(hooks::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(hooks::InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = methods->GetSendStatus();
      const bool is_wordless = status.error_code() == grpc::StatusCode::UNIMPLEMENTED && status.error_message().empty();
      if (is_wordless && IsKnown(method_)) methods->ModifySendStatus(Malformed(method_));
    }
    methods->Proceed();
  }

 private:
  const char* method_;  // gRPC's, for as long as the server lives
};

class Factory final : public hooks::ServerInterceptorFactoryInterface {
 public:
  hooks::Interceptor* CreateServerInterceptor(hooks::ServerRpcInfo* call) override {
    return new Explainer(call->method());
  }
};

}  // namespace

std::unique_ptr<hooks::ServerInterceptorFactoryInterface> ExplainMalformedRequests() {
  return std::make_unique<Factory>();
}

}  // namespace headstart
