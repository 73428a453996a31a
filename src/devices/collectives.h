// Collective operations on device buffers: the data plane that the collective probe measures.
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

// Paths between the ranks of a collective: what was requested, what the library reports, and
// whether they agree.

/// `nvlink`: only NVLink between the GPUs of a host. `network`: only NICs, even within a host.
enum class Isolation { none, nvlink, network };

std::string_view to_string(Isolation isolation);
Isolation isolation_from(std::string_view name);

struct PathRequest {
  Isolation isolation = Isolation::none;
  std::string network_card;  // the only NIC to use: "mlx5_0", "eth0"; empty: any
  bool operator==(const PathRequest&) const = default;
};

/// The request of a rank on a rail (core/job.h): its own NIC unless one is named.
PathRequest on_own_rail(PathRequest asked);

/// As reported by one rank, or merged over all. Empty sets: not reported.
struct UsedPaths {
  std::set<std::string> transports;     // "P2P", "SHM", "NET/IB", "NET/Socket", "COLLNET", "NVLS"
  std::set<std::string> network_cards;  // those the library was prepared to use
  void merge(const UsedPaths& other);
};

/// {"transports": [...], "network_cards": [...]}
Json to_json(const UsedPaths& paths);
UsedPaths used_paths_from_json(const Json& json);

/// How the used paths violate the request; "" if they agree as far as known.
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

/// Page-aligned buffer of collective operations.
class CollectiveMemory {
 public:
  virtual ~CollectiveMemory() = default;
  /// Its device address. Only the two functions below may access the contents.
  virtual std::byte* data() = 0;
  virtual void write(std::size_t at, std::span<const std::byte> bytes) = 0;
  virtual void read(std::size_t at, std::span<std::byte> bytes) = 0;
};

std::unique_ptr<CollectiveMemory> make_host_collective_memory(std::size_t bytes);

/// How a library performed an operation, in its own terms.
struct CollectiveChoice {
  std::string algorithm;  // "RING", "TREE", "NVLS"
  std::string protocol;   // "LL", "LL128", "SIMPLE"; empty if not reported
  std::optional<int> channels = {};
};

/// A recorded sequence of operations, replayed as a whole.
class RecordedOperations {
 public:
  virtual ~RecordedOperations() = default;
  virtual void replay() = 0;
};

/// Concurrent communication and computation.
class Overlap {
 public:
  virtual ~Overlap() = default;
  /// Runs work in the context of together()'s computations and waits for it: preparing them and
  /// freeing their memory may be tied to a thread.
  virtual void run_computation(const std::function<void()>& work) = 0;
  /// Runs both concurrently; either may be empty. A device with streams enqueues them.
  /// `communicate` only calls Collectives::run().
  virtual void together(const std::function<void()>& communicate,
                        const std::function<void()>& compute) = 0;
  struct Parts {
    Seconds communication, computation;
  };
  /// Durations in the last together(), once the device has finished it.
  virtual Parts last_parts() = 0;
};

class Collectives {
 public:
  virtual ~Collectives() = default;

  /// Reconnects the ranks over these paths and performs a first small operation; called by every
  /// rank alike. Throws Error(environment) if they cannot be connected that way.
  virtual void connect(const PathRequest&) {}
  /// Closes the connection made by connect(), if any; called by every rank alike.
  virtual void disconnect() {}
  /// Number of connect() calls so far: the first one in a process is the most expensive.
  virtual int connections() const { return 0; }
  /// Why these paths are not supported; "" if they are.
  virtual std::string path_obstacle(const PathRequest& paths) const {
    return paths == PathRequest{} ? "" : "this library has no choice of transports";
  }

  /// `count` in elements: per rank for all_reduce, broadcast, reduce and send_recv; per pair of
  /// ranks for all_gather and all_to_all (recv holds size x count); per receiving rank for
  /// reduce_scatter (send holds size x count). In place means send == recv (all_reduce, broadcast,
  /// reduce), or send pointing at the rank's own part of recv. The reduction is a sum; the root is
  /// rank 0; in send_recv rank r sends to r+1 mod size. A device with streams enqueues the
  /// operation.
  virtual void run(CollectiveOp op, const void* send, void* recv, std::size_t count,
                   Dtype dtype) = 0;

  /// Whether send() and receive() are supported.
  virtual bool sends_messages() const { return false; }
  /// Sends bytes to one rank, without waiting until it receives them unless many messages are
  /// undelivered; `data` may be reused at once. Messages between two ranks keep their order.
  virtual void send(std::span<const std::byte> data, int to);
  /// Waits for the next message from a rank, which must have this size.
  virtual void receive(std::span<std::byte> data, int from);

  virtual std::unique_ptr<CollectiveMemory> allocate(std::size_t bytes) {
    return make_host_collective_memory(bytes);
  }
  /// Buffer bytes that consecutive calls rotate through, so that none finds its data cached.
  virtual std::size_t rotation_bytes() const { return std::size_t{64} << 20; }
  /// Why the operation is not supported; "" if it is.
  virtual std::string_view obstacle(CollectiveOp, Dtype, bool /*in_place*/) const { return ""; }

  /// Whether operations are enqueued and can therefore be recorded.
  virtual bool records() const { return false; }
  /// Records the run() calls of `enqueue`; null if records() is false.
  virtual std::unique_ptr<RecordedOperations> record(const std::function<void()>& /*enqueue*/) {
    return nullptr;
  }
  /// Null if communication cannot overlap computation.
  virtual Overlap* overlap() { return nullptr; }

  /// As known to rank 0; nothing if the library does not report it.
  virtual std::optional<CollectiveChoice> chosen() { return {}; }
  /// The paths this rank has been connected over so far.
  virtual UsedPaths used_paths() { return {}; }
};

}  // namespace bench
