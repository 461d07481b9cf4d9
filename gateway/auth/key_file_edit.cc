#include "gateway/auth/key_file_edit.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "fmt/format.h"
#include "gateway/yaml/yaml_fields.h"

namespace headstart {
namespace {

constexpr std::string_view kNewFile =
    "# API keys of Headstart: see docs/security.md. Keys themselves are not in here, only their SHA-256.\n"
    "keys:\n";
constexpr size_t kIndent = 2;

// A text as lines, each with its end.
std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  if (!lines.empty() && !lines.back().ends_with('\n')) lines.back() += '\n';
  return lines;
}

std::string Join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

// The last line that anything of `node` begins in.
int LastLine(const YAML::Node& node) {
  int last = node.Mark().line;
  for (const auto& child : node) {
    if (node.IsMap()) last = std::max({last, LastLine(child.first), LastLine(child.second)});
    if (node.IsSequence()) last = std::max(last, LastLine(child));
  }
  return last;
}

// Where the list of keys is: after which line another one goes, and how far in. nullopt when there is no such list yet.
struct Place {
  int line;
  size_t indent;
};
std::optional<Place> EndOfKeys(const YAML::Node& root) {
  for (const auto& field : root) {
    if (field.first.Scalar() != "keys") continue;
    const YAML::Node& list = field.second;
    if (!list.IsSequence() || list.size() == 0) return Place{field.first.Mark().line, kIndent};
    return Place{LastLine(list), static_cast<size_t>(std::max(list.Mark().column, 0))};
  }
  return std::nullopt;
}

absl::Status ByHand(std::string_view what) {
  return absl::FailedPreconditionError(
      fmt::format("the file is written in a way that is not changed safely from here; {} by hand", what));
}

bool Equal(const KeyEntry& a, const KeyEntry& b) {
  return a.caller == b.caller && a.digest == b.digest && a.expires == b.expires;
}

// Whether `text` is a key file with exactly these keys, and everything else as in `before`.
bool Says(const std::string& text, const std::vector<KeyEntry>& keys, const KeyTable& before) {
  const auto table = KeyTable::Parse(text);
  return table.ok() && std::ranges::equal(table->keys(), keys, Equal) &&
         table->certificates() == before.certificates() && table->budgets() == before.budgets();
}

}  // namespace

std::string KeySnippet(const KeyEntry& entry, size_t indent) {
  const std::string space(indent + 2, ' ');
  std::string text =
      fmt::format("{:{}}- id: \"{}\"\n{}tenant: \"{}\"\n", "", indent, entry.caller.key_id, space, entry.caller.tenant);
  if (entry.caller.role == Role::kOperator) text += fmt::format("{}role: operator\n", space);
  text += fmt::format("{}sha256: \"{}\"\n", space, ToHex(entry.digest));
  if (entry.expires != absl::InfiniteFuture()) {
    text +=
        fmt::format("{}expires: {}\n", space, absl::FormatTime(absl::RFC3339_sec, entry.expires, absl::UTCTimeZone()));
  }
  return text;
}

absl::StatusOr<std::string> WithKey(const std::string& text, const KeyEntry& entry) {
  const std::string base = text.empty() ? std::string(kNewFile) : text;
  const auto table = KeyTable::Parse(base);
  if (!table.ok()) return table.status();
  std::vector<KeyEntry> keys = table->keys();
  const auto same_id = [&](const KeyEntry& key) { return key.caller.key_id == entry.caller.key_id; };
  if (std::ranges::any_of(keys, same_id)) {
    return absl::AlreadyExistsError(
        fmt::format("there is a key \"{}\" already; choose another id", entry.caller.key_id));
  }
  keys.push_back(entry);
  std::vector<std::string> lines = LinesOf(base);
  const auto place = EndOfKeys(*ParseYaml(base));
  if (place) {
    lines.insert(lines.begin() + place->line + 1, KeySnippet(entry, place->indent));
  } else {
    lines.push_back("keys:\n" + KeySnippet(entry));
  }
  std::string changed = Join(lines);
  if (!Says(changed, keys, *table)) return ByHand("add the lines");
  return changed;
}

absl::StatusOr<std::string> WithoutKey(const std::string& text, std::string_view id) {
  const auto table = KeyTable::Parse(text);
  if (!table.ok()) return table.status();
  std::vector<KeyEntry> keys = table->keys();
  const auto found = std::ranges::find_if(keys, [&](const KeyEntry& key) { return key.caller.key_id == id; });
  if (found == keys.end()) return absl::NotFoundError(fmt::format("there is no key \"{}\"", id));
  const YAML::Node item = (*ParseYaml(text))["keys"][found - keys.begin()];
  keys.erase(found);
  std::vector<std::string> lines = LinesOf(text);
  lines.erase(lines.begin() + item.Mark().line, lines.begin() + LastLine(item) + 1);
  std::string changed = Join(lines);
  if (!Says(changed, keys, *table)) {
    return ByHand(fmt::format("remove lines {} to {}", item.Mark().line + 1, LastLine(item) + 1));
  }
  return changed;
}

}  // namespace headstart
