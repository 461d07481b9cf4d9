// headstart key: the API keys of a server, in the file that it is started with.

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "fmt/format.h"
#include "gateway/auth/key_file_edit.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/report.h"
#include "gateway/files/file_version.h"

namespace headstart {
namespace {

struct KeyFlags {
  std::string file;
  std::string id;
  std::string tenant;
  std::string role = "user";
  std::string expires;
};

constexpr absl::Duration kLongestLife = absl::Hours(24 * 36500);  // a century: later is a slip of the finger

absl::Status BadExpiry(const std::string& text) {
  return absl::InvalidArgumentError(fmt::format(
      "--expires \"{}\" is neither a time ahead such as 2027-01-31T00:00:00Z nor a while such as 90d or 12h", text));
}

// "90d", "12h" or a time; empty is never. In whole seconds, as it is written.
absl::StatusOr<absl::Time> ParseExpiry(const std::string& text, absl::Time now) {
  if (text.empty()) return absl::InfiniteFuture();
  absl::Time time;
  std::string ignored;
  absl::Duration duration;
  int64_t days = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), days);
  if (error == std::errc::result_out_of_range && std::string_view(rest) == "d") {
    time = absl::InfiniteFuture();
  } else if (error == std::errc() && std::string_view(rest) == "d") {
    time = now + days * absl::Hours(24);
  } else if (absl::ParseDuration(text, &duration)) {
    time = now + duration;
  } else if (!absl::ParseTime(absl::RFC3339_full, text, &time, &ignored)) {
    return BadExpiry(text);
  }
  if (time <= now) return BadExpiry(text);
  if (time > now + kLongestLife) {
    return absl::InvalidArgumentError(fmt::format(
        "--expires \"{}\" is more than a century ahead (36500d); leave it out for a key that never ends", text));
  }
  return absl::FromUnixSeconds(absl::ToUnixSeconds(time));
}

// What the server would make of the entry: names that it refuses are refused here.
absl::Status CheckEntry(const KeyEntry& entry) {
  const auto table = KeyTable::Parse("keys:\n" + KeySnippet(entry));
  if (table.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--id and --tenant are names of 1 to 128 letters, digits or -_.:@/, not \"{}\" and \"{}\"",
                  entry.caller.key_id, entry.caller.tenant));
}

void PrintCreated(const KeyFlags& flags, const KeyEntry& entry, const std::string& key) {
  PrintNow(key + "\n");
  const std::string advice =
      flags.file.empty()
          ? fmt::format(
                "This is the key: it is shown this once and kept nowhere. Put these lines below \"keys:\" "
                "in the server's file:\n{}",
                KeySnippet(entry))
          : fmt::format(
                "This is the key: it is shown this once and kept nowhere. {} now knows it; a server that "
                "reads the file takes it within seconds.\n",
                flags.file);
  fmt::print(stderr, "{}", advice);
}

int Create(const KeyFlags& flags) {
  const auto expires = ParseExpiry(flags.expires, absl::Now());
  if (!expires.ok()) return PrintError(expires.status());
  const auto key = NewApiKey();
  if (!key.ok()) return PrintError(key.status());
  const KeyEntry entry{.caller = {.tenant = flags.tenant,
                                  .role = flags.role == "operator" ? Role::kOperator : Role::kTenant,
                                  .key_id = flags.id},
                       .digest = DigestOf(*key),
                       .expires = *expires};
  if (auto status = CheckEntry(entry); !status.ok()) return PrintError(status);
  if (!flags.file.empty()) {
    const auto add = [&](const std::string& text) { return WithKey(text, entry); };
    if (auto status = ChangeFile(flags.file, add); !status.ok()) return PrintError(status);
  }
  PrintCreated(flags, entry, *key);
  return kExitOk;
}

std::string ExpiryText(absl::Time expires, absl::Time now) {
  if (expires == absl::InfiniteFuture()) return "never";
  return absl::FormatTime("%Y-%m-%d %H:%MZ", expires, absl::UTCTimeZone()) + (expires <= now ? " (expired)" : "");
}

int List(const KeyFlags& flags) {
  const auto text = ReadSmallFile(flags.file);
  if (!text.ok()) return PrintError(text.status());
  const auto table = KeyTable::Parse(*text);
  if (!table.ok()) {
    return PrintError(
        absl::InvalidArgumentError(fmt::format("{}: {}", flags.file, std::string(table.status().message()))));
  }
  std::vector<std::vector<std::string>> rows = {{"id", "tenant", "role", "expires", "sha256"}};
  constexpr size_t kShownDigits = 12;
  for (const KeyEntry& key : table->keys()) {
    rows.push_back({key.caller.key_id, key.caller.tenant, key.caller.role == Role::kOperator ? "operator" : "user",
                    ExpiryText(key.expires, absl::Now()), ToHex(key.digest).substr(0, kShownDigits)});
  }
  PrintNow(FormatTable(rows));
  return kExitOk;
}

int Revoke(const KeyFlags& flags) {
  // ChangeFile would begin a new one.
  if (auto text = ReadSmallFile(flags.file); !text.ok()) return PrintError(text.status());
  const auto remove = [&](const std::string& text) { return WithoutKey(text, flags.id); };
  if (auto status = ChangeFile(flags.file, remove); !status.ok()) return PrintError(status);
  PrintNow(fmt::format("revoked {}: a server that reads {} refuses it within seconds; what runs goes on\n", flags.id,
                       flags.file));
  return kExitOk;
}

void AddCreate(CLI::App& keys, const std::shared_ptr<KeyFlags>& flags, Action& action) {
  CLI::App* command = keys.add_subcommand("create", "Make a key and print it, once");
  command->add_option("--id", flags->id, "Names the key in logs and accounts")->required();
  command->add_option("--tenant", flags->tenant, "Whose prompts and prefixes it reaches, and who is charged")
      ->required();
  command->add_option("--role", flags->role, "user, or operator: may see and change what concerns every tenant")
      ->check(CLI::IsMember({"user", "operator"}))
      ->capture_default_str();
  command->add_option("--expires", flags->expires,
                      "When it ends: 90d, 12h or 2027-01-31T00:00:00Z, at most a century ahead; never if not given");
  command->add_option("--file", flags->file, "File of keys to add it to; without one the lines to add are printed");
  command->callback([flags, &action] { action = [flags] { return Create(*flags); }; });
}

}  // namespace

void AddKeyCommand(CLI::App& app, Action& action) {
  auto flags = std::make_shared<KeyFlags>();
  CLI::App* keys = app.add_subcommand("key", "Make, list and revoke API keys");
  keys->require_subcommand(1);
  keys->footer(
      "\nExamples:\n"
      "  headstart key create --id ci --tenant acme --expires 90d --file keys.yaml\n"
      "  headstart key list --file keys.yaml\n"
      "  headstart key revoke ci --file keys.yaml\n");
  AddCreate(*keys, flags, action);
  CLI::App* list = keys->add_subcommand("list", "Show the keys of a file; keys themselves are nowhere in it");
  list->add_option("--file", flags->file, "File of keys")->required();
  list->callback([flags, &action] { action = [flags] { return List(*flags); }; });
  CLI::App* revoke = keys->add_subcommand("revoke", "Take a key out of a file");
  revoke->add_option("id", flags->id, "Name of the key")->required();
  revoke->add_option("--file", flags->file, "File of keys")->required();
  revoke->callback([flags, &action] { action = [flags] { return Revoke(*flags); }; });
}

}  // namespace headstart
