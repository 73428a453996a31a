#include "probes/storage/async_checkpoint.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "probes/host_clock.h"

namespace bench::storage {
namespace {

Seconds longest(Group& group, Seconds time) {
  group.max(std::span(&time.value, 1));
  return time;
}

}  // namespace

AsyncCheckpoint::AsyncCheckpoint(Group& group, const CheckpointStore& store,
                                 const CheckpointSetting& setting, std::span<const std::byte> state)
    : group_(group), store_(store), setting_(setting), state_(state), staging_(state.size()) {
  setting_.bytes = state.size();
}

AsyncCheckpoint::~AsyncCheckpoint() {
  if (thread_.joinable()) thread_.join();
}

AsyncCheckpoint::Saved AsyncCheckpoint::save(std::int64_t step) {
  const Seconds begin = steady_now();
  const auto former = finish();
  const Seconds back_pressure = former ? steady_now() - begin : Seconds{0.0};
  together(group_, [&] { store_.make_folder(step); });
  stage();
  const Seconds stall = steady_now() - begin;
  step_ = step;
  begun_ = steady_now();
  done_ = false;
  failure_ = {};
  thread_ = std::thread([this] { drain(); });
  return {longest(group_, stall), longest(group_, back_pressure), former};
}

void AsyncCheckpoint::stage() {
  const auto parts = static_cast<std::size_t>(setting_.threads);
  const std::size_t part = aligned_up((state_.size() + parts - 1) / parts);
  const auto copy = [this](std::size_t begin, std::size_t end) {
    if (begin < end) std::memcpy(staging_.all().data() + begin, state_.data() + begin, end - begin);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < parts; ++i)
    threads.emplace_back(copy, i * part, std::min((i + 1) * part, state_.size()));
  copy(0, std::min(part, state_.size()));
}

void AsyncCheckpoint::drain() {
  try {
    const std::span<const std::byte> copied = staging_.all().first(state_.size());
    if (!setting_.shared || group_.rank() == 0)
      for (const std::int64_t step : store_.steps())
        if (step < whole_) store_.remove(step, setting_.observer);
    shard_ = write_shard(shard_request(store_, step_, group_.rank(), setting_,
                                       chunks_of(copied, setting_.chunk_bytes)));
  } catch (...) {
    failure_ = std::current_exception();
  }
  done_ = true;
}

std::optional<Seconds> AsyncCheckpoint::poll() {
  if (!writing()) return {};
  double unfinished = done_ ? 0.0 : 1.0;
  group_.max(std::span(&unfinished, 1));
  if (unfinished > 0.0) return {};
  return commit();
}

std::optional<Seconds> AsyncCheckpoint::finish() {
  if (!writing()) return {};
  return commit();
}

Seconds AsyncCheckpoint::commit() {
  thread_.join();
  together(group_, [&] {
    if (failure_) std::rethrow_exception(failure_);
  });
  commit_checkpoint(group_, store_, step_, setting_, shard_);
  whole_ = step_;
  return longest(group_, steady_now() - begun_);
}

}  // namespace bench::storage
