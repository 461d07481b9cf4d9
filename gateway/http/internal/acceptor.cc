#include "gateway/http/internal/acceptor.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/socket_base.hpp>
#include <chrono>
#include <cstring>
#include <utility>

#include "fmt/format.h"

namespace headstart {
namespace {

using Protocol = boost::asio::generic::stream_protocol;
using boost::asio::ip::tcp;

// When the system has no more file descriptors: until some connections have ended.
constexpr std::chrono::milliseconds kRest(100);

std::string PeerName(const Protocol::endpoint& peer) {
  const sockaddr* address = peer.data();
  if (address->sa_family != AF_INET && address->sa_family != AF_INET6) return "unix:";
  tcp::endpoint endpoint;
  std::memcpy(endpoint.data(), address, std::min(peer.size(), endpoint.capacity()));
  endpoint.resize(peer.size());
  boost::asio::ip::address ip = endpoint.address();
  if (ip.is_v6() && ip.to_v6().is_v4_mapped()) {
    ip = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, ip.to_v6());
  }
  return ip.is_v4() ? fmt::format("ipv4:{}:{}", ip.to_string(), endpoint.port())
                    : fmt::format("ipv6:[{}]:{}", ip.to_string(), endpoint.port());
}

int PortOf(const Protocol::endpoint& endpoint) {
  tcp::endpoint address;
  std::memcpy(address.data(), endpoint.data(), std::min(endpoint.size(), address.capacity()));
  return address.port();
}

absl::Status CannotListen(const ListenAddress& address, const boost::system::error_code& error) {
  const std::string message = fmt::format("cannot listen on {}: {}", address.ToString(), error.message());
  return error == boost::asio::error::address_in_use ? absl::AlreadyExistsError(message)
                                                     : absl::InvalidArgumentError(message);
}

absl::StatusOr<std::vector<Protocol::endpoint>> Resolve(boost::asio::io_context& context,
                                                        const ListenAddress& address) {
  if (address.is_unix_socket) {
    unlink(address.host.c_str());  // left over: CheckCanListen found nobody listening there
    return std::vector<Protocol::endpoint>{boost::asio::local::stream_protocol::endpoint(address.host)};
  }
  boost::system::error_code error;
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive, error);
  if (error) return CannotListen(address, error);
  std::vector<Protocol::endpoint> endpoints;
  for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
  return endpoints;
}

void SetPort(int port, Protocol::endpoint& endpoint) {
  // At the same place for both families.
  reinterpret_cast<sockaddr_in*>(endpoint.data())->sin_port = htons(static_cast<uint16_t>(port));
}

}  // namespace

Acceptor::Acceptor(boost::asio::io_context& context, Socket socket)
    : socket_(std::move(socket)), rest_timer_(context) {}

absl::StatusOr<std::shared_ptr<Acceptor>> Acceptor::Open(boost::asio::io_context& context,
                                                         const Protocol::endpoint& endpoint,
                                                         const ListenAddress& address) {
  Socket socket(context);
  boost::system::error_code error;
  socket.open(endpoint.protocol(), error);
  if (!error && !address.is_unix_socket) socket.set_option(boost::asio::socket_base::reuse_address(true), error);
  if (!error) socket.bind(endpoint, error);
  if (!error) socket.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) return CannotListen(address, error);
  return std::shared_ptr<Acceptor>(new Acceptor(context, std::move(socket)));
}

absl::StatusOr<std::vector<std::shared_ptr<Acceptor>>> Acceptor::Listen(boost::asio::io_context& context,
                                                                        ListenAddress& address) {
  auto endpoints = Resolve(context, address);
  if (!endpoints.ok()) return endpoints.status();
  std::vector<std::shared_ptr<Acceptor>> acceptors;
  absl::Status failure;
  for (Protocol::endpoint& endpoint : *endpoints) {
    if (!address.is_unix_socket) SetPort(address.port, endpoint);
    auto acceptor = Open(context, endpoint, address);
    if (!acceptor.ok()) {
      failure = acceptor.status();
      continue;
    }
    if (!address.is_unix_socket) address.port = PortOf((*acceptor)->socket_.local_endpoint());
    acceptors.push_back(*std::move(acceptor));
  }
  // A machine without IPv6 still listens on localhost; an address that is in use is refused whatever else is free.
  if (acceptors.empty() || absl::IsAlreadyExists(failure)) return failure;
  return acceptors;
}

void Acceptor::Start(NextContext next, Accepted accepted) {
  next_ = std::move(next);
  accepted_ = std::move(accepted);
  boost::asio::dispatch(socket_.get_executor(), [self = shared_from_this()] { self->Accept(); });
}

void Acceptor::Close() {
  boost::asio::dispatch(socket_.get_executor(), [self = shared_from_this()] {
    self->closed_ = true;
    boost::system::error_code ignored;
    self->socket_.close(ignored);
    self->rest_timer_.cancel();
  });
}

void Acceptor::Accept() {
  if (closed_) return;
  boost::asio::io_context& context = next_();
  socket_.async_accept(context, peer_,
                       [self = shared_from_this(), &context](boost::system::error_code error, StreamSocket socket) {
                         if (self->closed_) return;
                         if (error) return self->Rest();
                         boost::system::error_code ignored;
                         socket.set_option(tcp::no_delay(true), ignored);
                         self->accepted_(context, std::move(socket), PeerName(self->peer_));
                         self->Accept();
                       });
}

void Acceptor::Rest() {
  rest_timer_.expires_after(kRest);
  rest_timer_.async_wait([self = shared_from_this()](boost::system::error_code) { self->Accept(); });
}

}  // namespace headstart
