// A block of GPU threads on the CPU. A body is written in phases: each() runs a piece on every
// thread of the block (here one after another, on a GPU each its own), what a thread keeps from
// phase to phase is Per, and sums over threads come between phases. So one text serves both, and
// what threads must not share without sync() shows on the CPU as well.
#pragma once

#include <cstdint>

#include "probes/training/kernels/functors/portable.h"

namespace bench::training {

template <int threads>
class HostBlock {
 public:
  static constexpr int kThreads = threads;

  /// A variable that each thread has for itself.
  template <class T>
  struct Per {
    T values[threads] = {};
    T& operator()(int thread) { return values[thread]; }
  };

  template <class Phase>
  void each(const Phase& phase) {
    for (int thread = 0; thread < threads; ++thread) phase(thread);
  }
  /// Makes writes to shared memory visible to all threads.
  void sync() {}
  template <class Number>
  Number sum(Per<Number>& x) {
    Number all = 0;
    for (const Number value : x.values) all += value;
    return all;
  }
  float max(Per<float>& x) {
    float most = x.values[0];
    for (const float value : x.values) most = value > most ? value : most;
    return most;
  }
};

}  // namespace bench::training
