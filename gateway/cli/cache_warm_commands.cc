#include <array>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "engine/text/utf8.h"
#include "fmt/format.h"
#include "gateway/cli/cache_client.h"
#include "gateway/cli/cache_commands.h"
#include "gateway/cli/cache_report.h"
#include "gateway/cli/client_flags.h"
#include "gateway/cli/report.h"
#include "gateway/config/flags.h"
#include "gateway/services/proto_time.h"

namespace headstart {
namespace {

struct WarmFlags {
  ClientFlags client;
  std::string prompt;
  std::string file;
  std::string id;
  std::string display_name;
  absl::Duration ttl = absl::InfiniteDuration();
  bool system = false;
  bool parse_special = false;
  bool is_public = false;
  bool json = false;
};

// Long enough for a working day's deployment to be asked, short enough that what nobody uses is soon unpinned.
constexpr absl::Duration kDefaultTtl = absl::Hours(1);

// As far as it can be read: bad() says that there was more, as for a folder.
std::string ReadAll(std::istream& stream) {
  std::string text;
  std::array<char, 1 << 14> piece;
  do {
    stream.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<size_t>(stream.gcount()));
  } while (stream);
  return text;
}

absl::StatusOr<std::string> ReadPrompt(const WarmFlags& flags) {
  if (flags.file.empty()) return flags.prompt;
  if (flags.file == "-") return ReadAll(std::cin);
  std::ifstream file(flags.file, std::ios::binary);
  std::string text = ReadAll(file);
  if (file.is_open() && !file.bad()) return text;
  return absl::NotFoundError(
      fmt::format("cannot read {}; name a file with the prompt, or - for standard input", flags.file));
}

absl::Status NotText(std::string_view prompt) {
  return absl::InvalidArgumentError(
      fmt::format("the prompt is not UTF-8 text: byte {} begins no character", ValidUtf8Prefix(prompt)));
}

void SetInput(const WarmFlags& flags, std::string text, v1::Input& input) {
  if (flags.system) {
    v1::Message& message = *input.mutable_chat()->add_messages();
    message.set_role("system");
    message.set_content(std::move(text));
    return;
  }
  input.mutable_text()->set_text(std::move(text));
  input.mutable_text()->set_parse_special(flags.parse_special);
}

v1::CreatePrefixRequest ToRequest(const WarmFlags& flags, std::string text) {
  v1::CreatePrefixRequest request;
  request.set_id(flags.id);
  request.set_scope(flags.is_public ? v1::PREFIX_SCOPE_PUBLIC : v1::PREFIX_SCOPE_TENANT);
  request.set_display_name(flags.display_name);
  SetInput(flags, std::move(text), *request.mutable_input());
  if (flags.ttl < absl::InfiniteDuration()) Set(flags.ttl, request.mutable_ttl());
  return request;
}

void PrintWarmed(const v1::CreatePrefixResponse& response) {
  const v1::Usage& usage = response.usage();
  PrintNow(fmt::format("{}: {} pinned; {} cached, {} computed; expires {}\n", response.prefix().id(),
                       Counted(response.prefix().pinned_tokens(), "token", "tokens"), usage.cached_tokens(),
                       usage.computed_prompt_tokens(), FormatExpiry(response.prefix(), absl::Now())));
}

int Warm(const WarmFlags& flags) {
  auto text = ReadPrompt(flags);
  if (text.ok() && !IsValidUtf8(*text)) text = NotText(*text);
  if (!text.ok()) return PrintError(text.status());
  auto response = CacheClient(flags.client).CreatePrefix(ToRequest(flags, *std::move(text)));
  if (!response.ok()) return PrintError(response.status());
  if (flags.json) {
    PrintJson(*response);
  } else {
    PrintWarmed(*response);
  }
  return kExitOk;
}

void AddPrompt(CLI::App& command, WarmFlags& flags) {
  CLI::Option_group* source = command.add_option_group("prompt", "What to compute: exactly one of");
  source->add_option("prompt", flags.prompt, "The text")->check(CheckUtf8);
  source->add_option("--file", flags.file, "A file with the text; - is standard input")->check(CheckNotEmpty);
  source->require_option(1);
  command.add_flag("--system", flags.system,
                   "The text is a chat's system prompt, to be put into the model's chat template as chats do");
  command.add_flag("--parse-special", flags.parse_special, "Text that spells a control token becomes that token");
}

CLI::App* AddWarmCommand(CLI::App& cache, Action& action, const std::string& name, const std::string& help,
                         const std::shared_ptr<WarmFlags>& flags) {
  CLI::App* command = cache.add_subcommand(name, help);
  AddPrompt(*command, *flags);
  command->add_option("--id", flags->id, "What to call the prefix; without it the server makes an id up")
      ->check(CheckUtf8);
  command->add_option("--name", flags->display_name, "Words for people, shown by `cache list`")->check(CheckUtf8);
  command->add_flag("--public", flags->is_public, "For the prompts of every tenant; operators alone may ask for it");
  command->add_flag("--json", flags->json, "Print one JSON object");
  AddClientFlags(*command, flags->client);
  command->callback([flags, &action] { action = [flags] { return Warm(*flags); }; });
  return command;
}

}  // namespace

void AddCacheWarmCommands(CLI::App& cache, Action& action) {
  auto warm_flags = std::make_shared<WarmFlags>();
  warm_flags->ttl = kDefaultTtl;
  CLI::App* warm = AddWarmCommand(cache, action, "warm",
                                  "Compute a prefix before it is asked for, and keep it for a while", warm_flags);
  AddDuration(*warm, "--ttl", warm_flags->ttl, "How long it is pinned; then it is evicted like everything else");
  warm->footer(
      "\nExamples:\n"
      "  headstart cache warm \"You are the inventory assistant. ...\" --system --id inventory --ttl 12h\n"
      "  headstart cache warm --file contract.txt\n");

  AddWarmCommand(cache, action, "pin",
                 "The same as warm, but without an expiry: it stays until `cache drop` or a flush",
                 std::make_shared<WarmFlags>())
      ->footer(
          "\nWhat is pinned cannot be evicted and takes part of --pinned-share for as long as it is registered.\n"
          "Use warm where an end is known.\n"
          "\nExample:\n"
          "  headstart cache pin --file system_prompt.txt --system --public --id house-rules\n");
}

}  // namespace headstart
