// All groups for one element type.
#pragma once

#include "probes/training/backends/host/attention_backward_host.h"
#include "probes/training/backends/host/bag_host.h"
#include "probes/training/backends/host/embedding_host.h"
#include "probes/training/backends/host/gemm_host.h"
#include "probes/training/backends/host/optimizer_host.h"
#include "probes/training/backends/host/recommender_host.h"
#include "probes/training/backends/host/rope_host.h"
#include "probes/training/backends/host/simple_host.h"

namespace bench::training::BENCH_ISA {

template <class T>
KernelSet kernel_set() {
  KernelSet set;
  set.gemm.reset(new Gemm<T>);
  set.norm.reset(new Norm<T>);
  set.rope.reset(new Rope<T>);
  set.attention.reset(new Attention<T>);
  set.activation.reset(new Activation<T>);
  set.elementwise.reset(new Elementwise<T>);
  set.embedding.reset(new Embedding<T>);
  set.loss.reset(new Loss<T>);
  set.optimizer.reset(new Updates<T>);
  set.recommender.reset(new Recommender<T>);
  set.bags.reset(new Bags);
  return set;
}

}  // namespace bench::training::BENCH_ISA
