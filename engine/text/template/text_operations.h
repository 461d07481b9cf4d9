// Python's operations on str, for the filters and methods that share them. All count code points and keep the origin of
// every byte. Operations that make strings charge the Context for them.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_TEXT_OPERATIONS_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_TEXT_OPERATIONS_H_

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "engine/text/template/text.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

inline constexpr Int kNoLimit = std::numeric_limits<int64_t>::max();

enum class Side { kLeft, kRight, kBoth };

// Without the characters of `chars` at the sides, by default white space.
Text Strip(const Text& text, Side side, const std::optional<Text>& chars);

enum class CaseMapping { kUpper, kLower, kSwap, kCapitalize, kTitle };
Text MapCase(Context& context, const Text& text, CaseMapping mapping);

// As str.isupper or islower: there is a cased code point, and none of the other case.
bool IsAllOfCase(Context& context, const Text& text, CaseMapping mapping);

// The title filter: words begin after space and any of -({[<
Text TitleFilter(Context& context, const Text& text);

Text Replace(Context& context, const Text& text, const Text& from, const Text& to, Int count);

// At most `count` splits, at white space if there is no separator. Fails for an empty one.
List Split(Context& context, const Text& text, const std::optional<Text>& separator, Int count);
List SplitFromRight(Context& context, const Text& text, const std::optional<Text>& separator, Int count);
enum class LineEnds { kDrop, kKeep };
List SplitLines(Context& context, const Text& text, LineEnds ends);

// The texts of `items`. `convert` says whether what is not a string is converted or refused, as str.join does.
enum class JoinItems { kConvert, kRefuse };
Text JoinTexts(Context& context, const Text& separator, const List& items, JoinItems convert);

// As str.ljust, rjust and center.
enum class Alignment { kLeft, kRight, kCenter };
Text Pad(Context& context, const Text& text, Int width, Alignment alignment, const Text& fill);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_TEXT_OPERATIONS_H_
