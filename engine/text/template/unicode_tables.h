// The tables behind unicode.h. All are ascending by code point.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_UNICODE_TABLES_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_UNICODE_TABLES_H_

#include <cstdint>
#include <span>

namespace headstart::jinja {

// Every `step`-th code point of [first, last]; a mapping adds `delta`.
struct SteppedRange {
  char32_t first;
  char32_t last;
  int32_t step;
  int32_t delta;
};

// A mapping that needs more than a delta; unused places are 0.
struct SpecialMapping {
  char32_t from;
  char32_t to[3];
};

struct CharacterTables {
  std::span<const SteppedRange> upper;
  std::span<const SpecialMapping> upper_special;
  std::span<const SteppedRange> lower;
  std::span<const SpecialMapping> lower_special;
  std::span<const SpecialMapping> title_special;  // where it differs from upper case
  std::span<const SteppedRange> is_alpha;
  std::span<const SteppedRange> is_decimal;
  std::span<const SteppedRange> is_upper;
  std::span<const SteppedRange> is_lower;
};

const CharacterTables& Tables();

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_UNICODE_TABLES_H_
