#include "gateway/http/internal/local_host.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace headstart {
namespace {

std::string WithoutPort(std::string_view host) {
  if (host.starts_with('[')) return std::string(host.substr(1, host.find(']') - 1));
  return std::string(host.substr(0, host.find(':')));
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
