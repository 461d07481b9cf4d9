#include "gateway/http/internal/local_host.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace headstart {
namespace {

// Of "name", "name:80", "[::1]" and "[::1]:80"; nothing of what is written in any other way.
std::string WithoutPort(std::string_view host) {
  const bool in_brackets = host.starts_with('[');
  const size_t end = in_brackets ? host.find(']') : host.find(':');
  if (end == std::string_view::npos) return std::string(in_brackets ? "" : host);
  const std::string_view port = host.substr(in_brackets ? end + 1 : end);
  const bool is_port = port.empty() || (port.front() == ':' && port.find_first_not_of("0123456789", 1) == port.npos);
  if (!is_port) return "";
  return std::string(in_brackets ? host.substr(1, end - 1) : host.substr(0, end));
}

}  // namespace

bool IsLocalHost(std::string_view host) {
  if (host.empty()) return true;
  std::string name = WithoutPort(host);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  in_addr address;
  const bool is_127 = inet_pton(AF_INET, name.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
  return is_127 || name == "::1" || name == "localhost" || name.ends_with(".localhost");
}

}  // namespace headstart
