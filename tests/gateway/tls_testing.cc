#include "tests/gateway/tls_testing.h"

#include "gtest/gtest.h"
#include "openssl/bio.h"
#include "openssl/ec.h"
#include "openssl/pem.h"
#include "openssl/rand.h"
#include "openssl/x509v3.h"

namespace headstart::testing {
namespace {

template <typename Write>
std::string ToPem(Write write) {
  BIO* bio = BIO_new(BIO_s_mem());
  EXPECT_EQ(write(bio), 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<size_t>(size));
  BIO_free(bio);
  return pem;
}

std::string ToPem(X509* certificate) {
  return ToPem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

std::string ToPem(EVP_PKEY* key) {
  return ToPem([&](BIO* bio) { return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

void AddExtension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  EXPECT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* NewCertificate(const CertificateSpec& spec, EVP_PKEY* key, X509* issuer) {
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial) - 1);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial);
  ASN1_TIME_set(X509_getm_notBefore(certificate), absl::ToTimeT(spec.not_before));
  ASN1_TIME_set(X509_getm_notAfter(certificate), absl::ToTimeT(spec.not_after));
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(spec.common_name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer == nullptr ? certificate : issuer));
  return certificate;
}

}  // namespace

TestCa::TestCa(const std::string& name) : key_(EVP_EC_gen("P-256")) {
  certificate_ = NewCertificate({.common_name = name}, key_, nullptr);
  AddExtension(certificate_, NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate_, key_, EVP_sha256());
  pem_ = {ToPem(certificate_), ToPem(key_)};
}

TestCa::~TestCa() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

PemPair TestCa::Issue(const CertificateSpec& spec) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = NewCertificate(spec, key, certificate_);
  if (!spec.alternative_names.empty()) AddExtension(certificate, NID_subject_alt_name, spec.alternative_names);
  X509_sign(certificate, key_, EVP_sha256());
  PemPair pair{ToPem(certificate), ToPem(key)};
  X509_free(certificate);
  EVP_PKEY_free(key);
  return pair;
}

}  // namespace headstart::testing
