#include "training/parallel/data_parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "core/error.h"
#include "devices/host_clock.h"
#include "training/kernels/functors/portable.h"
#include "training/parallel/element_sums.h"
#include "training/parallel/expert_exchange.h"
#include "training/parallel/model_ranks.h"

namespace bench::training {
namespace {

double number(double value) { return value; }
double number(float value) { return value; }
double number(Bf16 value) { return static_cast<float>(value); }
double number(F16 value) { return static_cast<float>(value); }

struct Distance {
  double difference = 0.0;  // sum of squares
  double length = 0.0;

  template <class T, class Sum>
  void add(View exchanged, View alone) {
    for (std::int64_t i = 0; i < alone.elements(); ++i) {
      const double a = alone.as<Sum>()[i], b = number(exchanged.as<T>()[i]);
      difference += (a - b) * (a - b);
      length += a * a;
    }
  }
  /// For a shard that may be all zeros; `longest` is the largest length. A gradient that is zero on
  /// all ranks or NaN never agrees.
  double relative(double longest) const {
    if (difference == 0.0 && longest > 0.0) return 0.0;
    const double distance = std::sqrt(difference / length);
    return std::isfinite(distance) ? distance : std::numeric_limits<double>::max();
  }
};

/// In the accumulator type: 16-bit gradients are rounded only once, on each rank.
template <class T, class Sum>
void add_row(View row, View sums) {
  for (std::int64_t i = 0; i < row.elements(); ++i)
    sums.as<Sum>()[i] += static_cast<Sum>(number(row.as<T>()[i]));
}

/// what(T{}, Sum{}) for tensors of this type.
template <class What>
void with_types(Dtype dtype, const What& what) {
  if (dtype == Dtype::f64)
    what(double{}, double{});
  else if (dtype == Dtype::bf16)
    what(Bf16{}, float{});
  else if (dtype == Dtype::f16)
    what(F16{}, float{});
  else
    what(float{}, float{});
}

/// Each element of a row of accumulators becomes the sum over the ranks of a group.
void sum_over(Group& group, View row) {
  if (group.size() == 1) return;
  with_row_type(row.dtype, [&]<class T>(T) {
    T* const x = row.as<T>();
    sum_elements(
        group, row.elements(), [=](std::int64_t i) { return static_cast<double>(x[i]); },
        [=](std::int64_t i, double sum) { x[i] = static_cast<T>(sum); });
  });
}

/// sums += a - b, summed over all ranks.
void add_over_ranks(Group& group, View a, View b, View sums) {
  with_row_type(a.dtype, [&]<class T>(T) {
    const T *const plus = a.as<T>(), *const minus = b.as<T>();
    T* const to = sums.as<T>();
    sum_elements(
        group, a.elements(),
        [=](std::int64_t i) {
          return static_cast<double>(plus[i]) - static_cast<double>(minus[i]);
        },
        [=](std::int64_t i, double sum) { to[i] += static_cast<T>(sum); });
  });
}

View row_in(const MemoryBlock& block, Dtype dtype) {
  return {block.data(), 1, block.bytes() / static_cast<std::int64_t>(size_of(dtype)), dtype};
}

}  // namespace

GradientAgreement DataParallel::compare_gradient(
    const std::function<Replica::Fill(int copy)>& fill_of) {
  const int own = model_ != nullptr ? model_->copy() : copies_.rank();
  return compare_gradient({fill_of(own)}, [&](int copy) { return GradientPass{fill_of(copy)}; });
}

GradientAgreement DataParallel::compare_gradient(
    const GradientPass& own, const std::function<GradientPass(int copy)>& pass_of) {
  const View row = replica_.gradients();
  const Dtype wide = accumulator_of(row.dtype);
  const auto bytes_in = [&](Dtype dtype) {
    return row.elements() * static_cast<std::int64_t>(size_of(dtype));
  };
  const MemoryBlock exchanged(bytes_in(row.dtype), "exchanged gradients");
  const MemoryBlock one(exchanged.bytes(), "gradients of one rank");
  const MemoryBlock alone(bytes_in(wide), "gradients of all ranks");
  Memory& memory = *replica_.kernels().memory;
  const ErrorFeedback* const feedback = exchange_.feedback();
  const MemoryBlock old(feedback != nullptr ? exchanged.bytes() : 0, "residuals before");
  if (feedback != nullptr)
    std::memcpy(old.data(), feedback->residual().data, static_cast<std::size_t>(old.bytes()));
  Replica::Hooks hooks;
  hooks.after_backward = own.after_backward;
  const std::exception_ptr thrown = exchange_.forward_backward(own.fill, hooks);
  if (thrown && model_ != nullptr) std::rethrow_exception(thrown);
  StepOutcome unused;
  agree_on_loss(thrown, unused);  // before the passes, which may wait for other ranks
  memory.download(row.data, exchanged.data(), exchanged.bytes());
  const int copies = model_ != nullptr ? model_->copies() : copies_.size();
  // Ranks that divide experts pass their own samples together, of one group after the other.
  const int together = model_ != nullptr ? model_->part().expert_ranks : 1;
  const int own_copy = model_ != nullptr ? model_->part().expert_rank : 0;
  for (int first = 0; first < copies; first += together) {
    const GradientPass pass = pass_of(first + own_copy);
    hooks.after_backward = pass.after_backward;
    replica_.forward_backward(pass.fill, replica_.rows() * copies_.size(), hooks);
    replica_.sum_lanes();
    memory.download(row.data, one.data(), one.bytes());
    with_types(row.dtype, [&]<class T, class Sum>(T, Sum) {
      add_row<T, Sum>(row_in(one, row.dtype), row_in(alone, wide));
    });
  }
  if (model_ != nullptr) sum_over(model_->context(), row_in(alone, wide));
  if (together > 1)
    for (const RowPart& part : row_parts(replica_.plan()))
      if (!part.divided) sum_over(model_->experts(), part_of(row_in(alone, wide), part));
  if (feedback != nullptr)
    add_over_ranks(group_, row_in(old, row.dtype), feedback->residual(), row_in(alone, wide));
  Distance distance;
  for (const BlockRange& range : exchange_.owned())
    with_types(row.dtype, [&]<class T, class Sum>(T, Sum) {
      distance.add<T, Sum>(blocks_in(row_in(exchanged, row.dtype), range),
                           blocks_in(row_in(alone, wide), range));
    });
  return {largest(group_, distance.relative(largest(group_, distance.length))),
          is_narrow(row.dtype) ? GradientAgreement::kTolerance16 : GradientAgreement::kTolerance};
}

DataParallel::DataParallel(Replica& replica, Group& group, const DataParallelOptions& options)
    : replica_(replica),
      group_(group),
      model_(options.model),
      copies_(model_ != nullptr ? model_->data() : group),
      replicas_(model_ != nullptr ? model_->replicas() : group),
      exchange_(replica, replicas_, options) {
  if (group.size() > 1 && !options.stream && !replica.kernels().memory->on_host())
    throw Error(ErrorKind::environment,
                std::to_string(group.size()) +
                    " ranks cannot train on GPUs together: no gradient exchange is "
                    "available",
                "build with NCCL or train with one rank");
  replica.keep_state_in(options.offload);
  if (options.offload.empty())
    replica.own(exchange_.owned());
  else  // one rank alone may have no room
    together(group, [&] { replica.own(exchange_.owned()); });
  if (group.size() == 1 || !options.method.is_local()) return;
  local_ = std::make_unique<LocalSgd>(replica, group, options.method, options.bucket_bytes,
                                      options.order);
  local_steps_ = options.method.local_steps;
}

std::int64_t DataParallel::kept_bytes() const {
  if (const ErrorFeedback* feedback = exchange_.feedback())
    return std::ssize(bytes_of(feedback->residual()));
  return local_ ? local_->kept_bytes() : 0;
}

std::vector<NamedView> DataParallel::exchange_state() const {
  if (const ErrorFeedback* feedback = exchange_.feedback()) return feedback->state();
  return local_ ? local_->state() : std::vector<NamedView>{};
}

void DataParallel::resume() {
  if (local_) local_->resume();
}

void DataParallel::average_parameters(StepOutcome& last) {
  const Seconds begin = steady_now();
  const TimelineScope recorded(replica_.timeline(), Activity::exchange);
  local_->average();
  last.straggler_spread = {largest(group_, computed_.value) -
                           bench::total(group_, computed_.value) / group_.size()};
  computed_ = {};
  const Seconds took = steady_now() - begin;
  last.exchange_exposed += took;
  last.total += took;
}

StepOutcome DataParallel::step(const Replica::Fill& fill, double rate, double clip,
                               const std::function<void(const Lane&, int)>& after_backward) {
  const Seconds begin = steady_now();
  StepOutcome out;
  Replica::Hooks hooks;
  hooks.after_backward = after_backward;
  const std::exception_ptr thrown = exchange_.forward_backward(fill, hooks);
  // Ranks that need this one within their passes wait there: the job must end, not agree.
  if (thrown && (model_ != nullptr || local_)) std::rethrow_exception(thrown);
  const Seconds exchanged = steady_now();
  out.loss = agree_on_loss(thrown, out);
  const Seconds agreed = steady_now(), waited = replica_.state_wait();
  out.gradient_norm = gradient_norm();
  {
    const Seconds begun = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
    replica_.finish(out, rate, clip);
    out.update_processor = cpu_time_of(CLOCK_THREAD_CPUTIME_ID) - begun;
  }
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
  out.data_processor = lanes.data_processor;
  out.forward_processor = lanes.forward_processor;
  out.backward_processor = lanes.backward_processor;
  out.tensor_exchange = lanes.tensor_exchange;
  out.context_exchange = lanes.context_exchange;
  out.expert_exchange = lanes.expert_exchange;
  out.pipeline_wait = lanes.pipeline_wait;
  out.exchange_exposed = times.exposed + lanes.shard_exchange + (end - updated);
  // Ranks meet here first: later stages, which are done earlier, wait for the first one.
  const bool drains = model_ != nullptr && model_->part().stages > 1;
  (drains ? out.pipeline_wait : out.exchange_exposed) += agreed - exchanged;
  out.exchange_hidden = times.hidden();
  out.compression = times.compressed;
  out.offload_wait = replica_.state_wait() - waited;
  out.optimizer = updated - agreed - out.offload_wait;
  out.total = end - begin;
  return out;
}

/// The mean loss over all samples, summed in rank order, and the spread of the ranks' times.
double DataParallel::agree_on_loss(std::exception_ptr thrown, StepOutcome& out) {
  if (local_) {  // ranks do not wait for each other
    computed_ += exchange_.times().compute;
    return replica_.loss_sum() / static_cast<double>(replica_.rows());
  }
  const bool counts = model_ == nullptr || model_->counts_losses();
  const bool stages = model_ != nullptr && model_->part().stages > 1;
  const TimelineScope recorded(replica_.timeline(),
                               stages ? Activity::messages : Activity::rank_wait);
  const Replica::Times times = replica_.times();
  const Seconds computed = exchange_.times().compute - times.tensor_exchange -
                           times.context_exchange - times.expert_exchange - times.shard_exchange -
                           times.pipeline_wait;
  const std::vector<double> ranks = gather_numbers(
      group_, {counts ? replica_.loss_sum() : 0.0, computed.value, thrown ? 1.0 : 0.0});
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
  return loss / static_cast<double>(replica_.rows() * copies_.size());
}

double DataParallel::gradient_norm() {
  const TimelineScope recorded(replica_.timeline(), Activity::norm);
  if (model_ != nullptr) return norm_of_parts();
  if (!shards()) return replica_.gradient_norm();
  std::vector<double>& squares = replica_.square_sums(exchange_.owned());
  if (replica_.kernels().memory->on_host()) {
    // For each block only one rank contributes a nonzero number, and blocks are summed in order:
    // the same bits for any number of ranks.
    group_.sum(squares);
    return root_of_sum(squares) / replica_.loss_scale().value();
  }
  std::vector<double> own;  // a device has one sum for each shard
  for (const BlockRange& range : exchange_.owned())
    own.push_back(range.size() > 0 ? squares[static_cast<std::size_t>(range.first)] : 0.0);
  return root_of_sum(gather_numbers(group_, own)) / replica_.loss_scale().value();
}

/// Over all parts of a model. Tensor ranks, and ranks with other experts, have equal gradients of
/// what they do not divide, which must count once; replicas have equal sums unless each owns
/// shards.
double DataParallel::norm_of_parts() {
  const double copies = shards() ? 1.0 : replicas_.size();
  const double same = model_->part().tensor_ranks * model_->part().expert_ranks;
  double own = 0.0;
  for (const auto& [square, divided] : replica_.square_sums_of_updates())
    own += square / (divided ? copies : copies * same);
  return root_of_sum(gather_numbers(group_, {own})) / replica_.loss_scale().value();
}

}  // namespace bench::training
