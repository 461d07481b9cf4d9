#include "prefix_store/eviction/sequence_memory.h"

#include "prefix_store/eviction/age_buckets.h"

namespace headstart {

SequenceMemory::SequenceMemory(int64_t capacity) : capacity_(capacity), by_age_(kAgeBuckets) {}

SequenceMemory::Prefix* SequenceMemory::Find(uint64_t hash) {
  const auto found = ids_.find(hash);
  return found == ids_.end() ? nullptr : &prefixes_[ToIndex(found->second)];
}

SequenceMemory::Prefix& SequenceMemory::Touch(uint64_t hash, AgeMs now) {
  const auto found = ids_.find(hash);
  const PrefixId id = found == ids_.end() ? Add(hash) : found->second;
  if (by_age_.Contains(id)) by_age_.Remove(id);
  by_age_.PushNewest(0, id);
  Prefix& prefix = prefixes_[ToIndex(id)];
  prefix.at = now;
  return prefix;
}

SequenceMemory::PrefixId SequenceMemory::Add(uint64_t hash) {
  PrefixId id{static_cast<uint32_t>(prefixes_.size())};
  if (size() < capacity_) {
    prefixes_.emplace_back();
  } else {
    id = Oldest();
    by_age_.Remove(id);
    ids_.erase(prefixes_[ToIndex(id)].hash);
  }
  prefixes_[ToIndex(id)] = {.hash = hash};
  ids_.emplace(hash, id);
  return id;
}

SequenceMemory::PrefixId SequenceMemory::Oldest() const {
  int list = kAgeBuckets - 1;
  while (by_age_.Empty(list)) --list;
  return *by_age_.Oldest(list);
}

// From the oldest bucket down, so that what moves up is always younger than what is there.
void SequenceMemory::Age(AgeMs now, absl::FunctionRef<void(const Prefix&, int)> reached) {
  for (int bucket = kAgeBuckets - 2; bucket >= 0; --bucket) {
    while (const auto id = by_age_.Oldest(bucket)) {
      const Prefix& prefix = prefixes_[ToIndex(*id)];
      const int age = AgeBucket(ToIndex(now) - ToIndex(prefix.at));
      if (age <= bucket) break;
      by_age_.Remove(*id);
      by_age_.PushNewest(age, *id);
      if (prefix.watched == 0) continue;
      for (int passed = bucket + 1; passed <= age; ++passed) reached(prefix, passed);
    }
  }
}

}  // namespace headstart
