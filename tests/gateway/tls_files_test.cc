// Certificates in files: what is refused, what is only said, and what becomes of wrong replacements.

#include "gateway/tls/tls_files.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/tls_testing.h"
#include "tests/testing/status.h"
#include "tests/testing/temporary_folder.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TlsFilesTest : public ::testing::Test {
 protected:
  TlsFilesTest() { Write(pair_); }

  void Write(const PemPair& pair) {
    folder_.Write("tls.crt", pair.certificate);
    folder_.Write("tls.key", pair.private_key);
  }
  auto Open() {
    return TlsFiles::Open(names_, [this](FileNews, const std::string& event) { events_.push_back(event); });
  }

  TemporaryFolder folder_;
  TestCa ca_{"ca"};
  PemPair pair_ = ca_.Issue({.common_name = "server"});
  TlsFileNames names_{.certificate = folder_.Path("tls.crt"), .private_key = folder_.Path("tls.key"), .client_ca = ""};
  std::vector<std::string> events_;
};

TEST_F(TlsFilesTest, ReadsWhatIsRight) {
  folder_.Write("ca.crt", ca_.certificate());
  names_.client_ca = folder_.Path("ca.crt");
  names_.require_client_certificate = true;
  ASSERT_OK_AND_ASSIGN(const auto files, Open());
  EXPECT_EQ(*files->current(), (TlsMaterial{.certificate_chain_pem = pair_.certificate,
                                            .private_key_pem = pair_.private_key,
                                            .client_ca_pem = ca_.certificate(),
                                            .require_client_certificate = true}));
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(TlsFilesTest, AChainMayHaveManyCertificates) {
  folder_.Write("tls.crt", pair_.certificate + "\nThe one above:\n" + ca_.certificate());
  EXPECT_OK(Open());
}

TEST_F(TlsFilesTest, RefusedNamingTheFile) {
  const PemPair other = ca_.Issue({.common_name = "other"});
  const std::string damaged = pair_.certificate.substr(0, 200) + "!" + pair_.certificate.substr(201);
  struct Case {
    PemPair pair;
    std::string file;
    std::string why;
  };
  const std::vector<Case> cases = {
      {{"", pair_.private_key}, "tls.crt", "no PEM certificate"},
      {{"hello", pair_.private_key}, "tls.crt", "no PEM certificate"},
      {{pair_.private_key, pair_.private_key}, "tls.crt", "no PEM certificate"},
      {{damaged, pair_.private_key}, "tls.crt", "damaged"},
      {{pair_.certificate + damaged, pair_.private_key}, "tls.crt", "damaged certificate after 1"},
      {{pair_.certificate.substr(0, 300), pair_.private_key}, "tls.crt", "damaged"},
      {{pair_.certificate, ""}, "tls.key", "no PEM private key"},
      {{pair_.certificate, pair_.certificate}, "tls.key", "no PEM private key"},
      {{pair_.certificate, other.private_key}, "tls.key", "not the key of the first certificate"},
      {{ca_.certificate() + pair_.certificate, pair_.private_key}, "tls.key", "not the key of the first certificate"},
  };
  for (const Case& c : cases) {
    Write(c.pair);
    EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(c.file), HasSubstr(c.why))));
  }
}

TEST_F(TlsFilesTest, ClientCaIsCheckedToo) {
  folder_.Write("ca.crt", "");
  names_.client_ca = folder_.Path("ca.crt");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ca.crt has no PEM certificate")));
  names_.client_ca = folder_.Path("nothing");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kNotFound, HasSubstr(names_.client_ca)));
}

TEST_F(TlsFilesTest, DatesAreSaidAndNotRefused) {
  Write(
      ca_.Issue({.common_name = "old", .not_before = absl::FromUnixSeconds(0), .not_after = absl::FromUnixSeconds(9)}));
  ASSERT_OK(Open());
  EXPECT_THAT(events_, ElementsAre(AllOf(HasSubstr("tls.crt"), HasSubstr("expired at 1970-01-01T00:00:09"))));
  Write(ca_.Issue({.common_name = "future", .not_before = absl::Now() + absl::Hours(1)}));
  ASSERT_OK(Open());
  EXPECT_THAT(events_.back(), HasSubstr("valid only from"));
}

TEST_F(TlsFilesTest, WrongReplacementsLeaveTheOldInUse) {
  ASSERT_OK_AND_ASSIGN(const auto files, Open());
  const auto before = files->current();
  const PemPair fresh = ca_.Issue({.common_name = "fresh"});
  folder_.Write("tls.crt", fresh.certificate);  // its key is still to come
  files->Refresh();
  EXPECT_EQ(files->current(), before);
  EXPECT_THAT(events_, ElementsAre(AllOf(HasSubstr("tls.key is not the key"), HasSubstr("last good version"))));
  folder_.Write("tls.key", fresh.private_key);
  files->Refresh();
  EXPECT_EQ(files->current()->certificate_chain_pem, fresh.certificate);
}

}  // namespace
}  // namespace headstart::testing
