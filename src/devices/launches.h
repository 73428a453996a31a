// What it costs to give a device work: launching an empty kernel, a recorded graph of them, and
// waiting for nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "core/names.h"
#include "core/record.h"

namespace bench {

/// kernel: one launch. graph: one launch of a graph of kLaunchesInGraph kernels. wait: waiting for
/// a stream that is empty.
enum class LaunchKind { kernel, graph, wait };
inline constexpr NameTable<LaunchKind, 3> kLaunchKinds{
    {{{LaunchKind::kernel, "kernel"}, {LaunchKind::graph, "graph"}, {LaunchKind::wait, "wait"}}}};
inline constexpr int kLaunchesInGraph = 20;

class LaunchRun {
 public:
  virtual ~LaunchRun() = default;
  /// The timed work: `calls` launches, and after each one, or after the last only, a wait until
  /// they have ended.
  virtual void run(std::int64_t calls) = 0;
  /// Each kernel adds one to a counter: how far it is from what was launched.
  virtual Check verify() = 0;
};

class Launches {
 public:
  virtual ~Launches() = default;
  virtual std::unique_ptr<LaunchRun> prepare(LaunchKind kind, bool wait_each) = 0;
};

}  // namespace bench
