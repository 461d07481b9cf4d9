// Transport: bytes to and from one client, over TCP, a Unix socket, or TLS.
//
// Thread-safety: none; called on the thread that runs its executor, which calls the callbacks, never from within a
// call. Ownership: buffers live until their callback. Callbacks hold whoever waits for them.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_TRANSPORT_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_TRANSPORT_H_

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "gateway/http/http_message.h"

namespace headstart {

using StreamSocket = boost::asio::generic::stream_protocol::socket;

class Transport {
 public:
  using Done = std::function<void(boost::system::error_code error, size_t bytes)>;

  virtual ~Transport() = default;
  virtual void Handshake(std::function<void(boost::system::error_code error)> done) = 0;
  virtual void Read(boost::asio::mutable_buffer buffer, Done done) = 0;  // at least one byte, or an error
  virtual void Write(boost::asio::const_buffer bytes, Done done) = 0;    // as many as there is room for
  virtual void EndOutput() = 0;  // what was written arrives, then the end; reading goes on
  virtual void Close() = 0;      // what is under way ends with an error
  virtual CertificateNames PeerCertificate() const = 0;
};

std::unique_ptr<Transport> PlainTransport(StreamSocket socket);
std::unique_ptr<Transport> TlsTransport(StreamSocket socket, std::shared_ptr<boost::asio::ssl::context> context);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_TRANSPORT_H_
