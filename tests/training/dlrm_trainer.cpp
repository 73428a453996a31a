#include "tests/training/dlrm_trainer.h"

#include <mutex>

#include "probes/device/collectives.h"
#include "probes/training/backends/host/host_kernels.h"

namespace bench::training {
namespace {

KernelSet dlrm_kernels(Dtype dtype) { return host_kernels(dtype); }

}  // namespace

DlrmTrainer::DlrmTrainer(Workload& workload, Group& group, const DlrmTrainerOptions& options)
    : workload_(workload),
      group_(group),
      batch_(options.batch > 0 ? options.batch : workload.recipe().batch),
      each_(batch_ / (group.size() * options.lanes * options.micro_batches)),
      model_(workload.model(each_, Dtype::f32, false)),
      plan_(make_plan(*model_.graph)),
      evaluation_plan_(make_plan(*model_.graph, false)) {
  replica_ =
      std::make_unique<Replica>(plan_, model_.losses, dlrm_kernels, workload.optimizer(),
                                ReplicaOptions{options.lanes, options.micro_batches, options.seed});
  for (int lane = 0; lane < options.lanes; ++lane)
    evaluators_.push_back(
        std::make_unique<Lane>(evaluation_plan_, replica_->weights(), dlrm_kernels));
  tables().join(group, replica_->pool(), dlrm_kernels);
}

Replica::Step DlrmTrainer::step() {
  const std::int64_t number = replica_->steps_done(), mine = batch_ / group_.size();
  const auto first = static_cast<std::uint64_t>(number * batch_ + group_.rank() * mine);
  const auto begin = [&](int micro_batch) {
    return first + static_cast<std::uint64_t>(micro_batch * each_);
  };
  tables().gather(Split::train, first, mine);
  Replica::Hooks hooks;
  hooks.after_backward = [&](const Lane& lane, int micro_batch) {
    tables().collect(lane, model_, begin(micro_batch));
  };
  const auto fill = [&](const Lane& lane, int micro_batch) {
    workload_.read(Split::train, begin(micro_batch), model_, lane);
  };
  Replica::Step done;
  done.loss = replica_->forward_backward(fill, batch_, hooks);
  replica_->sum_lanes();
  sum_over_ranks();
  double loss[1] = {done.loss / group_.size()};
  group_.sum(loss);
  done.loss = loss[0];
  done.gradient_norm = replica_->gradient_norm();
  const double rate = workload_.recipe().schedule.rate(number);
  const double scale = replica_->clip_scale(done, workload_.recipe().clip);
  replica_->update(rate, scale);
  tables().update(rate, scale);
  return done;
}

void DlrmTrainer::sum_over_ranks() {
  if (group_.size() == 1) return;
  const View all = replica_->gradients();
  group_.collectives()->run(CollectiveOp::all_reduce, all.data, all.data,
                            static_cast<std::size_t>(all.elements()), all.dtype);
}

Quality DlrmTrainer::evaluate(std::int64_t samples) {
  const std::unique_ptr<Evaluation> evaluation = workload_.evaluation(model_);
  const std::int64_t round = each_ * static_cast<std::int64_t>(evaluators_.size());
  const std::int64_t mine = samples / group_.size();
  std::mutex one_at_a_time;
  for (std::int64_t done = 0; done < mine; done += round) {
    const auto first = static_cast<std::uint64_t>(group_.rank() * mine + done);
    tables().gather(Split::evaluation, first, round);
    replica_->pool().run([&](int thread) {
      Lane& lane = *evaluators_[static_cast<std::size_t>(thread)];
      const std::int64_t at = thread * each_;
      if (done + at >= mine) return;
      workload_.read(Split::evaluation, first + static_cast<std::uint64_t>(at), model_, lane);
      lane.forward({});
      const std::lock_guard lock(one_at_a_time);
      evaluation->add(lane, first + static_cast<std::uint64_t>(at),
                      std::min(each_, mine - done - at));
    });
  }
  return evaluation->finish(group_);
}

}  // namespace bench::training
