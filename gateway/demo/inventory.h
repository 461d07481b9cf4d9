// Inventory: a list of facts in the words of the demo model, as a system prompt, with questions whose right answers are
// known.
//
// Thread-safety: plain values and a free function. The same size gives the same inventory on every machine.

#ifndef HEADSTART_GATEWAY_DEMO_INVENTORY_H_
#define HEADSTART_GATEWAY_DEMO_INVENTORY_H_

#include <string>
#include <vector>

namespace headstart {

struct InventoryQuestion {
  std::string text;
  std::string answer;  // the sentence that is true by the inventory
};

struct Inventory {
  std::string system_prompt;
  std::vector<InventoryQuestion> questions;  // one for each fact, in the order of the facts
};

// `facts` facts of some eleven tokens each; every thing has one fact. REQUIRES: 1 <= facts <= 1,000.
Inventory MakeInventory(int facts);

// `count` of its questions, spread over the inventory and over the kinds of facts.
std::vector<InventoryQuestion> PickQuestions(const Inventory& inventory, int count);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_DEMO_INVENTORY_H_
