#include "probes/training/parallel/data_parallel.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "probes/host_clock.h"

namespace bench::training {

DataParallel::DataParallel(Replica& replica, Group& group, const DataParallelOptions& options)
    : replica_(replica), group_(group), exchange_(replica, group, options) {
  if (group.size() > 1 && !options.stream && !replica.kernels().memory->on_host())
    throw Error(ErrorKind::environment,
                std::to_string(group.size()) +
                    " ranks cannot train on GPUs together: no gradient exchange is "
                    "available",
                "build with NCCL or train with one rank");
  replica.own(exchange_.owned());
}

StepOutcome DataParallel::step(const Replica::Fill& fill, double rate, double clip,
                               const std::function<void(const Lane&, int)>& after_backward) {
  const Seconds begin = steady_now();
  StepOutcome out;
  Replica::Hooks hooks;
  hooks.after_backward = after_backward;
  const std::exception_ptr thrown = exchange_.forward_backward(fill, hooks);
  const Seconds exchanged = steady_now();
  out.loss = agree_on_loss(thrown, out);
  const Seconds agreed = steady_now();
  out.gradient_norm = gradient_norm();
  replica_.finish(out, rate, clip);
  replica_.kernels().memory->synchronise();  // else the update's time would count for later phases
  const Seconds updated = steady_now();
  exchange_.gather_parameters();
  const Seconds end = steady_now();
  const Replica::Times lanes = replica_.times();
  const GradientExchange::Times& times = exchange_.times();
  out.data = lanes.data;
  out.transfer = lanes.transfer;
  out.forward = lanes.forward;
  out.backward = lanes.backward + times.lane_sum;
  out.exchange_exposed = times.exposed + (agreed - exchanged) + (end - updated);
  out.exchange_hidden = times.hidden();
  out.optimizer = updated - agreed;
  out.total = end - begin;
  return out;
}

/// The mean loss over all ranks, summed in rank order, and the spread of their times.
double DataParallel::agree_on_loss(std::exception_ptr thrown, StepOutcome& out) {
  const std::vector<double> ranks = gather_numbers(
      group_, {replica_.loss_sum(), exchange_.times().compute.value, thrown ? 1.0 : 0.0});
  if (thrown) std::rethrow_exception(thrown);
  double loss = 0.0, longest = 0.0, time = 0.0;
  for (std::size_t i = 0; i < ranks.size(); i += 3) {
    if (ranks[i + 2] > 0.0)
      throw Error(ErrorKind::internal, "rank " + std::to_string(i / 3) + " failed in step " +
                                           std::to_string(replica_.steps_done()));
    loss += ranks[i];
    time += ranks[i + 1];
    longest = std::max(longest, ranks[i + 1]);
  }
  out.straggler_spread = {longest - time / group_.size()};
  return loss / static_cast<double>(replica_.rows() * group_.size());
}

double DataParallel::gradient_norm() {
  if (!shards()) return replica_.gradient_norm();
  std::vector<double>& squares = replica_.square_sums(exchange_.owned());
  if (replica_.kernels().memory->on_host()) {
    // For each block only one rank contributes a nonzero number, and blocks are summed in order: the
    // same bits for any number of ranks.
    group_.sum(squares);
    return root_of_sum(squares) / replica_.loss_scale().value();
  }
  std::vector<double> own;  // a device has one sum for each shard
  for (const BlockRange& range : exchange_.owned())
    own.push_back(range.size() > 0 ? squares[static_cast<std::size_t>(range.first)] : 0.0);
  return root_of_sum(gather_numbers(group_, own)) / replica_.loss_scale().value();
}

}  // namespace bench::training
