// HttpRequest and HttpResponse: what a client asked over HTTP/1.1, and a whole answer to it.
//
// Thread-safety: plain values.

#ifndef HEADSTART_GATEWAY_HTTP_HTTP_MESSAGE_H_
#define HEADSTART_GATEWAY_HTTP_HTTP_MESSAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headstart {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Of a client certificate that TLS has verified; empty without one.
struct CertificateNames {
  std::string common_name = {};        // the subject's
  std::vector<std::string> uris = {};  // among its alternative names
};

struct HttpRequest {
  std::string method;   // as sent, such as "GET"; case matters
  std::string path;     // without the query, percent signs decoded
  std::string query;    // what follows the '?', as sent
  HttpHeaders headers;  // names in lower case, in the order they were sent
  std::string body;
  std::string peer;  // such as "ipv4:127.0.0.1:51234", as gRPC names peers
  CertificateNames certificate = {};

  // The first of that name, given in lower case; empty without one.
  std::string_view Header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  HttpHeaders headers = {};  // besides those that the server writes itself
};

// "Not Found" for 404.
std::string_view HttpReason(int status);

// An error in the form that clients of the OpenAI API read: {"error": {"message": ..., "type": ...}}.
HttpResponse HttpError(int status, std::string_view message);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_HTTP_MESSAGE_H_
