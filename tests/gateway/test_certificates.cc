#include "tests/gateway/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

namespace headstart::testing {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

constexpr long kDaySeconds = 24 * 60 * 60;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(bytes)};
}

std::string PemOf(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_X509(bio.get(), certificate);
  return TextOf(bio.get());
}

std::string PemOf(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(bio.get());
}

Bio Reading(const std::string& pem) { return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free}; }

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate Blank(const std::string& common_name, EVP_PKEY* key) {
  Certificate certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  unsigned char serial[4];
  RAND_bytes(serial, sizeof(serial));
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1 + (serial[0] << 8 | serial[1]));
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDaySeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDaySeconds);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  return certificate;
}

Key NewKey() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

}  // namespace

TestCertificate MakeTestCa(const std::string& common_name) {
  const Key key = NewKey();
  const Certificate certificate = Blank(common_name, key.get());
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  AddExtension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  return {PemOf(certificate.get()), PemOf(key.get())};
}

TestCertificate IssueTestCertificate(const TestCertificate& ca, const std::string& common_name,
                                     const std::string& alternative_name) {
  const Certificate issuer(PEM_read_bio_X509(Reading(ca.certificate_pem).get(), nullptr, nullptr, nullptr), &X509_free);
  const Key issuer_key(PEM_read_bio_PrivateKey(Reading(ca.key_pem).get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  const Key key = NewKey();
  const Certificate certificate = Blank(common_name, key.get());
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
  if (!alternative_name.empty()) AddExtension(certificate.get(), issuer.get(), NID_subject_alt_name, alternative_name);
  X509_sign(certificate.get(), issuer_key.get(), EVP_sha256());
  return {PemOf(certificate.get()), PemOf(key.get())};
}

}  // namespace headstart::testing
