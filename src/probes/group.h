// The ranks that run a job together. Group is the control plane: agreeing, gathering, asserting.
// Collectives is the data plane that the collective probe measures. SelfGroup stands for a rank
// alone.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace bench {

class Collectives;

class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void barrier() = 0;
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  /// Elementwise over all ranks, in place; every rank gets the result.
  virtual void max(std::span<double> values) = 0;
  virtual void sum(std::span<double> values) = 0;
  /// Every rank's text at rank 0, in rank order; empty elsewhere.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
  /// The data plane; null for a rank alone.
  virtual Collectives* collectives() { return nullptr; }
  /// "OpenMPI 4.1.4", "none".
  virtual std::string library() const = 0;
};

/// A text known to rank 0 made known to all.
std::string broadcast_text(Group& group, const std::string& text);

/// One rank alone; never touches MPI.
std::unique_ptr<Group> make_self_group();

/// Joins the group the launcher started us in: MPI when its environment is there, else alone.
/// Throws Error(environment) when a launcher started several ranks and this build has no MPI.
std::unique_ptr<Group> join_group();

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

/// Collective operations on buffers of the device.
class Collectives {
 public:
  virtual ~Collectives() = default;
  /// `count` elements as the operation counts them: all_reduce, broadcast, reduce, send_recv:
  /// elements per rank; all_gather, all_to_all: elements each rank gives to one other (recv holds
  /// size x count); reduce_scatter: elements each rank ends up with (send holds size x count). In
  /// place is asked for by send == recv (all_reduce, broadcast, reduce) or by send pointing at the
  /// rank's own part of recv. Sum is the reduction; root is 0. send_recv: rank r sends to r+1 mod
  /// size.
  virtual void run(CollectiveOp op, const void* send, void* recv, std::size_t count,
                   Dtype dtype) = 0;
};

}  // namespace bench
