// Collective operations on buffers of a device: the data plane that the collective probe measures.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/dtype.h"

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

class Collectives {
 public:
  virtual ~Collectives() = default;
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
  /// Why there is no such operation here; "" when there is.
  virtual std::string_view obstacle(CollectiveOp, Dtype, bool /*in_place*/) const { return ""; }
};

}  // namespace bench
