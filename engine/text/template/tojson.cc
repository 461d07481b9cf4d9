// ToJson of json_value.h: Python's json.dumps.

#include <algorithm>
#include <cmath>

#include "engine/text/template/json_value.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

std::string FormatNumber(const Value& value) {
  if (!value.is(Value::Kind::kFloat)) return FormatInt(value.as_int());
  const double number = value.as_float();
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return FormatFloat(number);
}

class Dumper {
 public:
  Dumper(const DumpOptions& options, size_t max_bytes) : options_(options), max_bytes_(max_bytes) {}

  std::string Dump(const Value& value) && {
    Append(value, 0);
    return std::move(out_);
  }

 private:
  void Write(std::string_view bytes) {
    if (bytes.size() > max_bytes_ - out_.size())
      FailLimit(fmt::format("tojson writes more than the limit of {} bytes", max_bytes_));
    out_.append(bytes);
  }

  void NewLine(int level) {
    if (!options_.indent) return;
    Write("\n");
    for (int i = 0; i < level; ++i) Write(options_.indent->bytes());
  }

  void Separate(bool first, int level) {
    if (!first) Write(options_.item_separator);
    NewLine(level);
  }

  void Append(const Value& value, int level) {
    switch (value.kind()) {
      case Value::Kind::kNone:
        return Write("null");
      case Value::Kind::kBool:
        return Write(value.as_bool() ? "true" : "false");
      case Value::Kind::kInt:
      case Value::Kind::kFloat:
        return Write(FormatNumber(value));
      case Value::Kind::kString:
        return AppendString(value.as_text().bytes());
      case Value::Kind::kDict:
        return AppendDict(value.as_dict(), level);
      case Value::Kind::kSequence:
        if (value.as_sequence().flavor() <= Sequence::Flavor::kTuple)
          return AppendList(value.as_sequence().items(), level);
        break;
      default:
        break;
    }
    Fail(fmt::format("Object of type {} is not JSON serializable", TypeName(value)));
  }

  void AppendList(const List& items, int level) {
    if (items.empty()) return Write("[]");
    Write("[");
    for (size_t i = 0; i < items.size(); ++i) {
      Separate(i == 0, level + 1);
      Append(items[i], level + 1);
    }
    NewLine(level);
    Write("]");
  }

  void AppendDict(const Dict& dict, int level) {
    if (dict.entries().empty()) return Write("{}");
    std::vector<const Dict::Entry*> entries;
    for (const auto& entry : dict.entries()) entries.push_back(&entry);
    if (options_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto* a, const auto* b) { return LessThan(a->first, b->first); });
    }
    Write("{");
    for (size_t i = 0; i < entries.size(); ++i) {
      Separate(i == 0, level + 1);
      AppendKey(entries[i]->first);
      Write(options_.key_separator);
      Append(entries[i]->second, level + 1);
    }
    NewLine(level);
    Write("}");
  }

  // Keys that are not strings become strings.
  void AppendKey(const Value& key) {
    if (key.is_string()) return AppendString(key.as_text().bytes());
    if (!key.is_number() && !key.is_none()) {
      Fail(fmt::format("keys must be str, int, float, bool or None, not {}", TypeName(key)));
    }
    Write("\""), Append(key, 0), Write("\"");
  }

  void AppendString(std::string_view bytes) {
    Write("\"");
    size_t copied = 0;
    for (size_t i = 0; i < bytes.size();) {
      const CodePoint c = DecodeAt(bytes, i);
      const bool plain = c.value >= 0x20 && c.value != '"' && c.value != '\\' &&
                         (c.value < 0x7F || !options_.ensure_ascii || c.value >= kInvalidByte);
      if (!plain) {
        Write(bytes.substr(copied, i - copied));
        Write(Escape(c.value));
        copied = i + c.size;
      }
      i += c.size;
    }
    Write(bytes.substr(copied));
    Write("\"");
  }

  std::string Escape(char32_t c) const {
    switch (c) {
      case '"':
        return "\\\"";
      case '\\':
        return "\\\\";
      case '\n':
        return "\\n";
      case '\r':
        return "\\r";
      case '\t':
        return "\\t";
      case '\b':
        return "\\b";
      case '\f':
        return "\\f";
      default:
        break;
    }
    const auto code = static_cast<uint32_t>(c);
    if (code < 0x10000) return fmt::format("\\u{:04x}", code);
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF));
  }

  const DumpOptions& options_;
  const size_t max_bytes_;
  std::string out_;
};

}  // namespace

Text ToJson(const Value& value, const DumpOptions& options, size_t max_bytes) {
  return Text(Dumper(options, max_bytes).Dump(value),
              value.summary().has_caller_bytes ? Origin::kCaller : Origin::kTemplate);
}

}  // namespace headstart::jinja
