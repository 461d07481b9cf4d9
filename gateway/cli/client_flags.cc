#include "gateway/cli/client_flags.h"

#include "CLI/CLI.hpp"
#include "gateway/config/flags.h"
#include "gateway/services/proto_time.h"

namespace headstart {
namespace {

// More than any context has; what is larger still is no number of tokens but a mistake.
constexpr int64_t kMostTokens = int64_t{1} << 32;

}  // namespace

CLI::Option* AddClientFlags(CLI::App& app, ClientFlags& flags) {
  CLI::Option* server =
      app.add_option("--server", flags.server, "Address of the server")->check(CheckNotEmpty)->capture_default_str();
  app.add_flag("--tls", flags.tls, "Encrypt, and trust the certificate authorities that this system trusts");
  app.add_option("--tls-ca", flags.tls_ca, "Encrypt, and trust the authorities in this PEM file alone");
  app.add_option("--tls-cert", flags.tls_cert, "This client's certificate, a PEM file; with --tls-key");
  app.add_option("--tls-key", flags.tls_key, "The key of --tls-cert, a PEM file");
  app.add_option("--api-key-file", flags.api_key_file,
                 "File with the API key to call with; goes before the variable "
                 "HEADSTART_API_KEY");
  app.add_option("--api-key", flags.api_key,
                 "The API key itself. Better use --api-key-file or the variable HEADSTART_API_KEY: every user of this "
                 "machine can read the command lines of others, and shells remember them")
      ->envname("HEADSTART_API_KEY");
  app.add_flag("--insecure-plaintext", flags.insecure_plaintext,
               "Send the API key to another machine though the connection is not encrypted");
  return server;
}

void AddGenerationFlags(CLI::App& app, GenerationFlags& flags) {
  app.add_option("--temperature", flags.temperature, "0 always takes the likeliest token")->capture_default_str();
  app.add_option("--top-p", flags.top_p, "Only the likeliest tokens of this probability together")
      ->capture_default_str();
  app.add_option("--top-k", flags.top_k, "Only the k likeliest tokens; 0 is off")->capture_default_str();
  app.add_option("--seed", flags.seed, "Makes a random answer repeatable")->check(CheckUnsigned);
  app.add_option("--max-tokens", flags.max_tokens, "Longest answer; 0 is up to the end of the context")
      ->check(CLI::Range(int64_t{0}, kMostTokens))
      ->capture_default_str();
  app.add_option("--stop", flags.stop, "Text that ends the answer; may be given several times")
      ->allow_extra_args(false)
      ->check(CheckUtf8);
  app.add_flag("--ignore-eos", flags.ignore_eos, "Go on past the model's own end tokens");
  app.add_flag("--no-cache-read", flags.no_cache_read, "Compute the whole prompt");
  app.add_flag("--no-cache-write", flags.no_cache_write, "Keep nothing of this request");
  AddChoice<v1::CachePriority>(
      app, "--cache-priority", flags.cache_priority,
      {{"low", v1::CACHE_PRIORITY_LOW}, {"normal", v1::CACHE_PRIORITY_NORMAL}, {"high", v1::CACHE_PRIORITY_HIGH}},
      "How long what this request leaves in the cache is kept when room is needed");
  AddDuration(app, "--cache-ttl", flags.cache_ttl, "How long it may be found; inf is until it is evicted");
  app.add_flag("--json", flags.json, "Print the answer, usage and timings as one JSON object");
}

v1::GenerateRequest ToRequest(const GenerationFlags& flags) {
  v1::GenerateRequest request;
  request.mutable_sampling()->set_temperature(flags.temperature);
  request.mutable_sampling()->set_top_p(flags.top_p);
  request.mutable_sampling()->set_top_k(flags.top_k);
  if (const auto seed = ParseUnsigned(flags.seed)) request.mutable_sampling()->set_seed(*seed);
  if (flags.max_tokens > 0) request.set_max_tokens(flags.max_tokens);
  request.mutable_stop()->Assign(flags.stop.begin(), flags.stop.end());
  request.set_ignore_eos(flags.ignore_eos);
  request.mutable_cache()->set_read(!flags.no_cache_read);
  request.mutable_cache()->set_write(!flags.no_cache_write);
  request.mutable_cache()->set_priority(flags.cache_priority);
  if (flags.cache_ttl < absl::InfiniteDuration()) Set(flags.cache_ttl, request.mutable_cache()->mutable_ttl());
  return request;
}

}  // namespace headstart
