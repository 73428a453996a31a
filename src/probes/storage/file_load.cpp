#include "probes/storage/file_load.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <utility>

#include "core/error.h"
#include "devices/host_clock.h"
#include "probes/storage/aligned_buffer.h"
#include "probes/storage/async_queue.h"
#include "probes/storage/random_blocks.h"

namespace bench::storage {
namespace {

/// Each thread has its own part of the file.
std::uint64_t blocks_per_thread(const LoadRequest& request) {
  return request.file_bytes / request.block_bytes / static_cast<std::uint64_t>(request.threads);
}

}  // namespace

/// One thread: its part of the file, its buffers and its results.
class FileLoad::Worker {
 public:
  Worker(const LoadRequest& request, int number)
      : request_(request),
        file_(request.file, request.access,
              request.direction == Direction::read ? OpenFor::reading : OpenFor::writing),
        order_(request.order, blocks_per_thread(request),
               request.seed + static_cast<std::uint64_t>(number)),
        first_block_(blocks_per_thread(request) * static_cast<std::uint64_t>(number)) {
    for (int slot = 0; slot < request.depth; ++slot) {
      buffers_.emplace_back(request.block_bytes);
      fill_blocks(buffers_.back().all(),
                  request.seed * 131 + static_cast<std::uint64_t>(number * 1024 + slot));
    }
    begun_.resize(static_cast<std::size_t>(request.depth));
    offsets_.resize(static_cast<std::size_t>(request.depth));
    if (request.depth > 1) queue_ = std::make_unique<AsyncQueue>(request.depth);
  }

  void run(Seconds start) {
    start_ = start;
    const Seconds cpu = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
    if (queue_)
      run_queue();
    else
      run_alone();
    if (request_.sync_every > 0 && pending_ > 0.0) sync();
    result.wall = steady_now() - start_;
    result.cpu = cpu_time_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
  }

  LoadResult result = {};

 private:
  bool may_begin(Seconds now) const {
    const bool more = !request_.once || visits_ < order_.count();
    return more && now - start_ < request_.duration;
  }

  /// Takes the next block and makes the memory of `slot` ready for it.
  void prepare(std::size_t slot) {
    if (request_.observer) request_.observer(visits_);
    const std::uint64_t block = first_block_ + order_.at(visits_++);
    offsets_[slot] = block * request_.block_bytes;
    if (request_.direction == Direction::write)
      stamp_blocks(buffers_[slot].all(), offsets_[slot] / kBlockBytes, request_.seed);
  }

  void run_alone() {
    for (Seconds now = steady_now(); may_begin(now); now = steady_now()) {
      prepare(0);
      begun_[0] = steady_now();
      if (request_.direction == Direction::read)
        file_.read(buffers_[0].all(), offsets_[0]);
      else
        file_.write(buffers_[0].all(), offsets_[0]);
      if (request_.sync_every == 1) file_.sync();
      completed(0);
      if (request_.sync_every > 1 && ++unsynced_ == request_.sync_every) sync();
    }
  }

  /// Resubmits each slot as soon as it is free. Operations submitted together may complete together
  /// (a hypervisor's disk reports a batch when its last operation is done); then the storage waits
  /// for this thread, and this thread for the storage.
  void run_queue() {
    int in_flight = 0;
    for (std::size_t slot = 0; slot < buffers_.size(); ++slot) in_flight += begin(slot) ? 1 : 0;
    while (in_flight > 0)
      for (const AsyncQueue::Completion& done : queue_->wait()) {
        const auto slot = static_cast<std::size_t>(done.slot);
        demand_whole(done.result);
        completed(slot);
        if (!begin(slot)) --in_flight;
      }
  }

  /// False if no operation is left to start.
  bool begin(std::size_t slot) {
    if (!may_begin(steady_now())) return false;
    prepare(slot);
    const AsyncQueue::Operation operation = {request_.direction == Direction::write,
                                             buffers_[slot].all(), offsets_[slot],
                                             static_cast<int>(slot)};
    begun_[slot] = steady_now();
    queue_->submit(file_.descriptor(), std::span(&operation, 1));
    return true;
  }

  void demand_whole(std::int64_t moved) const {
    if (moved == static_cast<std::int64_t>(request_.block_bytes)) return;
    if (moved < 0) {
      errno = static_cast<int>(-moved);
      throw_errno("read or write " + request_.file.string());
    }
    throw Error(ErrorKind::environment, request_.file.string() + ": " + std::to_string(moved) +
                                            " bytes transferred instead of " +
                                            std::to_string(request_.block_bytes));
  }

  void completed(std::size_t slot) {
    const Seconds now = steady_now();
    result.latency.add(now - begun_[slot]);
    result.operations += 1.0;
    const auto bytes = static_cast<double>(request_.block_bytes);
    if (request_.sync_every > 1)
      pending_ += bytes;
    else
      credit(now, bytes);
    if (request_.direction == Direction::read)
      result.wrong_blocks += wrong_blocks(buffers_[slot].all(), offsets_[slot] / kBlockBytes,
                                          request_.seed, ++looked_ % kBodiesEvery == 0);
  }

  void sync() {
    file_.sync();
    credit(steady_now(), pending_);
    pending_ = 0.0;
    unsynced_ = 0;
  }

  void credit(Seconds now, double bytes) {
    result.bytes += bytes;
    const auto slice = static_cast<std::size_t>((now - start_) / request_.slice);
    if (slice >= result.slice_bytes.size()) result.slice_bytes.resize(slice + 1);
    result.slice_bytes[slice] += bytes;
    const auto part = static_cast<double>(order_.count() * request_.block_bytes);
    if (result.first_pass.value == 0.0 && result.bytes >= part) result.first_pass = now - start_;
  }

  const LoadRequest& request_;
  StorageFile file_;
  BlockOrder order_;
  std::uint64_t first_block_;
  std::uint64_t visits_ = 0;
  std::int64_t unsynced_ = 0, looked_ = 0;
  double pending_ = 0.0;  // bytes written and not yet on the device
  Seconds start_ = {};
  std::vector<AlignedBuffer> buffers_ = {};
  std::vector<Seconds> begun_ = {};
  std::vector<std::uint64_t> offsets_ = {};
  std::unique_ptr<AsyncQueue> queue_ = {};
};

FileLoad::FileLoad(const LoadRequest& request) : request_(request) {
  if (request_.depth > 1 && (request_.access != Access::direct || request_.sync_every > 0))
    throw Error(ErrorKind::internal, "depth above 1 needs direct I/O without syncs");
  if (request_.threads < 1 || blocks_per_thread(request_) == 0)
    throw Error(ErrorKind::input,
                request_.file.string() + ": " + std::to_string(request_.file_bytes) +
                    " bytes is less than one block of " + std::to_string(request_.block_bytes) +
                    " for each of " + std::to_string(request_.threads) + " threads",
                "increase size_bytes");
  for (int number = 0; number < request_.threads; ++number)
    workers_.push_back(std::make_unique<Worker>(request_, number));
}

FileLoad::~FileLoad() = default;

LoadResult FileLoad::run() {
  run_at_once(request_.threads, [&](int thread, Seconds start) {
    workers_[static_cast<std::size_t>(thread)]->run(start);
  });
  std::vector<LoadResult> results;
  for (const auto& worker : workers_) results.push_back(std::move(worker->result));
  LoadResult all = over_threads(results);
  all.all_busy = all.wall;  // operations are short: the last slices hardly lack work
  return all;
}

void make_load_file(const std::filesystem::path& path, std::uint64_t bytes, Access access,
                    std::uint64_t seed) {
  StorageFile file(path, access, OpenFor::writing_anew);
  file.preallocate(bytes);
  AlignedBuffer buffer(kLaidDownBytes);
  fill_blocks(buffer.all(), seed);
  for (std::uint64_t offset = 0; offset < bytes; offset += kLaidDownBytes) {
    const auto part = buffer.all().first(std::min<std::uint64_t>(kLaidDownBytes, bytes - offset));
    stamp_blocks(part, offset / kBlockBytes, seed);
    file.write(part, offset);
  }
  file.sync();
}

}  // namespace bench::storage
