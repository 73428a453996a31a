// Overhead of device launches: an empty kernel, a graph of them, and waiting for an idle stream.
#pragma once

#include <cstdint>
#include <memory>

#include "core/names.h"
#include "core/record.h"

namespace bench {

/// kernel: one launch. graph: one launch of kLaunchesInGraph kernels. wait: waiting for an idle
/// stream.
enum class LaunchKind { kernel, graph, wait };
inline constexpr NameTable<LaunchKind, 3> kLaunchKinds{
    {{{LaunchKind::kernel, "kernel"}, {LaunchKind::graph, "graph"}, {LaunchKind::wait, "wait"}}}};
inline constexpr int kLaunchesInGraph = 20;

class LaunchRun {
 public:
  virtual ~LaunchRun() = default;
  /// The timed work: `calls` launches, waiting after each one or after the last only.
  virtual void run(std::int64_t calls) = 0;
  /// Compares a counter that each kernel increments with the number of launches.
  virtual Check verify() = 0;
};

class Launches {
 public:
  virtual ~Launches() = default;
  virtual std::unique_ptr<LaunchRun> prepare(LaunchKind kind, bool wait_each) = 0;
};

}  // namespace bench
