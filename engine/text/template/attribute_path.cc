#include "engine/text/template/attribute_path.h"

#include <algorithm>
#include <charconv>

#include "engine/text/template/context.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/text_operations.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

constexpr size_t kMaxPathBytes = 1024;  // far more than any name, and quick to take apart for each call

void CheckLength(const Text& path) {
  if (path.size() <= kMaxPathBytes) return;
  FailLimit(fmt::format("the attribute of a filter is named by more than {} bytes", kMaxPathBytes));
}

Value Part(const Text& text) {
  int64_t index = 0;
  const char* end = text.bytes().data() + text.size();
  const auto read = std::from_chars(text.bytes().data(), end, index);
  const bool is_index = !text.empty() && read.ec == std::errc() && read.ptr == end && text.bytes()[0] != '-';
  return is_index ? Value(Int{index}) : Value(text);
}

List SplitAt(char separator, const Text& text) {
  List parts;
  size_t begin = 0;
  for (size_t end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.bytes().find(separator, begin);
    parts.emplace_back(text.Slice(begin, std::min(end, text.size())));
  }
  return parts;
}

}  // namespace

AttributePath::AttributePath(const Value& attribute, std::optional<Value> otherwise)
    : otherwise_(std::move(otherwise)) {
  if (attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  CheckLength(attribute.as_text());
  for (const Value& part : SplitAt('.', attribute.as_text())) parts_.push_back(Part(part.as_text()));
}

std::vector<AttributePath> AttributePath::Several(const Value& attribute) {
  std::vector<AttributePath> paths;
  if (!attribute.is_string()) return {AttributePath(attribute)};
  CheckLength(attribute.as_text());
  for (const Value& path : SplitAt(',', attribute.as_text())) paths.emplace_back(path);
  return paths;
}

Value AttributePath::Get(Context& context, Value item) const {
  for (const Value& part : parts_) {
    context.Charge(1);
    item = GetItem(context, item, part);
    if (item.is_undefined() && otherwise_) item = *otherwise_;
  }
  return item;
}

Value IgnoreCase(Context& context, const Value& value) {
  return value.is_string() ? Value(MapCase(context, value.as_text(), CaseMapping::kLower)) : value;
}

}  // namespace headstart::jinja
