// The command line against a server with keys and TLS, and `headstart key`.

#include <algorithm>

#include "fmt/format.h"
#include "gateway/auth/key_authenticator.h"
#include "gateway/cli/commands.h"
#include "gateway/tls/tls_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/program_testing.h"
#include "tests/gateway/rpc_testing.h"
#include "tests/gateway/tls_testing.h"
#include "tests/testing/status.h"
#include "tests/testing/temporary_folder.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

class KeyCommandTest : public ::testing::Test {
 protected:
  std::string File() const { return folder_.Path("keys.yaml"); }
  KeyTable Table() const { return *KeyTable::Parse(folder_.Read("keys.yaml")); }

  TemporaryFolder folder_;
};

TEST_F(KeyCommandTest, CreatesListsAndRevokes) {
  const Result created =
      RunProgram({"key", "create", "--id", "ci", "--tenant", "acme", "--expires", "90d", "--file", File()});
  ASSERT_EQ(created.exit_code, kExitOk) << created.err;
  const std::string key = FirstLine(created.out);
  EXPECT_THAT(created.err, HasSubstr("shown this once"));
  EXPECT_THAT(folder_.Read("keys.yaml"), Not(HasSubstr(key)));
  const KeyTable table = Table();
  const KeyEntry* entry = table.FindKey(DigestOf(key));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->caller.tenant, "acme");
  EXPECT_GT(entry->expires, absl::Now() + absl::Hours(24 * 89));
  EXPECT_LT(entry->expires, absl::Now() + absl::Hours(24 * 91));

  ASSERT_EQ(
      RunProgram({"key", "create", "--id", "ops", "--tenant", "p", "--role", "operator", "--file", File()}).exit_code,
      kExitOk);
  const Result listed = RunProgram({"key", "list", "--file", File()});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("ci"), HasSubstr("ops"), HasSubstr("operator"), HasSubstr("never")));
  ASSERT_EQ(RunProgram({"key", "revoke", "ci", "--file", File()}).exit_code, kExitOk);
  EXPECT_EQ(Table().FindKey(DigestOf(key)), nullptr);
  EXPECT_EQ(Table().keys().size(), 1);
}

TEST_F(KeyCommandTest, WithoutAFileTheLinesArePrinted) {
  const Result created = RunProgram({"key", "create", "--id", "ci", "--tenant", "acme"});
  ASSERT_EQ(created.exit_code, kExitOk) << created.err;
  EXPECT_THAT(created.err, HasSubstr(ToHex(DigestOf(FirstLine(created.out)))));
}

TEST_F(KeyCommandTest, WhatIsRefusedChangesNothing) {
  ASSERT_EQ(RunProgram({"key", "create", "--id", "ci", "--tenant", "acme", "--file", File()}).exit_code, kExitOk);
  const std::string before = folder_.Read("keys.yaml");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"key", "create", "--id", "ci", "--tenant", "acme"}, "\"ci\""},
      {{"key", "create", "--id", "a b", "--tenant", "acme"}, "--id"},
      {{"key", "create", "--id", "x\"\n- id: y", "--tenant", "acme"}, "--id"},
      {{"key", "create", "--id", "x", "--tenant", ""}, "--tenant"},
      {{"key", "create", "--id", "x", "--tenant", "acme", "--expires", "soon"}, "--expires"},
      {{"key", "create", "--id", "x", "--tenant", "acme", "--expires", "-1d"}, "--expires"},
      {{"key", "create", "--id", "x", "--tenant", "acme", "--expires", "2001-01-01T00:00:00Z"}, "--expires"},
      {{"key", "revoke", "nobody"}, "nobody"},
  };
  for (auto [words, why] : cases) {
    words.insert(words.end(), {"--file", File()});
    const Result refused = RunProgram(words);
    EXPECT_EQ(refused.exit_code, kExitFailure) << why;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("error: "), HasSubstr(why)));
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(folder_.Read("keys.yaml"), before);
  }
}

TEST_F(KeyCommandTest, FilesThatAreNoneAreSaid) {
  EXPECT_THAT(RunProgram({"key", "list", "--file", "/nowhere"}).err, HasSubstr("/nowhere"));
  folder_.Write("keys.yaml", "keyz:\n");
  EXPECT_THAT(RunProgram({"key", "list", "--file", File()}).err, HasSubstr(File() + ": line 1"));
}

class SecureClientTest : public ::testing::Test {
 protected:
  SecureClientTest() {
    folder_.Write("keys.yaml", fmt::format("keys:\n- {{id: a, tenant: acme, role: operator, sha256: {}}}\n"
                                           "certificates:\n- {{id: c, tenant: globex, role: operator, "
                                           "subject_common_name: client}}\n",
                                           ToHex(DigestOf("key-a"))));
    folder_.Write("key", "  key-a\r\n");
    keys_ = *KeyFile::Open(folder_.Path("keys.yaml"), [](FileNews, const std::string&) {});
  }

  void Serve(bool tls) {
    const PemPair server = ca_.Issue({.common_name = "server"});
    const PemPair client = ca_.Issue({.common_name = "client"});
    folder_.Write("tls.crt", server.certificate);
    folder_.Write("tls.key", server.private_key);
    folder_.Write("ca.crt", ca_.certificate());
    folder_.Write("client.crt", client.certificate);
    folder_.Write("client.key", client.private_key);
    files_ = *TlsFiles::Open({.certificate = folder_.Path("tls.crt"),
                              .private_key = folder_.Path("tls.key"),
                              .client_ca = folder_.Path("ca.crt")},
                             [](FileNews, const std::string&) {});
    ServiceHostOptions options;
    if (tls) options.grpc.tls = [this] { return files_->current(); };
    served_.emplace(std::make_unique<FakeEngine>(), options, std::make_unique<KeyAuthenticator>(*keys_));
  }

  Result Models(std::vector<std::string> words) {
    words.insert(words.begin(), {"models", "--server", served_->host().server().address()});
    return RunProgram(std::move(words));
  }

  TemporaryFolder folder_;
  TestCa ca_{"ca"};
  std::unique_ptr<KeyFile> keys_;
  std::unique_ptr<TlsFiles> files_;
  std::optional<ServedEngine> served_;
};

TEST_F(SecureClientTest, ShowsItsKey) {
  Serve(/*tls=*/false);
  EXPECT_THAT(Models({}).err, HasSubstr("no API key"));
  EXPECT_EQ(Models({"--api-key", "key-a"}).exit_code, kExitOk);
  EXPECT_EQ(Models({"--api-key-file", folder_.Path("key")}).exit_code, kExitOk);
  EXPECT_EQ(Models({"--api-key", "nobody"}).exit_code, kExitFailure);
  setenv("HEADSTART_API_KEY", "key-a", 1);
  EXPECT_EQ(Models({}).exit_code, kExitOk);
  setenv("HEADSTART_API_KEY", "nobody", 1);
  EXPECT_EQ(Models({}).exit_code, kExitFailure);
  EXPECT_EQ(Models({"--api-key-file", folder_.Path("key")}).exit_code, kExitOk);
  unsetenv("HEADSTART_API_KEY");
}

TEST_F(SecureClientTest, CacheCommandsToo) {
  Serve(/*tls=*/true);
  const Result status = RunProgram({"cache", "status", "--server", served_->host().server().address(), "--tls-ca",
                                    folder_.Path("ca.crt"), "--api-key-file", folder_.Path("key")});
  EXPECT_EQ(status.exit_code, kExitOk) << status.err;
}

TEST_F(SecureClientTest, TrustsTheAuthorityItWasTold) {
  Serve(/*tls=*/true);
  const Result served = Models({"--api-key", "key-a", "--tls-ca", folder_.Path("ca.crt")});
  EXPECT_EQ(served.exit_code, kExitOk) << served.err;
  EXPECT_THAT(Models({"--api-key", "key-a", "--tls"}).err, HasSubstr("--tls-ca"));
  EXPECT_THAT(Models({"--api-key", "key-a"}).err, HasSubstr("--tls-ca"));
}

TEST_F(SecureClientTest, ShowsItsCertificate) {
  Serve(/*tls=*/true);
  const Result served = Models({"--tls-ca", folder_.Path("ca.crt"), "--tls-cert", folder_.Path("client.crt"),
                                "--tls-key", folder_.Path("client.key")});
  EXPECT_EQ(served.exit_code, kExitOk) << served.err;
}

TEST_F(SecureClientTest, WhatCannotBeUsedIsSaid) {
  Serve(/*tls=*/true);
  folder_.Write("empty", " \n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--api-key-file", "/nowhere/key"}, "/nowhere/key"},
      {{"--api-key-file", folder_.Path("empty")}, "is empty"},
      {{"--api-key", "two words"}, "characters"},
      {{"--tls-ca", "/nowhere/ca"}, "/nowhere/ca"},
      {{"--tls-cert", folder_.Path("client.crt")}, "--tls-key go together"},
  };
  for (const auto& [words, why] : cases) {
    const Result refused = Models(words);
    EXPECT_EQ(refused.exit_code, kExitFailure) << why;
    EXPECT_THAT(refused.err, HasSubstr(why));
  }
}

// 192.0.2.1 is nobody's: nothing is sent there before the refusal.
TEST(ClientExposureTest, AKeyDoesNotGoToOtherMachinesInTheClear) {
  const Result refused = RunProgram({"models", "--server", "192.0.2.1:8700", "--api-key", "key-a"});
  EXPECT_EQ(refused.exit_code, kExitFailure);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("192.0.2.1:8700"), HasSubstr("--insecure-plaintext"), Not(HasSubstr("key-a"))));
}

}  // namespace
}  // namespace headstart::testing
