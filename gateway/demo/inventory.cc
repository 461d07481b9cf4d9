#include "gateway/demo/inventory.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "fmt/format.h"

namespace headstart {
namespace {

// Words and sentences that the model was trained on; others would fall apart into untrained bytes.
constexpr std::array<std::string_view, 40> kAdjectives = {
    "red",    "blue",   "green",  "yellow",  "black", "white",   "brown",    "grey",    "pink",   "purple",
    "orange", "silver", "golden", "old",     "new",   "big",     "small",    "tall",    "round",  "square",
    "heavy",  "light",  "broken", "striped", "dusty", "shiny",   "rusty",    "antique", "modern", "soft",
    "hard",   "wide",   "narrow", "empty",   "spare", "folding", "portable", "painted", "royal",  "curved"};
constexpr std::array<std::string_view, 64> kNouns = {
    "lamp",     "chair",    "table",   "clock",   "violin",  "guitar",  "vase",      "mirror",
    "camera",   "radio",    "kettle",  "basket",  "bottle",  "bucket",  "ladder",    "hammer",
    "drill",    "saw",      "rope",    "candle",  "carpet",  "curtain", "pillow",    "blanket",
    "desk",     "drawer",   "cabinet", "bench",   "stool",   "piano",   "drum",      "flute",
    "trumpet",  "globe",    "map",     "book",    "lantern", "statue",  "painting",  "suitcase",
    "backpack", "umbrella", "bicycle", "helmet",  "tent",    "compass", "telescope", "microscope",
    "printer",  "keyboard", "monitor", "speaker", "fan",     "heater",  "toaster",   "mixer",
    "plate",    "bowl",     "cup",     "spoon",   "tray",    "jar",     "box",       "crate"};
constexpr std::array<std::string_view, 32> kOwners = {
    "Alice", "Bob",    "Carol", "David", "Emma",  "Frank",   "Grace", "Henry",  "Irene", "Jack", "Karen",
    "Leo",   "Maria",  "Nora",  "Oscar", "Paula", "Quentin", "Rosa",  "Sam",    "Tina",  "Uma",  "Victor",
    "Wendy", "Xavier", "Yara",  "Zoe",   "Adam",  "Bella",   "Clara", "Daniel", "Elena", "Felix"};
constexpr std::array<std::string_view, 16> kMaterials = {"brass",  "steel",   "copper",  "glass",  "oak",  "pine",
                                                         "marble", "plastic", "leather", "cotton", "silk", "bronze",
                                                         "iron",   "clay",    "paper",   "rubber"};

enum class Kind { kRoom, kShelf, kPrice, kOwner, kMaterial };
constexpr int kKinds = 5;

// {0} is the thing, {1} the value. The first fact of each kind is also how the model words its answer.
struct Wording {
  std::vector<std::string_view> facts;
  std::vector<std::string_view> questions;
};

const Wording& WordingOf(Kind kind) {
  static const std::array<Wording, kKinds> kWordings = {{
      {{"The {0} is in room {1}.", "You can find the {0} in room {1}.", "We keep the {0} in room {1}."},
       {"Where is the {0}?", "Where can I find the {0}?"}},
      {{"The {0} is on shelf {1}.", "You can find the {0} on shelf {1}.", "We keep the {0} on shelf {1}."},
       {"Where can I find the {0}?", "Where is the {0}?"}},
      {{"The {0} costs {1} dollars.", "The price of the {0} is {1} dollars."},
       {"What does the {0} cost?", "How much is the {0}?"}},
      {{"The {0} belongs to {1}.", "The owner of the {0} is {1}."}, {"Who owns the {0}?"}},
      {{"The {0} is made of {1}."}, {"What is the {0} made of?"}},
  }};
  return kWordings[static_cast<size_t>(kind)];
}

// A fixed walk through the words (Knuth's MMIX constants): the point is that it is the same everywhere.
class Dice {
 public:
  int Roll(int sides) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state_ >> 33) % static_cast<uint64_t>(sides));
  }
  template <typename List>
  std::string_view Pick(const List& list) {
    return list[static_cast<size_t>(Roll(static_cast<int>(list.size())))];
  }

 private:
  uint64_t state_ = 1;
};

std::string Say(std::string_view wording, std::string_view thing, std::string_view value) {
  return fmt::format(fmt::runtime(wording), thing, value);
}

std::string ValueFor(Kind kind, Dice& dice) {
  switch (kind) {
    case Kind::kRoom:
      return std::to_string(100 + dice.Roll(900));
    case Kind::kShelf:
    case Kind::kPrice:
      return std::to_string(10 + dice.Roll(90));
    case Kind::kOwner:
      return std::string(dice.Pick(kOwners));
    case Kind::kMaterial:
      return std::string(dice.Pick(kMaterials));
  }
  return "";
}

// The n-th of all pairs in an order that mixes both words: 1,009 is prime and so visits every pair once.
std::string ThingAt(int n) {
  constexpr int kPairs = static_cast<int>(kAdjectives.size() * kNouns.size());
  const auto pair = static_cast<size_t>(n * 1009 % kPairs);
  return fmt::format("{} {}", kAdjectives[pair % kAdjectives.size()], kNouns[pair / kAdjectives.size()]);
}

}  // namespace

Inventory MakeInventory(int facts) {
  Dice dice;
  Inventory inventory{.system_prompt = "You are the inventory assistant. Answer from this list.", .questions = {}};
  for (int n = 0; n < facts; ++n) {
    const auto kind = static_cast<Kind>(dice.Roll(kKinds));
    const std::string thing = ThingAt(n);
    const std::string value = ValueFor(kind, dice);
    const Wording& wording = WordingOf(kind);
    inventory.system_prompt += "\n" + Say(dice.Pick(wording.facts), thing, value);
    inventory.questions.push_back(
        {.text = Say(dice.Pick(wording.questions), thing, value), .answer = Say(wording.facts[0], thing, value)});
  }
  return inventory;
}

std::vector<InventoryQuestion> PickQuestions(const Inventory& inventory, int count) {
  const auto all = static_cast<int>(inventory.questions.size());
  std::vector<InventoryQuestion> picked;
  picked.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    picked.push_back(inventory.questions[static_cast<size_t>((2 * i + 1) * all / (2 * count))]);
  }
  return picked;
}

}  // namespace headstart
