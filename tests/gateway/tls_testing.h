// Certificates for tests, made in this process.

#ifndef HEADSTART_TESTS_GATEWAY_TLS_TESTING_H_
#define HEADSTART_TESTS_GATEWAY_TLS_TESTING_H_

#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "openssl/evp.h"
#include "openssl/x509.h"

namespace headstart::testing {

struct PemPair {
  std::string certificate;
  std::string private_key;
};

struct CertificateSpec {
  std::string common_name;
  std::string alternative_names = "IP:127.0.0.1,DNS:localhost";  // as in OpenSSL's configuration; empty: none
  absl::Time not_before = absl::Now() - absl::Hours(1);
  absl::Time not_after = absl::Now() + absl::Hours(24);
};

// A certificate authority that trusts its tests.
class TestCa {
 public:
  explicit TestCa(const std::string& name);
  ~TestCa();
  TestCa(const TestCa&) = delete;
  TestCa& operator=(const TestCa&) = delete;

  const std::string& certificate() const { return pem_.certificate; }
  PemPair Issue(const CertificateSpec& spec) const;

 private:
  EVP_PKEY* key_;
  X509* certificate_;
  PemPair pem_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_TLS_TESTING_H_
