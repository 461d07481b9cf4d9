#include "gateway/http/router.h"

#include <utility>

#include "fmt/format.h"

namespace headstart {
namespace {

std::string AllowedMethods(const std::map<std::string, HttpHandler, std::less<>>& methods) {
  std::string allowed;
  for (const auto& [method, handler] : methods) allowed += (allowed.empty() ? "" : ", ") + method;
  return methods.contains("GET") ? allowed + ", HEAD" : allowed;
}

}  // namespace

void HttpRouter::Add(const std::string& method, const std::string& pattern, HttpHandler handler) {
  const bool has_star = pattern.ends_with('*');
  auto& methods = has_star ? below_[pattern.substr(0, pattern.size() - 1)] : exact_[pattern];
  methods[method] = std::move(handler);
}

const HttpRouter::Methods* HttpRouter::Find(const std::string& path) const {
  if (const auto found = exact_.find(path); found != exact_.end()) return &found->second;
  const Methods* longest = nullptr;
  for (const auto& [prefix, methods] : below_) {  // in order: a longer prefix comes after those that it begins with
    if (path.starts_with(prefix)) longest = &methods;
  }
  return longest;
}

void HttpRouter::Dispatch(std::shared_ptr<HttpExchange> exchange) const {
  const HttpRequest& request = exchange->request();
  const Methods* methods = Find(request.path);
  if (methods == nullptr) {
    return exchange->Send(HttpError(404, fmt::format("there is nothing at {}", request.path)));
  }
  const auto handler = methods->find(request.method == "HEAD" ? "GET" : request.method);
  if (handler != methods->end()) return handler->second(std::move(exchange));
  const std::string allowed = AllowedMethods(*methods);
  HttpResponse refusal = HttpError(405, fmt::format("{} takes {}, not {}", request.path, allowed, request.method));
  refusal.headers.emplace_back("Allow", allowed);
  exchange->Send(std::move(refusal));
}

}  // namespace headstart
