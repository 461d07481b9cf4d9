// Acceptor: takes the connections of one listening socket, until it is closed.
//
// Thread-safety: Start and Close may be called from any thread; `accepted` is called on the executor's.
// Ownership: held by what it waits for.
// Errors: Listen gives ALREADY_EXISTS when the address is in use, else INVALID_ARGUMENT.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_ACCEPTOR_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_ACCEPTOR_H_

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gateway/http/internal/transport.h"
#include "gateway/server/listen_address.h"

namespace headstart {

class Acceptor final : public std::enable_shared_from_this<Acceptor> {
 public:
  // Where the next connection will live.
  using NextContext = std::function<boost::asio::io_context&()>;
  // `peer` is as gRPC names peers.
  using Accepted = std::function<void(boost::asio::io_context& context, StreamSocket socket, std::string peer)>;

  // One for each address that the host's name stands for. `address` gets the port that was chosen.
  static absl::StatusOr<std::vector<std::shared_ptr<Acceptor>>> Listen(boost::asio::io_context& context,
                                                                       ListenAddress& address);

  void Start(NextContext next, Accepted accepted);
  void Close();

 private:
  using Protocol = boost::asio::generic::stream_protocol;
  using Socket = boost::asio::basic_socket_acceptor<Protocol>;
  // generic::stream_protocol has no acceptor type of its own.

  Acceptor(boost::asio::io_context& context, Socket socket);
  static absl::StatusOr<std::shared_ptr<Acceptor>> Open(boost::asio::io_context& context,
                                                        const Protocol::endpoint& endpoint,
                                                        const ListenAddress& address);

  void Accept();
  void Rest();

  Socket socket_;
  boost::asio::steady_timer rest_timer_;
  Protocol::endpoint peer_;
  NextContext next_;
  Accepted accepted_;
  bool closed_ = false;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_ACCEPTOR_H_
