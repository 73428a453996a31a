#include "probes/training/parallel/data_parallel.h"

#include "core/error.h"
#include "probes/host_clock.h"

namespace bench::training {

DataParallel::DataParallel(Replica& replica, Group& group, const DataParallelOptions& options)
    : replica_(replica), group_(group), options_(options) {
  if (group.size() > 1) throw Error(ErrorKind::environment, no_collectives(group));
  replica.own({{0, blocks_of(replica.gradients())}});
}

StepOutcome DataParallel::step(const Replica::Fill& fill, double rate, double clip,
                               const std::function<void(const Lane&, int)>& after_backward) {
  const Seconds begin = steady_now();
  StepOutcome out;
  Replica::Hooks hooks;
  hooks.after_backward = after_backward;
  out.loss = replica_.forward_backward(fill, replica_.rows() * group_.size(), hooks);
  replica_.sum_lanes();
  const Seconds computed = steady_now();
  out.gradient_norm = replica_.gradient_norm();
  out.gradient_scale = replica_.clip_scale({out.loss, out.gradient_norm}, clip);
  replica_.update(rate, out.gradient_scale);
  const Replica::Times times = replica_.times();
  out.data = times.data;
  out.forward = times.forward;
  out.backward = times.backward;
  out.optimizer = steady_now() - computed;
  out.total = steady_now() - begin;
  return out;
}

}  // namespace bench::training
