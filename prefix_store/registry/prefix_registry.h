// PrefixRegistry: the prefixes that somebody named, and their pins. It outlives the process through named records.
//
// A registered prefix is pinned as far as its blocks are on the device. What is not there yet, after a restart for
// example, is pinned once it has come back: the registry computes nothing itself.
//
// Thread-safety: none; the scheduler thread's. Ownership: store, records and executor outlive it; records and executor
// also the work that the registry handed out. Time is the wall clock's and comes with the calls.
//
// What survives: a change survives whatever comes once WritesPending() is false. Changes that cannot be written are
// tried again, and said; the registry goes on with them in memory.
//
//   PrefixRegistry registry(store, {.records = &records, .io = &io});
//   registry.Load(absl::Now());
//   auto added = registry.Add({.id = "support", .tokens = system_prompt}, absl::Now());   // pins what is there of it
//   registry.Poll(absl::Now());                                                           // before each step

#ifndef HEADSTART_PREFIX_STORE_REGISTRY_PREFIX_REGISTRY_H_
#define HEADSTART_PREFIX_STORE_REGISTRY_PREFIX_REGISTRY_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/registry/named_records.h"
#include "prefix_store/registry/record_writer.h"
#include "prefix_store/registry/registered_prefix.h"

namespace headstart {

struct PrefixRegistryOptions {
  NamedRecords* records = nullptr;  // null: nothing outlives the process
  IoExecutor* io = nullptr;         // REQUIRED with records; where the disk's other writes run

  // What the tokens are of: a digest of the tokenizer. Prefixes registered under another one are left where they are.
  uint64_t vocabulary = 0;

  // Hears in one sentence of what an operator should know. On the scheduler thread.
  std::function<void(const std::string&)> on_event = nullptr;
};

class PrefixRegistry {
 public:
  // Valid until the next call that changes the registry.
  struct Entry {
    RegisteredPrefix prefix;
    PinnedPrefix pin;
  };

  // Records that Load did not use.
  struct Skipped {
    int64_t newer = 0;  // of a newer program's; left where they are
    int64_t damaged = 0;
    int64_t other_vocabulary = 0;
  };

  PrefixRegistry(PrefixStore& store, const PrefixRegistryOptions& options);

  // Reads what was registered before. At start, before anything else: it waits for the disk. The disk's error when it
  // cannot be read; what was read until then is registered. It may be called again then: what was registered or removed
  // by tenant meanwhile stays so.
  absl::Status Load(absl::Time now);

  // INVALID_ARGUMENT for no id, no tokens or an expiry that has passed; ALREADY_EXISTS for an id that its scope has;
  // RESOURCE_EXHAUSTED, with the numbers, when it cannot be pinned. That nothing of it is on the device is no error.
  absl::StatusOr<const Entry*> Add(RegisteredPrefix prefix, absl::Time now);

  // What is said of an id that its scope has, and of one that it has not.
  static absl::Status IsTaken(std::string_view id);
  static absl::Status IsMissing(std::string_view id);

  // Pins what is on the device of it by now. The tokens pinned; NOT_FOUND; RESOURCE_EXHAUSTED, with what was pinned
  // before still so.
  absl::StatusOr<int64_t> Pin(const Scope& scope, std::string_view id);

  // The prefix of exactly `scope`; null when there is none.
  const Entry* Find(const Scope& scope, std::string_view id) const;

  // NOT_FOUND; INVALID_ARGUMENT for an expiry that has passed.
  absl::StatusOr<const Entry*> Update(const Scope& scope, std::string_view id, absl::Time expires, absl::Time now);

  // Ends the pin and forgets the name. NOT_FOUND.
  absl::Status Remove(const Scope& scope, std::string_view id);

  // The same for all scopes of a tenant; how many there were.
  int64_t RemoveTenant(std::string_view tenant);

  // The same for all there are.
  int64_t RemoveAll();

  // The public ones, then those of exactly `scope`, each in the order of their ids.
  std::vector<const Entry*> List(const Scope& scope) const;

  // Those of every scope, in the same order within each.
  std::vector<const Entry*> ListAll() const;

  // Forgets those that have expired, tries to pin one that is not pinned whole, takes writes back. Cheap.
  void Poll(absl::Time now);

  // None expires before it; absl::InfiniteFuture() when none does. To be polled by then.
  absl::Time NextExpiry() const { return next_expiry_; }

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  bool WritesPending() const { return writer_.pending() > 0 || unread_removals_.any(); }
  const Skipped& skipped() const { return skipped_; }

 private:
  struct Key {
    bool is_tenants = false;  // public ones come first
    std::string tenant;
    std::string partition;
    std::string id;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Entries = absl::btree_map<Key, Entry>;

  // What is to go of records that have not been read yet.
  struct UnreadRemovals {
    bool all = false;
    absl::flat_hash_set<std::string> tenants;
    bool any() const { return all || !tenants.empty(); }
    bool Contain(const Scope& scope) const { return all || (!scope.is_public() && tenants.contains(scope.tenant())); }
  };

  static Key KeyOf(const Scope& scope, std::string_view id);
  absl::Status CheckNew(const RegisteredPrefix& prefix, absl::Time now) const;
  absl::Status TryPin(Entry& entry);
  void LoadRecord(std::string_view name, std::string_view bytes, absl::Time now);
  void SaySkipped() const;
  void Write(const Entry& entry);
  Entries::iterator Erase(Entries::iterator entry);
  void Expire(absl::Time now);
  void PinNext();
  void Append(const Scope& scope, std::vector<const Entry*>& list) const;

  PrefixStore& store_;
  const PrefixRegistryOptions options_;
  RecordWriter writer_;
  Entries entries_;
  Key next_to_pin_;
  absl::Time next_expiry_ = absl::InfiniteFuture();  // none expires before it
  Skipped skipped_;
  bool loaded_ = false;
  UnreadRemovals unread_removals_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REGISTRY_PREFIX_REGISTRY_H_
