// Flags of keys, TLS, metrics and logs, and what is refused of them.

#include "gateway/config/auth_flags.h"

#include <algorithm>

#include "CLI/CLI.hpp"
#include "gateway/config/telemetry_flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

AuthFlags Parse(std::vector<std::string> words) {
  AuthFlags flags;
  CLI::App app;
  AddAuthFlags(app, flags);
  std::ranges::reverse(words);  // as CLI11 wants a vector
  app.parse(words);
  return flags;
}

TEST(AuthFlagsTest, AllTogether) {
  const AuthFlags flags =
      Parse({"--keys", "k", "--tls-cert", "c", "--tls-key", "p", "--tls-client-ca", "a", "--tls-require-client-cert"});
  EXPECT_OK(CheckAuthFlags(flags));
  EXPECT_TRUE(flags.uses_keys());
  EXPECT_TRUE(flags.uses_tls());
  EXPECT_EQ(flags.tls.client_ca, "a");
  EXPECT_TRUE(flags.tls.require_client_certificate);
  EXPECT_OK(CheckAuthFlags(Parse({})));
}

TEST(AuthFlagsTest, WhatDoesNotGoTogetherIsNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--tls-cert", "c"}, "--tls-cert is given without --tls-key"},
      {{"--tls-key", "c"}, "--tls-key is given without --tls-cert"},
      {{"--tls-client-ca", "c"}, "--tls-client-ca is given without --tls-cert"},
      {{"--tls-cert", "c", "--tls-key", "k", "--tls-require-client-cert"}, "without --tls-client-ca"},
  };
  for (const auto& [words, why] : cases) {
    EXPECT_THAT(CheckAuthFlags(Parse(words)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
  }
}

TEST(AuthFlagsTest, KeysDoNotGoToOtherMachinesInTheClear) {
  const ListenAddress everywhere = *ParseListenAddress("0.0.0.0:8700");
  const ListenAddress here = *ParseListenAddress("127.0.0.1:8700");
  const ListenAddress socket = *ParseListenAddress("unix:/run/s");
  const AuthFlags keys = Parse({"--keys", "k"});
  EXPECT_THAT(CheckExposure(keys, everywhere, "--listen"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("--listen 0.0.0.0:8700"), HasSubstr("--insecure-plaintext"))));
  EXPECT_OK(CheckExposure(keys, here, "--listen"));
  EXPECT_OK(CheckExposure(keys, socket, "--listen"));
  EXPECT_OK(CheckExposure(Parse({"--keys", "k", "--tls-cert", "c", "--tls-key", "p"}), everywhere, "--listen"));
  EXPECT_OK(CheckExposure(Parse({"--keys", "k", "--insecure-plaintext"}), everywhere, "--listen"));
}

TEST(TelemetryFlagsTest, DefaultsAndValues) {
  TelemetryFlags flags;
  CLI::App app;
  AddTelemetryFlags(app, flags);
  EXPECT_EQ(flags.metrics.max_tenants, 100);
  std::vector<std::string> words = {"json", "--log-format", "7", "--metrics-max-tenants"};
  app.parse(words);
  EXPECT_EQ(flags.metrics.max_tenants, 7);
  EXPECT_EQ(flags.log_format, LogFormat::kJson);
  words = {"xml", "--log-format"};
  EXPECT_THROW(app.parse(words), CLI::ValidationError);
}

}  // namespace
}  // namespace headstart::testing
