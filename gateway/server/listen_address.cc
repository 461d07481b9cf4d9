#include "gateway/server/listen_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>

#include "fmt/format.h"

namespace headstart {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr int kMaxPort = 65535;

absl::Status Bad(const std::string& text) {
  return absl::InvalidArgumentError(fmt::format(
      "\"{}\" is not an address to listen on; write host:port, such as 127.0.0.1:8700 or [::1]:8700, or unix:/path",
      text));
}

absl::Status CannotListen(const ListenAddress& address, std::string_view why) {
  return absl::InvalidArgumentError(fmt::format("cannot listen on {}: {}", address.ToString(), why));
}

std::string ErrorText(int error) { return std::generic_category().message(error); }

absl::Status InUse(const ListenAddress& address, std::string_view flag) {
  return absl::AlreadyExistsError(fmt::format(
      "{} is in use: another server listens there; stop it or choose another {}", address.ToString(), flag));
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::StatusOr<AddressList> Resolve(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) {
    return CannotListen(address,
                        fmt::format("the host \"{}\" cannot be resolved: {}", address.host, gai_strerror(error)));
  }
  return AddressList(found, &freeaddrinfo);
}

absl::Status TryBind(const addrinfo& candidate, const ListenAddress& address, std::string_view flag) {
  const int fd = socket(candidate.ai_family, candidate.ai_socktype, candidate.ai_protocol);
  if (fd < 0) return absl::OkStatus();  // a family that this machine does not have
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const int result = bind(fd, candidate.ai_addr, candidate.ai_addrlen) == 0 ? 0 : errno;
  close(fd);
  if (result == 0) return absl::OkStatus();
  return result == EADDRINUSE ? InUse(address, flag) : CannotListen(address, ErrorText(result));
}

// Whether a process listens there; a socket without one is left over from a server that is gone.
bool HasListener(const sockaddr_un& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 || errno == EAGAIN;
  close(fd);
  return connected;
}

absl::Status CheckFolderOf(const ListenAddress& address) {
  const size_t slash = address.host.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : address.host.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return CannotListen(address, fmt::format("folder {}: {}", folder, ErrorText(errno)));
}

absl::Status CheckUnixSocket(const ListenAddress& address, std::string_view flag) {
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  if (address.host.size() >= sizeof(name.sun_path)) {
    return CannotListen(address, fmt::format("the path has {} bytes, a socket's has at most {}", address.host.size(),
                                             sizeof(name.sun_path) - 1));
  }
  address.host.copy(name.sun_path, sizeof(name.sun_path) - 1);
  struct stat found;
  if (stat(name.sun_path, &found) != 0) return CheckFolderOf(address);
  if (!S_ISSOCK(found.st_mode)) return CannotListen(address, "what is there is not a socket");
  return HasListener(name) ? InUse(address, flag) : absl::OkStatus();
}

}  // namespace

std::string ListenAddress::ToString() const {
  if (is_unix_socket) return fmt::format("unix:{}", host);
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

bool ListenAddress::IsLoopback() const {
  in_addr v4;
  const bool is_127 = inet_pton(AF_INET, host.c_str(), &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
  return is_unix_socket || host == "localhost" || host == "::1" || is_127;
}

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text) {
  if (text.starts_with(kUnixPrefix)) {
    if (text.size() == kUnixPrefix.size()) return Bad(text);
    return ListenAddress{.host = text.substr(kUnixPrefix.size()), .port = 0, .is_unix_socket = true};
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return Bad(text);
  ListenAddress address{.host = text.substr(0, colon)};
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return Bad(text);
  }
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  const bool is_port = error == std::errc() && rest == end && address.port >= 0 && address.port <= kMaxPort;
  if (!is_port || address.host.empty()) return Bad(text);
  return address;
}

absl::Status CheckCanListen(const ListenAddress& address, std::string_view flag) {
  if (address.is_unix_socket) return CheckUnixSocket(address, flag);
  auto candidates = Resolve(address);
  if (!candidates.ok()) return candidates.status();
  if (address.port == 0) return absl::OkStatus();
  for (const addrinfo* candidate = candidates->get(); candidate != nullptr; candidate = candidate->ai_next) {
    if (auto status = TryBind(*candidate, address, flag); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace headstart
