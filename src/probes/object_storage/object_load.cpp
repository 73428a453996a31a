#include "probes/object_storage/object_load.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <utility>

#include "core/elements.h"
#include "core/error.h"
#include "core/text.h"
#include "devices/host_clock.h"
#include "probes/shared/permutation.h"
#include "probes/storage/aligned_buffer.h"
#include "probes/storage/random_blocks.h"

namespace bench::object_storage {
namespace {

using storage::kBlockBytes;

std::uint64_t objects_per_thread(const ObjectLoadRequest& request) {
  return request.size_bytes / request.object_bytes / static_cast<std::uint64_t>(request.threads);
}

}  // namespace

double ObjectLoadRequest::amount(Operation operation) const {
  if (!moves_bytes(operation)) return 1.0;
  return static_cast<double>(operation == Operation::range_get ? range_bytes : object_bytes);
}

/// One thread: its connection, its objects and its results.
class ObjectLoad::Worker {
 public:
  Worker(const ObjectLoadRequest& request, int number)
      : request_(request), number_(number), store_(request.store), buffer_(request.object_bytes) {}

  void connect() { store_.connect(); }

  void run(Operation operation, Seconds start, const std::atomic<bool>& failed) {
    result = {};
    start_ = start;
    const Seconds cpu = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
    if (operation == Operation::put) fill();
    for (std::uint64_t visit = 0; !failed && may_begin(operation); ++visit)
      if (operation == Operation::list)
        list(failed);
      else
        count(operation, run_once(operation, visit));
    result.load.wall = steady_now() - start_;
    result.load.cpu = cpu_time_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
  }

  /// Includes objects whose put was not acknowledged.
  void clear() {
    while (attempted_ > 0) remove();
  }

  ObjectLoadResult result = {};

 private:
  std::string folder() const { return fmt::format("{}t{}/", request_.folder, number_); }
  std::string key(std::uint64_t object) const { return fmt::format("{}{:08}", folder(), object); }
  /// The content of each object is its own, so that one in the place of another is found.
  std::uint64_t seed_of(std::uint64_t object) const {
    return random_bits(request_.seed, (static_cast<std::uint64_t>(number_) << 40) + object);
  }

  bool may_begin(Operation operation) const {
    if (operation == Operation::remove) return attempted_ > 0;
    if (operation == Operation::put && stored_ == objects_per_thread(request_)) return false;
    return steady_now() - start_ < request_.duration || result.load.operations == 0.0;
  }

  /// Random bytes, once: later objects only get new stamps.
  void fill() {
    storage::fill_blocks(buffer_.all(), request_.seed * 131 + static_cast<std::uint64_t>(number_));
  }

  Exchange run_once(Operation operation, std::uint64_t visit) {
    begun_ = steady_now();
    switch (operation) {
      case Operation::put:
        return put();
      case Operation::get:
        return get(visit);
      case Operation::range_get:
        return get_range(visit);
      case Operation::head:
        return store_.head(key(any_object(visit)), request_.object_bytes);
      default:
        return remove();
    }
  }

  Exchange put() {
    storage::stamp_blocks(buffer_.all(), 0, seed_of(stored_));
    attempted_ = stored_ + 1;
    begun_ = steady_now();
    const Exchange exchange = store_.put(key(stored_), buffer_.all());
    ++stored_;
    return exchange;
  }

  Exchange remove() {
    const Exchange exchange = store_.remove(key(attempted_ - 1));
    stored_ = --attempted_;
    return exchange;
  }

  /// Each object once before any twice.
  Exchange get(std::uint64_t visit) {
    const std::uint64_t object = any_object(visit);
    const Exchange exchange = store_.get(key(object), buffer_.all());
    verify(buffer_.all(), 0, object);
    return exchange;
  }

  /// Ranges of an object do not overlap, so that the order of all of them can be one of each once.
  Exchange get_range(std::uint64_t visit) {
    const std::uint64_t ranges = request_.object_bytes / request_.range_bytes;
    const std::uint64_t range =
        Permutation(stored_ * ranges, seed_of(1)).at(visit % (stored_ * ranges));
    const std::uint64_t object = range / ranges, offset = range % ranges * request_.range_bytes;
    const auto part = buffer_.all().first(request_.range_bytes);
    const Exchange exchange = store_.get_range(key(object), offset, part);
    verify(part, offset / kBlockBytes, object);
    return exchange;
  }

  std::uint64_t any_object(std::uint64_t visit) const {
    return Permutation(stored_, seed_of(0)).at(visit % stored_);
  }

  void verify(std::span<const std::byte> bytes, std::uint64_t first, std::uint64_t object) {
    result.load.wrong_blocks += storage::wrong_blocks(bytes, first, seed_of(object), true);
  }

  /// All pages of the thread's objects; each is an operation.
  void list(const std::atomic<bool>& failed) {
    std::vector<std::string> found;
    std::string continuation;
    do {
      ListPage page;
      begun_ = steady_now();
      count(Operation::list, store_.list(folder(), continuation, page));
      found.insert(found.end(), page.keys.begin(), page.keys.end());
      if (found.size() > stored_) break;
      continuation = page.continuation;
    } while (!continuation.empty() && !failed);
    if (!failed) demand_all(std::move(found));
  }

  void demand_all(std::vector<std::string> found) const {
    std::ranges::sort(found);
    for (std::uint64_t object = 0; object < stored_; ++object)
      if (object >= found.size() || found[object] != key(object))
        throw Error(ErrorKind::environment,
                    fmt::format("the list of {} lacks {} of {} stored objects", folder(),
                                key(object), stored_),
                    "the store's lists are not consistent with its puts");
    if (found.size() > stored_)
      throw Error(
          ErrorKind::environment,
          fmt::format("the list of {} has more than the {} stored objects", folder(), stored_),
          "others write to the prefix, or the store repeats objects");
  }

  void count(Operation operation, const Exchange& exchange) {
    storage::LoadResult& load = result.load;
    load.latency.add(exchange.latency);
    if (reads_bytes(operation)) result.first_byte.add(exchange.first_byte);
    result.retries += exchange.retries;
    load.operations += 1.0;
    const double amount = request_.amount(operation);
    load.bytes += amount;
    storage::spread(load.slice_bytes, request_.slice, begun_ - start_,
                    begun_ - start_ + exchange.latency, amount);
    const auto all = static_cast<double>(stored_ * request_.object_bytes);
    if (reads_bytes(operation) && load.first_pass.value == 0.0 && load.bytes >= all)
      load.first_pass = steady_now() - start_;
  }

  const ObjectLoadRequest& request_;
  int number_;
  ObjectStore store_;
  storage::AlignedBuffer buffer_;
  std::uint64_t stored_ = 0;     // acknowledged
  std::uint64_t attempted_ = 0;  // and perhaps stored
  Seconds start_ = {}, begun_ = {};
};

ObjectLoad::ObjectLoad(const ObjectLoadRequest& request) : request_(request) {
  if (request_.threads < 1 || objects_per_thread(request_) == 0)
    throw Error(ErrorKind::input,
                fmt::format("{} bytes are less than one object of {} for each of {} threads",
                            request_.size_bytes, request_.object_bytes, request_.threads),
                "increase size_bytes");
  for (int number = 0; number < request_.threads; ++number)
    workers_.push_back(std::make_unique<Worker>(request_, number));
  storage::run_at_once(request_.threads, [&](int thread, Seconds) {
    workers_[static_cast<std::size_t>(thread)]->connect();
  });
}

ObjectLoad::~ObjectLoad() {
  try {
    clear();
  } catch (const std::exception&) {  // reported by a clear() before
  }
}

ObjectLoadResult ObjectLoad::run(Operation operation) {
  std::atomic<bool> failed = false;
  storage::run_at_once(request_.threads, [&](int thread, Seconds start) {
    try {
      workers_[static_cast<std::size_t>(thread)]->run(operation, start, failed);
    } catch (...) {
      failed = true;  // the others need not go on
      throw;
    }
  });
  ObjectLoadResult all;
  std::vector<storage::LoadResult> loads;
  for (const auto& worker : workers_) {
    loads.push_back(worker->result.load);
    all.first_byte.add(worker->result.first_byte);
    all.retries += worker->result.retries;
  }
  all.load = storage::over_threads(loads);
  return all;
}

void ObjectLoad::clear() {
  storage::run_at_once(request_.threads, [&](int thread, Seconds) {
    workers_[static_cast<std::size_t>(thread)]->clear();
  });
}

}  // namespace bench::object_storage
