// All kernel groups made of functors: all except GEMMs, and sums of table rows, which run in host
// memory. Recommender kernels are f32 only.
#pragma once

#include <memory>
#include <type_traits>

#include "probes/training/kernels/functors/functor_attention.h"
#include "probes/training/kernels/functors/functor_kernels.h"
#include "probes/training/kernels/functors/functor_recommender.h"
#include "probes/training/kernels/kernel_set.h"

namespace bench::training {

/// Adds them to the set, for tensors of T. Launch may be a reference; see functor_kernels.h.
template <class T, class Launch>
void put_functors(KernelSet& set, Launch launch) {
  set.norm = std::make_unique<FunctorNorm<T, Launch>>(launch);
  set.rope = std::make_unique<FunctorRope<T, Launch>>(launch);
  set.attention = std::make_unique<FunctorAttention<T, Launch>>(launch);
  set.activation = std::make_unique<FunctorActivation<T, Launch>>(launch);
  set.elementwise = std::make_unique<FunctorElementwise<T, Launch>>(launch);
  set.embedding = std::make_unique<FunctorEmbedding<T, Launch>>(launch);
  set.loss = std::make_unique<FunctorLoss<T, Launch>>(launch);
  set.optimizer = std::make_unique<FunctorUpdates<T, Launch>>(launch);
  if constexpr (std::is_same_v<T, float>)
    set.recommender = std::make_unique<FunctorRecommender<Launch>>(launch);
}

}  // namespace bench::training
