#include <boost/asio/post.hpp>
#include <utility>

#include "gateway/http/internal/transport.h"

namespace headstart {
namespace {

class PlainTransportImpl final : public Transport {
 public:
  explicit PlainTransportImpl(StreamSocket socket) : socket_(std::move(socket)) {}

  void Handshake(std::function<void(boost::system::error_code)> done) override {
    boost::asio::post(socket_.get_executor(), [done = std::move(done)] { done({}); });
  }
  void Read(boost::asio::mutable_buffer buffer, Done done) override {
    socket_.async_read_some(buffer, std::move(done));
  }
  void Write(boost::asio::const_buffer bytes, Done done) override { socket_.async_write_some(bytes, std::move(done)); }
  void EndOutput() override {
    boost::system::error_code ignored;
    socket_.shutdown(StreamSocket::shutdown_send, ignored);
  }
  void Close() override {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }
  CertificateNames PeerCertificate() const override { return {}; }

 private:
  StreamSocket socket_;
};

}  // namespace

std::unique_ptr<Transport> PlainTransport(StreamSocket socket) {
  return std::make_unique<PlainTransportImpl>(std::move(socket));
}

}  // namespace headstart
