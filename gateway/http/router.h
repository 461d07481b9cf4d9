// HttpRouter: which handler answers which path and method.
//
// Thread-safety: filled by one thread; Dispatch may then be called from any.
//
//   HttpRouter router;
//   router.Add("GET", "/v1/models", ListModels);
//   router.Add("GET", "/v1/models/*", GetModel);   // everything below; the handler reads the path

#ifndef HEADSTART_GATEWAY_HTTP_ROUTER_H_
#define HEADSTART_GATEWAY_HTTP_ROUTER_H_

#include <map>
#include <memory>
#include <string>

#include "gateway/http/http_exchange.h"

namespace headstart {

class HttpRouter {
 public:
  // The longest pattern that fits wins; one without a star before one with. HEAD is answered by GET's handler, without
  // the body.
  void Add(const std::string& method, const std::string& pattern, HttpHandler handler);

  // 404 for a path that nothing was added for, 405 with Allow for a method.
  void Dispatch(std::shared_ptr<HttpExchange> exchange) const;

 private:
  using Methods = std::map<std::string, HttpHandler, std::less<>>;

  const Methods* Find(const std::string& path) const;

  std::map<std::string, Methods> exact_;
  std::map<std::string, Methods> below_;  // by what stands before the star
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_ROUTER_H_
