// Certificates for tests, made as they are needed.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_TESTS_GATEWAY_TEST_CERTIFICATES_H_
#define HEADSTART_TESTS_GATEWAY_TEST_CERTIFICATES_H_

#include <string>

namespace headstart::testing {

struct TestCertificate {
  std::string certificate_pem;
  std::string key_pem;
};

TestCertificate MakeTestCa(const std::string& common_name);

// Valid for a day, for the common name and, unless it is empty, an alternative name such as "DNS:localhost".
TestCertificate IssueTestCertificate(const TestCertificate& ca, const std::string& common_name,
                                     const std::string& alternative_name = "");

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_TEST_CERTIFICATES_H_
