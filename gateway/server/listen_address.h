// Listen addresses: what they mean, who can reach them, and whether they are free.
//
// Thread-safety: free functions.

#ifndef HEADSTART_GATEWAY_SERVER_LISTEN_ADDRESS_H_
#define HEADSTART_GATEWAY_SERVER_LISTEN_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace headstart {

struct ListenAddress {
  std::string host;  // without brackets; the path of a Unix socket
  int port = 0;      // 0: whichever is free
  bool is_unix_socket = false;

  // As gRPC takes it.
  std::string ToString() const;
  // Only this machine's own processes can reach it.
  bool IsLoopback() const;
};

// "127.0.0.1:8700", "[::1]:8700", "localhost:0", "unix:/run/headstart.sock". INVALID_ARGUMENT saying what is wrong.
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

// ALREADY_EXISTS when something listens there, INVALID_ARGUMENT when the host is unknown or not this machine's. A
// moment's truth: it lets a server refuse before it spends a minute loading a model. `flag` is where another address
// would be given.
absl::Status CheckCanListen(const ListenAddress& address, std::string_view flag = "--listen");

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVER_LISTEN_ADDRESS_H_
