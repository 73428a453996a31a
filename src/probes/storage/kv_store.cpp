#include "probes/storage/kv_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/elements.h"
#include "core/error.h"
#include "core/text.h"

namespace bench::storage {

KvEntry KvStore::create(const KvKey& key, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  while (stored_ + bytes > capacity_) remove_oldest();
  const auto number = [](int value) { return static_cast<std::uint64_t>(value); };
  Slot slot;
  slot.entry = {folder_ / fmt::format("user-{}-conversation-{}-turn-{}", key.user, key.conversation,
                                      key.turn),
                bytes,
                random_bits(random_bits(seed_, number(key.user)),
                            number(key.conversation) << 32 | number(key.turn))};
  slot.place = order_.insert(order_.end(), key);
  stored_ += bytes;
  return slots_.insert_or_assign(key, std::move(slot)).first->second.entry;
}

std::optional<KvEntry> KvStore::acquire(const KvKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(key);
  if (found == slots_.end()) return {};
  found->second.busy = true;
  return found->second.entry;
}

void KvStore::release(const KvKey& key) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_.at(key);
  slot.busy = false;
  order_.splice(order_.end(), order_, slot.place);
}

std::uint64_t KvStore::stored_bytes() const {
  const std::lock_guard lock(mutex_);
  return stored_;
}

std::int64_t KvStore::removed() const {
  const std::lock_guard lock(mutex_);
  return removed_;
}

void KvStore::remove_oldest() {
  const auto oldest =
      std::ranges::find_if(order_, [&](const KvKey& key) { return !slots_.at(key).busy; });
  if (oldest == order_.end())
    throw Error(ErrorKind::input,
                fmt::format("the entries in use fill the {} of the cache",
                            format(Bytes{static_cast<double>(capacity_)})),
                "increase size_bytes, or reduce users or scale");
  const auto found = slots_.find(*oldest);
  if (::unlink(found->second.entry.file.c_str()) != 0)
    throw_errno("remove " + found->second.entry.file.string());
  stored_ -= found->second.entry.bytes;
  slots_.erase(found);
  order_.erase(oldest);
  ++removed_;
}

}  // namespace bench::storage
