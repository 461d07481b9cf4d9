#include "gateway/config/http_flags.h"

#include "CLI/CLI.hpp"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

constexpr int kMostConnections = 1 << 20;
constexpr int kMostIoThreads = 64;
constexpr int kMostChoices = 128;  // of OpenAI's own API

}  // namespace

void AddHttpFlags(CLI::App& app, HttpServerOptions& options) {
  app.add_option("--http-listen", options.listen,
                 "Address of the OpenAI-compatible API, metrics and dashboard: host:port or unix:/path; \"\" for none")
      ->capture_default_str();
  app.add_option("--http-cors-origin", options.cors_origin,
                 "Web pages of this origin may call the API, such as https://chat.example.com, or * for all");
  app.add_option("--http-max-connections", options.max_connections, "Connections at the same time; more hear 503")
      ->check(CLI::Range(1, kMostConnections))
      ->capture_default_str();
  AddByteSize(app, "--http-max-header-size", options.max_header_bytes, "Headers of one request");
  AddByteSize(app, "--http-max-body-size", options.max_body_bytes, "Body of one request");
  AddDuration(app, "--http-header-timeout", options.header_timeout, "How long a request's headers may take to arrive");
  AddDuration(app, "--http-body-timeout", options.body_timeout, "How long a request's body may take to arrive");
  AddDuration(app, "--http-idle-timeout", options.idle_timeout, "Connections without a request are closed after this");
  AddDuration(app, "--http-write-timeout", options.write_timeout,
              "Clients that take nothing of an answer for so long are cut off");
  app.add_option("--http-io-threads", options.io_threads, "Threads that serve all connections")
      ->check(CLI::Range(1, kMostIoThreads))
      ->capture_default_str();
}

void AddOpenAiFlags(CLI::App& app, OpenAiOptions& options) {
  app.add_option("--openai-max-choices", options.max_choices, "The most that n of a completion may be")
      ->check(CLI::Range(1, kMostChoices))
      ->capture_default_str();
  AddChoice<ToolCallFormatChoice>(app, "--tool-call-format", options.tool_call_format,
                                  {{"auto", ToolCallFormatChoice::kAuto},
                                   {"hermes", ToolCallFormatChoice::kHermes},
                                   {"llama3", ToolCallFormatChoice::kLlama3},
                                   {"mistral", ToolCallFormatChoice::kMistral},
                                   {"none", ToolCallFormatChoice::kNone}},
                                  "How the model writes tool calls; auto asks its chat template");
}

}  // namespace headstart
