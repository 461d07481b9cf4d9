// IdLists: numbered lists of ids, each from oldest to newest. An id is in one list at most; adding, removing
// from the middle and finding a list's oldest take constant time and, once there is room for the id, no allocation.
// 12 bytes an id, and 12 a list. Ids are small integers; no bound is known ahead.
//
// Thread-safety: none.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_ID_LISTS_H_
#define HEADSTART_PREFIX_STORE_EVICTION_ID_LISTS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "prefix_store/types.h"

namespace headstart {

template <typename Id>
class IdLists {
 public:
  // Lists are numbered from 0.
  explicit IdLists(int lists) : ends_(lists) { Clear(); }

  // Returns the new list's number.
  int AddList() {
    ends_.push_back(EmptyEnd(static_cast<uint32_t>(ends_.size())));
    return lists() - 1;
  }
  int lists() const { return static_cast<int>(ends_.size()); }

  // Room for ids up to `id` is made as they come. REQUIRES: it is in no list, and below 2^31.
  void PushNewest(int list, Id id) {
    const auto number = static_cast<uint32_t>(list);
    const auto place = static_cast<uint32_t>(ToIndex(id));
    if (place >= links_.size()) links_.resize(size_t{place} + 1);
    const uint32_t newest = ends_[list].older;
    links_[place] = {newest, number | kEnd, number};
    At(newest).newer = place;
    ends_[list].older = place;
    ++size_;
  }

  // REQUIRES: it is in a list.
  void Remove(Id id) {
    Link& link = links_[ToIndex(id)];
    At(link.older).newer = link.newer;
    At(link.newer).older = link.older;
    link = Link{};
    --size_;
  }

  // REQUIRES: it is in a list.
  int ListOf(Id id) const { return static_cast<int>(links_[ToIndex(id)].list); }

  std::optional<Id> Oldest(int list) const { return IdAt(ends_[list].newer); }

  // The first from the list's oldest on that `accept` agrees to.
  std::optional<Id> FirstFromOldest(int list, absl::FunctionRef<bool(Id)> accept) const {
    for (auto id = Oldest(list); id; id = IdAt(links_[ToIndex(*id)].newer)) {
      if (accept(*id)) return id;
    }
    return std::nullopt;
  }

  bool Empty(int list) const { return (ends_[list].newer & kEnd) != 0; }
  bool Contains(Id id) const { return ToIndex(id) < links_.size() && links_[ToIndex(id)].list != kNone; }
  int64_t size() const { return size_; }

  // Empties the lists, which stay.
  void Clear() {
    links_.clear();
    for (uint32_t list = 0; list < ends_.size(); ++list) ends_[list] = EmptyEnd(list);
    size_ = 0;
  }

 private:
  // A place is an id, or with this bit the end of a list, which closes its ring.
  static constexpr uint32_t kEnd = uint32_t{1} << 31;
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  struct Link {
    uint32_t older = kNone;
    uint32_t newer = kNone;
    uint32_t list = kNone;
  };

  static Link EmptyEnd(uint32_t list) { return {list | kEnd, list | kEnd, list}; }
  Link& At(uint32_t place) { return (place & kEnd) != 0 ? ends_[place ^ kEnd] : links_[place]; }
  std::optional<Id> IdAt(uint32_t place) const {
    if ((place & kEnd) != 0) return std::nullopt;
    return Id{place};
  }

  std::vector<Link> ends_;   // by list
  std::vector<Link> links_;  // by id
  int64_t size_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_ID_LISTS_H_
