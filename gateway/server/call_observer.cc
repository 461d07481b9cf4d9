#include "gateway/server/call_observer.h"

#include <algorithm>
#include <string>

#include "google/protobuf/descriptor.h"

namespace headstart {
namespace {

namespace hooks = grpc::experimental;

// Of "package.Service/Method".
bool IsKnown(std::string_view method) {
  std::string name(method);
  std::ranges::replace(name, '/', '.');
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name) != nullptr;
}

class Teller final : public hooks::Interceptor {
 public:
  Teller(CallObserver& observer, std::string_view method) : observer_(observer), method_(method) {}

  void Intercept(hooks::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(hooks::InterceptionHookPoints::PRE_SEND_STATUS)) {
      observer_.OnCallAnswered(method_, methods->GetSendStatus().error_code());
    }
    methods->Proceed();
  }

 private:
  CallObserver& observer_;
  const std::string_view method_;  // gRPC's, for as long as the server lives
};

class Factory final : public hooks::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(CallObserver& observer) : observer_(observer) {}

  hooks::Interceptor* CreateServerInterceptor(hooks::ServerRpcInfo* call) override {
    std::string_view method(call->method());
    if (method.starts_with('/')) method.remove_prefix(1);
    return IsKnown(method) ? new Teller(observer_, method) : nullptr;
  }

 private:
  CallObserver& observer_;
};

}  // namespace

std::unique_ptr<hooks::ServerInterceptorFactoryInterface> ObserveCalls(CallObserver& observer) {
  return std::make_unique<Factory>(observer);
}

}  // namespace headstart
