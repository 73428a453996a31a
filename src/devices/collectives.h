// Collective operations on buffers of a device: the data plane that the collective probe measures.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/dtype.h"
#include "core/json.h"
#include "core/units.h"

namespace bench {

// Over which paths the ranks of a collective reach each other: what is asked for, what a library
// says it uses, and whether the two agree.

/// `nvlink`: nothing else between the GPUs of a host. `network`: nothing but network cards, inside
/// a host too.
enum class Isolation { none, nvlink, network };

std::string_view to_string(Isolation isolation);
Isolation isolation_from(std::string_view name);

struct PathRequest {
  Isolation isolation = Isolation::none;
  std::string network_card;  // the only one to be used: "mlx5_0", "eth0"; empty: any
  bool operator==(const PathRequest&) const = default;
};

/// What is asked of a rank on a rail (core/job.h): where no card is named, its own.
PathRequest on_own_rail(PathRequest asked);

/// What one rank, or all of them, said. Empty sets: nothing was said.
struct UsedPaths {
  std::set<std::string> transports;     // "P2P", "SHM", "NET/IB", "NET/Socket", "COLLNET", "NVLS"
  std::set<std::string> network_cards;  // those the library was ready to use
  void merge(const UsedPaths& other);
};

/// {"transports": [...], "network_cards": [...]}
Json to_json(const UsedPaths& paths);
/// Of what to_json() gives.
UsedPaths used_paths_from_json(const Json& json);

/// What was used against the request: "nvlink only was asked for, but SHM was used"; "" when it
/// agrees as far as anything is known.
std::string path_violation(const PathRequest& asked, const UsedPaths& used);

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
