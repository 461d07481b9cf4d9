// The HTTP server over TLS: certificates that change while it runs, and clients that have some of their own.

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/mutex.h"
#include "fmt/format.h"
#include "gateway/http/http_server.h"
#include "gateway/server/listen_address.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/http_client.h"
#include "tests/gateway/test_certificates.h"

namespace headstart::testing {
namespace {

namespace asio = boost::asio;
using ::testing::HasSubstr;

class HttpTlsTest : public ::testing::Test {
 protected:
  HttpTlsTest() { Set(Material(IssueTestCertificate(ca_, "first", "DNS:localhost"))); }

  static TlsMaterial Material(const TestCertificate& certificate) {
    return {.certificate_chain_pem = certificate.certificate_pem, .private_key_pem = certificate.key_pem};
  }
  void Set(TlsMaterial material) {
    MutexLock lock(mutex_);
    material_ = std::make_shared<const TlsMaterial>(std::move(material));
  }
  std::vector<std::string> events() {
    MutexLock lock(mutex_);
    return events_;
  }

  absl::Status Start() {
    HttpRouter router;
    router.Add("GET", "/who", [](const std::shared_ptr<HttpExchange>& exchange) {
      const CertificateNames& names = exchange->request().certificate;
      exchange->Send({.body = fmt::format("<{}|{}>", names.common_name, fmt::join(names.uris, ","))});
    });
    router.Add("GET", "/stream", [](const std::shared_ptr<HttpExchange>& exchange) {
      exchange->StartStream({});
      for (int i = 0; i < 1000; ++i) exchange->Write(std::string(1000, 'x'));
      exchange->Finish();
    });
    auto server = HttpServer::Start({.listen = "127.0.0.1:0",
                                     .tls =
                                         [this] {
                                           MutexLock lock(mutex_);
                                           return material_;
                                         },
                                     .header_timeout = handshake_timeout_,
                                     .on_event =
                                         [this](const std::string& event) {
                                           MutexLock lock(mutex_);
                                           events_.push_back(event);
                                         }},
                                    std::move(router));
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    return absl::OkStatus();
  }

  struct Seen {
    std::string server_name;  // the common name in the server's certificate
    std::string answer;       // all of it; empty when the server refused
  };
  Seen Ask(const std::string& path, const TestCertificate* client = nullptr) {
    asio::io_context io;
    asio::ssl::context context(asio::ssl::context::tls_client);
    context.add_certificate_authority(asio::buffer(ca_.certificate_pem));
    context.set_verify_mode(asio::ssl::verify_peer);
    if (client != nullptr) {
      context.use_certificate_chain(asio::buffer(client->certificate_pem));
      context.use_private_key(asio::buffer(client->key_pem), asio::ssl::context::pem);
    }
    asio::ssl::stream<asio::ip::tcp::socket> stream(io, context);
    const auto port = static_cast<uint16_t>(ParseListenAddress(server_->address())->port);
    stream.next_layer().connect({asio::ip::address_v4::loopback(), port});
    boost::system::error_code error;
    stream.handshake(asio::ssl::stream_base::client, error);
    if (error) return {};
    Seen seen;
    char name[64] = {};
    X509* certificate = SSL_get1_peer_certificate(stream.native_handle());
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
    X509_free(certificate);
    seen.server_name = name;
    asio::write(stream, asio::buffer(fmt::format("GET {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", path)),
                error);
    asio::read(stream, asio::dynamic_buffer(seen.answer), error);
    return seen;
  }

  absl::Duration handshake_timeout_ = absl::Seconds(30);
  const TestCertificate ca_ = MakeTestCa("ca");
  Mutex mutex_;
  std::shared_ptr<const TlsMaterial> material_;
  std::vector<std::string> events_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpTlsTest, Answers) {
  ASSERT_TRUE(Start().ok());
  EXPECT_THAT(server_->url(), ::testing::StartsWith("https://127.0.0.1:"));
  const Seen seen = Ask("/who");
  EXPECT_EQ(seen.server_name, "first");
  EXPECT_THAT(seen.answer, HasSubstr("<|>"));
  EXPECT_GT(Ask("/stream").answer.size(), 1'000'000u);
}

TEST_F(HttpTlsTest, NewConnectionsSeeTheNewCertificate) {
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Ask("/who").server_name, "first");
  Set(Material(IssueTestCertificate(ca_, "second", "DNS:localhost")));
  EXPECT_EQ(Ask("/who").server_name, "second");
}

TEST_F(HttpTlsTest, BrokenMaterialIsSaidOnceAndTheLastStays) {
  ASSERT_TRUE(Start().ok());
  TlsMaterial mismatched = Material(IssueTestCertificate(ca_, "third"));
  mismatched.private_key_pem = ca_.key_pem;
  Set(mismatched);
  EXPECT_EQ(Ask("/who").server_name, "first");
  EXPECT_EQ(Ask("/who").server_name, "first");
  EXPECT_THAT(events(), ::testing::ElementsAre(HasSubstr("private key")));
}

TEST_F(HttpTlsTest, BrokenMaterialAtTheStartIsRefused) {
  Set({.certificate_chain_pem = "nonsense", .private_key_pem = "nonsense"});
  EXPECT_TRUE(absl::IsInvalidArgument(Start()));
  TlsMaterial without_ca = Material(IssueTestCertificate(ca_, "x"));
  without_ca.require_client_certificate = true;
  Set(without_ca);
  EXPECT_TRUE(absl::IsInvalidArgument(Start()));
}

TEST_F(HttpTlsTest, ClientsWithCertificatesAreNamed) {
  TlsMaterial material = Material(IssueTestCertificate(ca_, "server"));
  material.client_ca_pem = ca_.certificate_pem;
  Set(material);
  ASSERT_TRUE(Start().ok());
  const TestCertificate by_common_name = IssueTestCertificate(ca_, "tenant-a");
  const TestCertificate by_uri = IssueTestCertificate(ca_, "x", "URI:spiffe://cluster/tenant-b");
  EXPECT_THAT(Ask("/who", &by_common_name).answer, HasSubstr("<tenant-a|>"));
  EXPECT_THAT(Ask("/who", &by_uri).answer, HasSubstr("<x|spiffe://cluster/tenant-b>"));
  EXPECT_THAT(Ask("/who").answer, HasSubstr("<|>"));
}

TEST_F(HttpTlsTest, ClientsWithoutOneOrOfAStrangersAreRefusedWhereTheyMustHaveOne) {
  TlsMaterial material = Material(IssueTestCertificate(ca_, "server"));
  material.client_ca_pem = ca_.certificate_pem;
  material.require_client_certificate = true;
  Set(material);
  ASSERT_TRUE(Start().ok());
  const TestCertificate stranger = IssueTestCertificate(MakeTestCa("other"), "tenant-a");
  const TestCertificate ours = IssueTestCertificate(ca_, "tenant-a");
  EXPECT_EQ(Ask("/who").answer, "");
  EXPECT_EQ(Ask("/who", &stranger).answer, "");
  EXPECT_THAT(Ask("/who", &ours).answer, HasSubstr("<tenant-a|>"));
}

TEST_F(HttpTlsTest, PlainTextAndSilenceAreCutOff) {
  handshake_timeout_ = absl::Milliseconds(50);
  ASSERT_TRUE(Start().ok());
  RawClient plain(server_->address());
  plain.SendRequest("GET", "/who");
  EXPECT_EQ(plain.ReadResponse().status, 0);
  RawClient silent(server_->address());
  EXPECT_TRUE(silent.IsClosed());
}

}  // namespace
}  // namespace headstart::testing
