// Collective operations on buffers of a device: the data plane that the collective probe measures.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/dtype.h"
#include "core/units.h"
#include "probes/device/collective_paths.h"

namespace bench {

enum class CollectiveOp {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  send_recv
};

std::string_view to_string(CollectiveOp op);
CollectiveOp collective_op_from(std::string_view name);

/// Memory that the operations work on; it begins with a page.
class CollectiveMemory {
 public:
  virtual ~CollectiveMemory() = default;
  /// Where the device sees it. Only the two functions below may look inside.
  virtual std::byte* data() = 0;
  virtual void write(std::size_t at, std::span<const std::byte> bytes) = 0;
  virtual void read(std::size_t at, std::span<std::byte> bytes) = 0;
};

std::unique_ptr<CollectiveMemory> make_host_collective_memory(std::size_t bytes);

/// How a library did an operation, in its own words.
struct CollectiveChoice {
  std::string algorithm;  // "RING", "TREE", "NVLS"
  std::string protocol;   // "LL", "LL128", "SIMPLE"; empty where it was not said
  std::optional<int> channels = {};
};

/// Operations that were recorded once and are done again as a whole.
class RecordedOperations {
 public:
  virtual ~RecordedOperations() = default;
  virtual void replay() = 0;
};

/// Communication and computation at the same time.
class Overlap {
 public:
  virtual ~Overlap() = default;
  /// Does something where computations of together() will run, and waits for it: what prepares them
  /// and what gives their memory back may be tied to a thread.
  virtual void run_computation(const std::function<void()>& work) = 0;
  /// Does both at once; either may be empty. Where the device has a stream they are enqueued.
  /// `communicate` calls Collectives::run() only.
  virtual void together(const std::function<void()>& communicate,
                        const std::function<void()>& compute) = 0;
  struct Parts {
    Seconds communication, computation;
  };
  /// How long each took in the last together(), once the device has ended it.
  virtual Parts last_parts() = 0;
};

class Collectives {
 public:
  virtual ~Collectives() = default;

  /// Joins the ranks anew over these paths and does a first small operation; every rank asks alike.
  /// Throws Error(environment) when they cannot be joined so.
  virtual void connect(const PathRequest&) {}
  /// Leaves what connect() made, if there is anything; every rank asks alike.
  virtual void disconnect() {}
  /// How often connect() has joined ranks in this process: the first time costs the most.
  virtual int connections() const { return 0; }
  /// Why such paths cannot be asked for here; "" when they can.
  virtual std::string path_obstacle(const PathRequest& paths) const {
    return paths == PathRequest{} ? "" : "this library has no choice of transports";
  }

  /// `count` elements as the operation counts them: all_reduce, broadcast, reduce, send_recv:
  /// elements per rank; all_gather, all_to_all: elements each rank gives to one other (recv holds
  /// size x count); reduce_scatter: elements each rank ends up with (send holds size x count). In
  /// place is asked for by send == recv (all_reduce, broadcast, reduce) or by send pointing at the
  /// rank's own part of recv. Sum is the reduction; root is 0. send_recv: rank r sends to r+1 mod
  /// size. Where the device has a stream the operation is enqueued on it.
  virtual void run(CollectiveOp op, const void* send, void* recv, std::size_t count,
                   Dtype dtype) = 0;
  virtual std::unique_ptr<CollectiveMemory> allocate(std::size_t bytes) {
    return make_host_collective_memory(bytes);
  }
  /// How many bytes calls in a row go through, so that none finds its data in a cache.
  virtual std::size_t rotation_bytes() const { return std::size_t{64} << 20; }
  /// Why there is no such operation here; "" when there is.
  virtual std::string_view obstacle(CollectiveOp, Dtype, bool /*in_place*/) const { return ""; }

  /// Whether operations can be recorded, because they are enqueued rather than done.
  virtual bool records() const { return false; }
  /// What `enqueue` calls run() for, recorded instead of done; null where records() is false.
  virtual std::unique_ptr<RecordedOperations> record(const std::function<void()>& /*enqueue*/) {
    return nullptr;
  }
  /// Null where communication cannot overlap computation.
  virtual Overlap* overlap() { return nullptr; }

  /// How the last operation was done, as known at rank 0; nothing where the library does not say.
  virtual std::optional<CollectiveChoice> chosen() { return {}; }
  /// What this rank has been joined over so far.
  virtual UsedPaths used_paths() { return {}; }
};

}  // namespace bench
