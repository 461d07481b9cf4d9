#include "gateway/tls/tls_files.h"

#include <utility>

#include "fmt/format.h"
#include "openssl/bio.h"
#include "openssl/err.h"
#include "openssl/pem.h"
#include "openssl/x509.h"

namespace headstart {
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;

absl::Status Bad(const std::string& file, std::string_view why) {
  ERR_clear_error();
  return absl::InvalidArgumentError(fmt::format("{} {}", file, why));
}

Bio Reader(const std::string& text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

// OpenSSL would ask the terminal for it.
int NoPassphrase(char*, int, int, void*) { return -1; }

absl::StatusOr<std::vector<Certificate>> ParseCertificates(const std::string& pem, const std::string& file) {
  const Bio reader = Reader(pem);
  std::vector<Certificate> certificates;
  ERR_clear_error();
  while (X509* certificate = PEM_read_bio_X509(reader.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.emplace_back(certificate);
  }
  // Reading ends where no further one begins; any other reason is a certificate that is damaged.
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    return Bad(file, fmt::format("has a damaged certificate after {} good ones", certificates.size()));
  }
  if (certificates.empty()) return Bad(file, "has no PEM certificate");
  ERR_clear_error();
  return certificates;
}

absl::StatusOr<PrivateKey> ParsePrivateKey(const std::string& pem, const std::string& file) {
  const Bio reader = Reader(pem);
  PrivateKey key(PEM_read_bio_PrivateKey(reader.get(), nullptr, NoPassphrase, nullptr));
  if (key == nullptr) return Bad(file, "has no PEM private key that can be read without a passphrase");
  return key;
}

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm broken_down{};
  if (ASN1_TIME_to_tm(time, &broken_down) != 1) return absl::InfinitePast();
  return absl::FromTM(broken_down, absl::UTCTimeZone());
}

std::string Rfc3339(absl::Time time) { return absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone()); }

void CheckDates(const std::vector<Certificate>& certificates, const std::string& file, absl::Time now,
                std::vector<std::string>& warnings) {
  for (const Certificate& certificate : certificates) {
    const absl::Time begin = TimeOf(X509_get0_notBefore(certificate.get()));
    const absl::Time end = TimeOf(X509_get0_notAfter(certificate.get()));
    if (now > end) warnings.push_back(fmt::format("{} has a certificate that expired at {}", file, Rfc3339(end)));
    if (now < begin) {
      warnings.push_back(fmt::format("{} has a certificate that is valid only from {} on", file, Rfc3339(begin)));
    }
  }
}

TlsMaterial MaterialOf(const std::vector<std::string>& texts, const TlsFileNames& names) {
  return {.certificate_chain_pem = texts[0],
          .private_key_pem = texts[1],
          .client_ca_pem = texts.size() > 2 ? texts[2] : "",
          .require_client_certificate = names.require_client_certificate};
}

}  // namespace

absl::Status CheckTlsMaterial(const TlsMaterial& material, const TlsFileNames& names, absl::Time now,
                              std::vector<std::string>& warnings) {
  const auto chain = ParseCertificates(material.certificate_chain_pem, names.certificate);
  if (!chain.ok()) return chain.status();
  const auto key = ParsePrivateKey(material.private_key_pem, names.private_key);
  if (!key.ok()) return key.status();
  if (X509_check_private_key(chain->front().get(), key->get()) != 1) {
    return Bad(names.private_key, fmt::format("is not the key of the first certificate in {}", names.certificate));
  }
  CheckDates(*chain, names.certificate, now, warnings);
  if (material.client_ca_pem.empty() && names.client_ca.empty()) return absl::OkStatus();
  const auto client_ca = ParseCertificates(material.client_ca_pem, names.client_ca);
  if (!client_ca.ok()) return client_ca.status();
  CheckDates(*client_ca, names.client_ca, now, warnings);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TlsFiles>> TlsFiles::Open(const TlsFileNames& names, OnFileNews on_news,
                                                         std::function<absl::Time()> now) {
  std::vector<std::string> paths = {names.certificate, names.private_key};
  if (!names.client_ca.empty()) paths.push_back(names.client_ca);
  auto parse = [names, on_news, now = std::move(now)](const std::vector<std::string>& texts) {
    TlsMaterial material = MaterialOf(texts, names);
    std::vector<std::string> warnings;
    const absl::Status status = CheckTlsMaterial(material, names, now(), warnings);
    if (!status.ok()) return absl::StatusOr<TlsMaterial>(status);
    for (const std::string& warning : warnings) on_news(FileNews::kTrouble, warning);
    return absl::StatusOr<TlsMaterial>(std::move(material));
  };
  auto files = WatchedFiles<TlsMaterial>::Open(std::move(paths), std::move(parse), std::move(on_news));
  if (!files.ok()) return files.status();
  return std::unique_ptr<TlsFiles>(new TlsFiles(*std::move(files)));
}

}  // namespace headstart
