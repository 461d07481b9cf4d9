#include "gateway/services/ordered_json.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

// Schemas nest some ten levels; what recurses over a value must not run out of stack on a hostile one.
constexpr size_t kMaxJsonDepth = 64;

void DropRepeatedKeys(Json::object_t& members) {
  std::unordered_map<std::string_view, Json*> last;  // each key's value; keys are views into `members`
  last.reserve(members.size());
  for (auto& [key, value] : members) last[key] = &value;
  if (last.size() == members.size()) return;
  Json::object_t unique;
  for (const auto& [key, value] : members) {
    const auto found = last.find(key);
    if (found == last.end()) continue;  // its first place has the value
    unique.emplace_back(key, std::move(*found->second));
    last.erase(found);
  }
  members = std::move(unique);
}

// Makes a value of a parser's events. What is open is always at the end of what it is in, so nothing moves under it.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // not in JSON text
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_object() override {
    DropRepeatedKeys(open_.back()->get_ref<Json::object_t&>());
    return end_array();
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    bad_byte_ = position;
    return false;
  }

  bool too_deep() const { return too_deep_; }
  std::size_t bad_byte() const { return bad_byte_; }  // counted from 1
  Json& root() { return root_; }

 private:
  bool Add(Json value) {
    Place(std::move(value));
    return true;
  }

  bool Open(Json container) {
    too_deep_ = open_.size() == kMaxJsonDepth;
    if (too_deep_) return false;
    open_.push_back(&Place(std::move(container)));
    return true;
  }

  Json& Place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_array()) return open_.back()->get_ref<Json::array_t&>().emplace_back(std::move(value));
    AppendMember(*open_.back(), std::move(key_), std::move(value));
    return open_.back()->get_ref<Json::object_t&>().back().second;
  }

  Json root_;
  std::vector<Json*> open_;  // outermost first
  std::string key_;
  bool too_deep_ = false;
  std::size_t bad_byte_ = 0;
};

}  // namespace

absl::StatusOr<Json> ParseOrderedObject(std::string_view text, std::string_view field) {
  Builder builder;
  const bool complete = Json::sax_parse(text, &builder);
  if (builder.too_deep()) return InvalidField(field, fmt::format("nests more than {} levels deep", kMaxJsonDepth));
  if (!complete) return InvalidField(field, fmt::format("is not valid JSON at byte {}", builder.bad_byte()));
  if (!builder.root().is_object()) return InvalidField(field, "is not a JSON object");
  return std::move(builder.root());
}

void AppendMember(Json& object, std::string name, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(std::move(name), std::move(value));
}

}  // namespace headstart
