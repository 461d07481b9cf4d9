#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gateway/accounting/charge.h"
#include "gateway/accounting/money.h"
#include "gateway/accounting/price_book.h"
#include "gateway/yaml/yaml_fields.h"

namespace headstart {
namespace {

constexpr size_t kMaxBookBytes = 1 << 20;  // thousands of versions
constexpr size_t kMaxNameBytes = 64;       // of a currency and of a version: both are copied into every entry

using Names = std::vector<std::string_view>;

// The first complaint, kept while the reading goes on with defaults: so the readers below need no status each.
class Reader {
 public:
  explicit Reader(std::string_view served_model) : served_model_(served_model) {}

  absl::StatusOr<PriceBook> Read(const YAML::Node& root) {
    std::string currency;
    std::vector<PriceVersion> versions;
    ReadMap(root, "the price book", Names{"currency", "versions"},
            [&](const std::string& key, const YAML::Node& value) {
              if (key == "currency") currency = ReadName(value, "currency");
              if (key == "versions") versions = ReadVersions(value);
            });
    if (currency.empty()) Complain(root, "the price book has no currency");
    if (versions.empty()) Complain(root, "the price book has no versions");
    CheckOrder(root, versions);
    if (!status_.ok()) return status_;
    return PriceBook(std::move(currency), std::move(versions));
  }

 private:
  void Complain(const YAML::Node& where, std::string_view what) { Complain(ErrorAt(where, what)); }
  void Complain(const absl::Status& status) { status_.Update(status); }

  // Calls `read` with each field, all of which are `known`, and no two alike. Any will do when none is known.
  template <typename Read>
  void ReadMap(const YAML::Node& node, const std::string& what, const std::vector<std::string_view>& known,
               const Read& read) {
    if (!node.IsMap()) {
      return Complain(node,
                      fmt::format("{} is a mapping of {}", what,
                                  known.empty() ? "models to prices" : fmt::format("{}", fmt::join(known, ", "))));
    }
    const auto fields = YamlFields::Of(node, what, known);
    if (!fields.ok()) return Complain(fields.status());
    for (const auto& [name, value] : fields->fields()) read(name, value);
  }

  std::string ReadName(const YAML::Node& node, std::string_view what) {
    const std::string name = node.IsScalar() ? node.Scalar() : "";
    if (name.empty() || name.size() > kMaxNameBytes || std::ranges::any_of(name, [](char c) { return c <= ' '; })) {
      Complain(node, fmt::format("{} is a name of 1 to {} bytes without spaces", what, kMaxNameBytes));
    }
    return name;
  }

  std::vector<PriceVersion> ReadVersions(const YAML::Node& node) {
    std::vector<PriceVersion> versions;
    std::set<std::string> names;
    if (!node.IsSequence()) Complain(node, "versions is a list");
    for (size_t i = 0; node.IsSequence() && i < node.size(); ++i) {
      versions.push_back(ReadVersion(node[i]));
      const std::string& name = versions.back().name;
      if (!names.insert(name).second) Complain(node[i], fmt::format("there are two versions \"{}\"", Shown(name)));
    }
    return versions;
  }

  PriceVersion ReadVersion(const YAML::Node& node) {
    PriceVersion version;
    std::optional<absl::Time> from;
    ReadMap(node, "a version", Names{"version", "effective_from", "models"},
            [&](const std::string& key, const YAML::Node& value) {
              if (key == "version") version.name = ReadName(value, "version");
              if (key == "effective_from") from = ReadTime(value);
              if (key == "models") version.models = ReadModels(value);
            });
    if (version.name.empty()) Complain(node, "a version has no name; give it a field \"version\"");
    if (!from) Complain(node, fmt::format("version \"{}\" has no effective_from", version.name));
    if (!served_model_.empty() && version.Of(served_model_) == nullptr) {
      Complain(node, fmt::format("version \"{}\" has no price for the served model \"{}\"; add it, or \"*\" for every "
                                 "model without a price of its own",
                                 version.name, served_model_));
    }
    version.effective_from = from.value_or(absl::InfinitePast());
    return version;
  }

  absl::Time ReadTime(const YAML::Node& node) {
    absl::Time time;
    std::string error;
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    // Abseil takes "infinite-future" for a time, too.
    if (text.starts_with("infinite") || !absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
      Complain(node, "effective_from is a time with its zone, such as 2026-12-01T00:00:00Z");
    }
    return time;
  }

  std::map<std::string, v1::TokenPrices, std::less<>> ReadModels(const YAML::Node& node) {
    std::map<std::string, v1::TokenPrices, std::less<>> models;
    ReadMap(node, "models", Names{}, [&](const std::string& model, const YAML::Node& value) {
      if (model.empty()) return Complain(node, "a model has no name");
      models[model] = ReadPrices(value, model);
    });
    if (models.empty()) Complain(node, "models is empty; give prices for a model, or for \"*\"");
    return models;
  }

  v1::TokenPrices ReadPrices(const YAML::Node& node, const std::string& model) {
    v1::TokenPrices prices;
    YAML::Node cached(YAML::NodeType::Undefined);
    prices.set_cache_write_nanos(0);
    prices.set_storage_hour_nanos(0);
    ReadMap(node, "a model", Names{"input", "cached_input", "cache_write", "output", "storage"},
            [&](const std::string& key, const YAML::Node& value) {
              if (key == "input") prices.set_input_nanos(ReadPrice(value, key));
              if (key == "output") prices.set_output_nanos(ReadPrice(value, key));
              if (key == "cache_write") prices.set_cache_write_nanos(ReadPrice(value, key));
              if (key == "storage") prices.set_storage_hour_nanos(ReadPrice(value, key));
              if (key == "cached_input") cached.reset(value);
            });
    if (!prices.has_input_nanos()) Complain(node, fmt::format("\"{}\" has no price for input", model));
    if (!prices.has_output_nanos()) Complain(node, fmt::format("\"{}\" has no price for output", model));
    ReadCached(cached, prices);
    return prices;
  }

  // What is not said costs as much as a computed token.
  void ReadCached(const YAML::Node& node, v1::TokenPrices& prices) {
    const bool is_one = node.IsDefined() && !node.IsMap();
    const int64_t rest = is_one ? ReadPrice(node, "cached_input") : prices.input_nanos();
    prices.set_cached_device_nanos(rest);
    prices.set_cached_host_nanos(rest);
    prices.set_cached_disk_nanos(rest);
    prices.set_cached_remote_nanos(rest);
    if (!node.IsDefined() || is_one) return;
    ReadMap(node, "cached_input", Names{"device", "host", "disk", "remote"},
            [&](const std::string& tier, const YAML::Node& value) {
              const int64_t price = ReadPrice(value, tier);
              if (tier == "device") prices.set_cached_device_nanos(price);
              if (tier == "host") prices.set_cached_host_nanos(price);
              if (tier == "disk") prices.set_cached_disk_nanos(price);
              if (tier == "remote") prices.set_cached_remote_nanos(price);
            });
  }

  int64_t ReadPrice(const YAML::Node& node, std::string_view what) {
    if (!node.IsScalar()) {
      Complain(node, fmt::format("{} is the price of a million tokens, such as 0.25", what));
      return 0;
    }
    const auto nanos = ParseNanos(node.Scalar());
    if (!nanos.ok()) {
      Complain(node, fmt::format("{}: {}", what, std::string(nanos.status().message())));
    } else if (*nanos > kMaxPriceNanos) {
      Complain(node, fmt::format("{} is {}; the price of a million tokens is at most {}", what, node.Scalar(),
                                 kMaxPriceNanos / 1'000'000'000));
    }
    return nanos.value_or(0);
  }

  void CheckOrder(const YAML::Node& root, std::vector<PriceVersion>& versions) {
    std::ranges::stable_sort(versions, {}, &PriceVersion::effective_from);
    const auto same = std::ranges::adjacent_find(versions, {}, &PriceVersion::effective_from);
    if (same == versions.end()) return;
    Complain(root["versions"],
             fmt::format("versions \"{}\" and \"{}\" begin at the same time", same->name, std::next(same)->name));
  }

  const std::string_view served_model_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<PriceBook> ParsePriceBook(const std::string& text, std::string_view served_model) {
  if (text.size() > kMaxBookBytes) {
    return absl::InvalidArgumentError(
        fmt::format("a price book has at most {} bytes; this one has {}", kMaxBookBytes, text.size()));
  }
  const auto root = ParseYaml(text);
  if (!root.ok()) {
    const absl::string_view why = root.status().message();
    return absl::InvalidArgumentError(
        fmt::format("{}; names such as \"*\" are quoted", std::string_view(why.data(), why.size())));
  }
  return Reader(served_model).Read(*root);
}

LoadedPrices::Parse PriceBookParser(std::string served_model) {
  return [model = std::move(served_model)](const std::vector<std::string>& texts) {
    return ParsePriceBook(texts.front(), model);
  };
}

}  // namespace headstart
