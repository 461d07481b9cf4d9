#include "prefix_store/registry/prefix_registry.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "prefix_store/registry/prefix_codec.h"

namespace headstart {
namespace {

absl::Status CheckExpiry(std::string_view id, absl::Time expires, absl::Time now) {
  if (expires > now) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("prefix \"{}\" would have expired at unix second {}, before it is registered; give it a later end",
                  id, absl::ToUnixSeconds(expires)));
}

}  // namespace

PrefixRegistry::PrefixRegistry(PrefixStore& store, const PrefixRegistryOptions& options)
    : store_(store), options_(options), writer_(options.records, options.io), loaded_(options.records == nullptr) {}

PrefixRegistry::Key PrefixRegistry::KeyOf(const Scope& scope, std::string_view id) {
  return {!scope.is_public(), scope.tenant(), scope.partition(), std::string(id)};
}

// --- from before

absl::Status PrefixRegistry::Load(absl::Time now) {
  if (options_.records == nullptr) return absl::OkStatus();
  const absl::Status status = options_.records->ForEach([&](std::string_view name, std::string_view bytes) {
    if (IsPrefixRecordName(name)) LoadRecord(name, bytes, now);
  });
  loaded_ = status.ok();
  if (loaded_) unread_removals_ = {};
  SaySkipped();
  return status;
}

void PrefixRegistry::LoadRecord(std::string_view name, std::string_view bytes, absl::Time now) {
  absl::StatusOr<PrefixRecord> record = DecodePrefix(name, bytes);
  if (!record.ok()) {
    ++(absl::IsUnimplemented(record.status()) ? skipped_.newer : skipped_.damaged);
    return;
  }
  RegisteredPrefix& prefix = record->prefix;
  if (prefix.expires <= now || unread_removals_.Contain(prefix.scope)) return writer_.Remove(std::string(name));
  if (record->vocabulary != options_.vocabulary) {
    ++skipped_.other_vocabulary;
    return;
  }
  const Key key = KeyOf(prefix.scope, prefix.id);
  if (entries_.contains(key)) return;  // registered since
  next_expiry_ = std::min(next_expiry_, prefix.expires);
  Entry& entry = entries_[key];
  entry.prefix = std::move(prefix);
  TryPin(entry).IgnoreError();  // nothing may be there yet: Poll tries again
}

void PrefixRegistry::SaySkipped() const {
  if (!options_.on_event || skipped_.newer + skipped_.damaged + skipped_.other_vocabulary == 0) return;
  options_.on_event(
      fmt::format("Registered prefixes that were left out: {} written by a newer program, {} damaged, {} of another "
                  "tokenizer; register them again where they are missed.",
                  skipped_.newer, skipped_.damaged, skipped_.other_vocabulary));
}

// --- changes

absl::Status PrefixRegistry::IsTaken(std::string_view id) {
  return absl::AlreadyExistsError(
      fmt::format("a prefix \"{}\" is registered in this scope; delete it or take another id", id));
}

absl::Status PrefixRegistry::IsMissing(std::string_view id) {
  return absl::NotFoundError(fmt::format("no prefix \"{}\" is registered in this scope", id));
}

absl::Status PrefixRegistry::CheckNew(const RegisteredPrefix& prefix, absl::Time now) const {
  if (prefix.id.empty()) return absl::InvalidArgumentError("a registered prefix needs an id; it is empty");
  if (prefix.tokens.empty()) {
    return absl::InvalidArgumentError(fmt::format("prefix \"{}\" needs at least one token; it has none", prefix.id));
  }
  if (Find(prefix.scope, prefix.id) != nullptr) return IsTaken(prefix.id);
  return CheckExpiry(prefix.id, prefix.expires, now);
}

absl::StatusOr<const PrefixRegistry::Entry*> PrefixRegistry::Add(RegisteredPrefix prefix, absl::Time now) {
  if (absl::Status status = CheckNew(prefix, now); !status.ok()) return status;
  Entry entry{std::move(prefix), {}};
  if (absl::Status status = TryPin(entry); absl::IsResourceExhausted(status)) return status;
  const Key key = KeyOf(entry.prefix.scope, entry.prefix.id);
  const Entry& added = entries_.emplace(key, std::move(entry)).first->second;
  next_expiry_ = std::min(next_expiry_, added.prefix.expires);
  Write(added);
  return &added;
}

absl::StatusOr<const PrefixRegistry::Entry*> PrefixRegistry::Update(const Scope& scope, std::string_view id,
                                                                    absl::Time expires, absl::Time now) {
  const auto found = entries_.find(KeyOf(scope, id));
  if (found == entries_.end()) return IsMissing(id);
  if (absl::Status status = CheckExpiry(id, expires, now); !status.ok()) return status;
  found->second.prefix.expires = expires;
  next_expiry_ = std::min(next_expiry_, expires);
  Write(found->second);
  return &found->second;
}

absl::Status PrefixRegistry::Remove(const Scope& scope, std::string_view id) {
  const auto found = entries_.find(KeyOf(scope, id));
  if (found == entries_.end()) return IsMissing(id);
  Erase(found);
  return absl::OkStatus();
}

int64_t PrefixRegistry::RemoveTenant(std::string_view tenant) {
  if (!loaded_) unread_removals_.tenants.emplace(tenant);
  int64_t removed = 0;
  auto entry = entries_.lower_bound(KeyOf(Scope::Tenant(std::string(tenant)), ""));
  while (entry != entries_.end() && entry->first.tenant == tenant) {
    entry = Erase(entry);
    ++removed;
  }
  return removed;
}

int64_t PrefixRegistry::RemoveAll() {
  unread_removals_.all = !loaded_;
  const int64_t removed = size();
  for (auto entry = entries_.begin(); entry != entries_.end();) entry = Erase(entry);
  return removed;
}

void PrefixRegistry::Write(const Entry& entry) {
  writer_.Put(PrefixRecordName(entry.prefix.scope, entry.prefix.id), EncodePrefix({entry.prefix, options_.vocabulary}));
}

PrefixRegistry::Entries::iterator PrefixRegistry::Erase(Entries::iterator entry) {
  writer_.Remove(PrefixRecordName(entry->second.prefix.scope, entry->second.prefix.id));
  return entries_.erase(entry);
}

// --- reading

const PrefixRegistry::Entry* PrefixRegistry::Find(const Scope& scope, std::string_view id) const {
  const auto found = entries_.find(KeyOf(scope, id));
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<const PrefixRegistry::Entry*> PrefixRegistry::List(const Scope& scope) const {
  std::vector<const Entry*> list;
  Append(Scope::Public(), list);
  if (!scope.is_public()) Append(scope, list);
  return list;
}

std::vector<const PrefixRegistry::Entry*> PrefixRegistry::ListAll() const {
  std::vector<const Entry*> list;
  list.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) list.push_back(&entry);
  return list;
}

void PrefixRegistry::Append(const Scope& scope, std::vector<const Entry*>& list) const {
  for (auto entry = entries_.lower_bound(KeyOf(scope, "")); entry != entries_.end(); ++entry) {
    if (entry->second.prefix.scope != scope) return;
    list.push_back(&entry->second);
  }
}

// --- pins and time

absl::StatusOr<int64_t> PrefixRegistry::Pin(const Scope& scope, std::string_view id) {
  const auto found = entries_.find(KeyOf(scope, id));
  if (found == entries_.end()) return IsMissing(id);
  if (absl::Status status = TryPin(found->second); absl::IsResourceExhausted(status)) return status;
  return found->second.pin.pinned_tokens();
}

// The new pin comes before the old one goes, so that nothing is lost between them: they count shared blocks once.
absl::Status PrefixRegistry::TryPin(Entry& entry) {
  if (entry.pin.pinned_tokens() == std::ssize(entry.prefix.tokens)) return absl::OkStatus();
  if (entry.pin.pinned_tokens() == 0) entry.pin = PinnedPrefix();  // after a flush it holds room for nothing
  absl::StatusOr<PinnedPrefix> pin = store_.Pin(entry.prefix.scope, entry.prefix.tokens);
  if (!pin.ok()) return pin.status();
  entry.pin = *std::move(pin);
  return absl::OkStatus();
}

void PrefixRegistry::Poll(absl::Time now) {
  Expire(now);
  PinNext();
  const absl::Status failure = writer_.Poll(now);
  if (failure.ok() || !options_.on_event) return;
  const absl::string_view why = failure.message();
  options_.on_event(fmt::format("A registered prefix could not be written, and will be tried again: {}",
                                std::string_view(why.data(), why.size())));
}

void PrefixRegistry::Expire(absl::Time now) {
  if (now < next_expiry_) return;
  next_expiry_ = absl::InfiniteFuture();
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second.prefix.expires <= now) {
      entry = Erase(entry);
    } else {
      next_expiry_ = std::min(next_expiry_, entry->second.prefix.expires);
      ++entry;
    }
  }
}

// One at a time, in turn: looking for a long prefix takes as long as a lookup.
void PrefixRegistry::PinNext() {
  if (entries_.empty()) return;
  auto entry = entries_.lower_bound(next_to_pin_);
  if (entry == entries_.end()) entry = entries_.begin();
  TryPin(entry->second).IgnoreError();  // as long as there is no room or nothing is there
  next_to_pin_ = ++entry == entries_.end() ? Key{} : entry->first;
}

}  // namespace headstart
