// A server behind TLS: who gets a connection, and which certificate it shows as files are replaced.

#include "fmt/format.h"
#include "gateway/auth/key_authenticator.h"
#include "gateway/tls/tls_files.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/rpc_testing.h"
#include "tests/gateway/tls_testing.h"
#include "tests/testing/status.h"
#include "tests/testing/temporary_folder.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class TlsServerTest : public ::testing::Test {
 protected:
  TlsServerTest() {
    Write(ca_.Issue({.common_name = "first"}));
    folder_.Write("client_ca.crt", client_ca_.certificate());
    folder_.Write("keys.yaml", fmt::format("keys:\n- {{id: a, tenant: acme, sha256: {}}}\n"
                                           "certificates:\n- {{id: billing, tenant: globex, role: operator, san_uri: "
                                           "\"spiffe://x/billing\"}}\n"
                                           "- {{id: named, tenant: initech, subject_common_name: named}}\n",
                                           ToHex(DigestOf("key-a"))));
    keys_ = *KeyFile::Open(folder_.Path("keys.yaml"), [](FileNews, const std::string&) {});
  }

  void Write(const PemPair& pair) {
    folder_.Write("tls.crt", pair.certificate);
    folder_.Write("tls.key", pair.private_key);
  }

  enum class Clients { kNotAsked, kMayHave, kMustHave };
  void Serve(Clients clients = Clients::kNotAsked) {
    files_ = *TlsFiles::Open({.certificate = folder_.Path("tls.crt"),
                              .private_key = folder_.Path("tls.key"),
                              .client_ca = clients == Clients::kNotAsked ? "" : folder_.Path("client_ca.crt"),
                              .require_client_certificate = clients == Clients::kMustHave},
                             [this](FileNews, const std::string& event) { events_.push_back(event); });
    auto engine = std::make_unique<FakeEngine>();
    engine_ = engine.get();
    ServiceHostOptions options;
    options.grpc.tls = [this] { return files_->current(); };
    served_.emplace(std::move(engine), options, std::make_unique<KeyAuthenticator>(*keys_));
  }

  // A connection of its own, as a client that trusts `root` makes it.
  grpc::Status Call(const std::string& root, const PemPair& client = {}, const std::string& key = "key-a") {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto credentials = grpc::SslCredentials(
        {.pem_root_certs = root, .pem_private_key = client.private_key, .pem_cert_chain = client.certificate});
    const auto channel = grpc::CreateCustomChannel(served_->host().server().address(), credentials, arguments);
    return CallOver(channel, key);
  }
  static grpc::Status CallOver(const std::shared_ptr<grpc::Channel>& channel, const std::string& key) {
    const auto stub = v1::InferenceService::NewStub(channel);
    grpc::ClientContext context;
    if (!key.empty()) context.AddMetadata("x-api-key", key);
    v1::CountTokensRequest request;
    request.mutable_input()->mutable_text()->set_text("x");
    v1::CountTokensResponse response;
    return stub->CountTokens(&context, request, &response);
  }

  TemporaryFolder folder_;
  TestCa ca_{"ca"};
  TestCa client_ca_{"client ca"};
  TestCa stranger_{"stranger"};
  std::unique_ptr<KeyFile> keys_;
  std::unique_ptr<TlsFiles> files_;
  std::vector<std::string> events_;
  FakeEngine* engine_ = nullptr;
  std::optional<ServedEngine> served_;
};

TEST_F(TlsServerTest, ServesThoseWhoTrustIt) {
  Serve();
  const grpc::Status served = Call(ca_.certificate());
  EXPECT_TRUE(served.ok()) << served.error_message();
  EXPECT_EQ(Call(stranger_.certificate()).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsServerTest, DoesNotTalkInTheClear) {
  Serve();
  const auto channel = grpc::CreateChannel(served_->host().server().address(), grpc::InsecureChannelCredentials());
  EXPECT_EQ(CallOver(channel, "key-a").error_code(), grpc::StatusCode::UNAVAILABLE);
}

// Each pair is of another authority, so that a client that gets through has seen the new one.
TEST_F(TlsServerTest, NewConnectionsSeeWhatIsRightNow) {
  Serve();
  ASSERT_TRUE(Call(ca_.certificate()).ok());
  TestCa next("next");
  Write(next.Issue({.common_name = "second"}));
  EXPECT_TRUE(Call(ca_.certificate()).ok());  // nobody has looked yet
  files_->Refresh();
  EXPECT_TRUE(Call(next.certificate()).ok());
  EXPECT_EQ(Call(ca_.certificate()).error_code(), grpc::StatusCode::UNAVAILABLE);

  folder_.Write("tls.key", "broken");
  events_.clear();
  files_->Refresh();
  EXPECT_THAT(events_, ::testing::ElementsAre(HasSubstr("tls.key has no PEM private key")));
  EXPECT_TRUE(Call(next.certificate()).ok());
}

TEST_F(TlsServerTest, ConnectionsThatStandAreNotTouched) {
  Serve();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel = grpc::CreateCustomChannel(served_->host().server().address(),
                                                 grpc::SslCredentials({ca_.certificate(), "", ""}), arguments);
  ASSERT_TRUE(CallOver(channel, "key-a").ok());
  TestCa next("next");
  Write(next.Issue({.common_name = "second"}));
  files_->Refresh();
  EXPECT_TRUE(CallOver(channel, "key-a").ok());
}

TEST_F(TlsServerTest, ClientsWithoutACertificateAreTurnedAwayWhereOneIsRequired) {
  Serve(Clients::kMustHave);
  const PemPair known = client_ca_.Issue({.common_name = "someone"});
  const PemPair unknown = stranger_.Issue({.common_name = "someone"});
  EXPECT_TRUE(Call(ca_.certificate(), known).ok());
  EXPECT_EQ(Call(ca_.certificate()).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Call(ca_.certificate(), unknown).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsServerTest, CertificatesStandInForAKey) {
  Serve(Clients::kMayHave);
  EXPECT_TRUE(Call(ca_.certificate()).ok());  // with a key, without a certificate
  const PemPair billing = client_ca_.Issue({.common_name = "x", .alternative_names = "URI:spiffe://x/billing"});
  ASSERT_TRUE(Call(ca_.certificate(), billing, "").ok());
  EXPECT_EQ(engine_->last_predicted_scope(), Scope::Tenant("globex"));
  const PemPair named = client_ca_.Issue({.common_name = "named"});
  ASSERT_TRUE(Call(ca_.certificate(), named, "").ok());
  EXPECT_EQ(engine_->last_predicted_scope(), Scope::Tenant("initech"));
  ASSERT_TRUE(Call(ca_.certificate(), named, "key-a").ok());
  EXPECT_EQ(engine_->last_predicted_scope(), Scope::Tenant("acme"));
}

TEST_F(TlsServerTest, NamesOfAnotherKindOrAuthorityAreNobodys) {
  Serve(Clients::kMayHave);
  for (const CertificateSpec& spec : {CertificateSpec{.common_name = "spiffe://x/billing"},
                                      CertificateSpec{.common_name = "x", .alternative_names = "DNS:named"},
                                      CertificateSpec{.common_name = "x", .alternative_names = "URI:named"},
                                      CertificateSpec{.common_name = "named.example"}}) {
    const grpc::Status status = Call(ca_.certificate(), client_ca_.Issue(spec), "");
    EXPECT_EQ(ReasonOf(status), "CREDENTIAL_MISSING") << spec.common_name << ' ' << spec.alternative_names;
  }
  const PemPair forged = stranger_.Issue({.common_name = "named"});
  EXPECT_FALSE(Call(ca_.certificate(), forged, "").ok());
}

}  // namespace
}  // namespace headstart::testing
