// The ranks of a job. Group is the control plane: synchronise, broadcast, gather. Collectives
// (devices/collectives.h) is the data plane that the collective probe measures.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

class Collectives;

class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void barrier() = 0;
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  /// Elementwise over all ranks, in place, on every rank.
  virtual void max(std::span<double> values) = 0;
  virtual void sum(std::span<double> values) = 0;
  /// Every rank's text in rank order at rank 0; empty elsewhere.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
  /// The data plane for buffers in host memory; null for a rank alone.
  virtual Collectives* collectives() { return nullptr; }
  /// The ranks that pass the same `number`, in their order here. Call on every rank; this group
  /// must outlive it. Throws Error(environment) if the library cannot divide its ranks.
  virtual std::unique_ptr<Group> subgroup(int number);
  /// "Open MPI v4.1.4", "TCP", "none".
  virtual std::string library() const = 0;
};

/// Rank 0's text on every rank.
std::string broadcast_text(Group& group, const std::string& text);

/// Why Device::collectives() is null for these ranks.
std::string no_collectives(const Group& group);

/// The first non-empty reason of any rank, on every rank; "" if there is none. Every rank must call
/// it: one that gave up alone would leave the others waiting.
std::string agreed(Group& group, const std::string& reason);

/// Runs work that may fail on one rank; then throws Error(environment) with the first reason on
/// all.
void together(Group& group, const std::function<void()>& work);

/// The largest, the smallest or the sum of the ranks' values, at every rank.
double largest(Group& group, double value);
double least(Group& group, double value);
double total(Group& group, double value);

/// Every rank's value at rank 0, in rank order; empty elsewhere.
std::vector<Json> gather_json(Group& group, const Json& own);

/// Every rank's numbers on every rank, in rank order; all ranks pass equally many. For a few
/// numbers: they travel over the control plane. Exact, except that -0.0 becomes 0.0.
std::vector<double> gather_numbers(Group& group, const std::vector<double>& own);

/// One rank alone; never touches MPI.
std::unique_ptr<Group> make_self_group();

}  // namespace bench
