#include "gateway/config/server_flags.h"

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

void AddMinPingInterval(CLI::App& app, absl::Duration& target) {
  AddParsed(app, "--keepalive-min-ping-interval", absl::FormatDuration(target),
            "Clients that ping more often than this are cut off: 0s (never) to 30s",
            [&target](const std::string& text) {
              absl::Duration interval;
              if (!absl::ParseDuration(text, &interval) || interval < absl::ZeroDuration() ||
                  interval > kLargestMinPingInterval) {
                return absl::InvalidArgumentError(fmt::format("\"{}\" is not a duration of 0s to 30s", text));
              }
              target = interval;
              return absl::OkStatus();
            });
}

void AddLimit(CLI::App& app, const std::string& flag, int64_t& target, const std::string& help) {
  app.add_option(flag, target, help)->check(CLI::Range(int64_t{0}, int64_t{1} << 32))->capture_default_str();
}

}  // namespace

void AddServerFlags(CLI::App& app, GrpcServerOptions& options) {
  app.add_option("--listen", options.listen, "Address to listen on: host:port (port 0 picks a free one) or unix:/path")
      ->capture_default_str();
  AddByteSize(app, "--max-request-size", options.max_request_bytes, "Largest message taken from a client");
  AddMinPingInterval(app, options.keepalive_min_ping_interval);
  AddDuration(app, "--keepalive-time", options.keepalive_time, "Idle connections are pinged after this long");
  AddDuration(app, "--keepalive-timeout", options.keepalive_timeout,
              "A ping unanswered for this long ends a connection");
  app.add_option("--max-streams-per-connection", options.max_streams_per_connection,
                 "Calls that one connection may have open at the same time")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

void AddLimitFlags(CLI::App& app, RequestLimits& limits) {
  AddByteSize(app, "--max-prompt-size", limits.max_prompt_bytes, "Text of one request");
  AddLimit(app, "--max-prompt-token-ids", limits.max_prompt_token_ids, "Token ids of one request");
  AddLimit(app, "--max-messages", limits.max_messages, "Messages of one chat");
  AddLimit(app, "--max-tools", limits.max_tools, "Tools of one chat");
  AddLimit(app, "--max-template-variables", limits.max_template_variables, "Template variables of one chat");
  AddLimit(app, "--max-stop-strings", limits.max_stop_strings, "Stop strings of one request");
  AddByteSize(app, "--max-stop-string-size", limits.max_stop_string_bytes, "One stop string");
  AddLimit(app, "--max-stop-token-ids", limits.max_stop_token_ids, "Stop token ids of one request");
  AddLimit(app, "--max-labels", limits.max_labels, "Labels of one request");
  AddByteSize(app, "--max-label-size", limits.max_label_bytes, "A label's key, or its value");
}

}  // namespace headstart
