#include "training/trainer/evaluator.h"

#include <algorithm>

#include "training/tables/sparse_tables.h"

namespace bench::training {

Evaluator::Evaluator(Workload& workload, const Model& model, std::int64_t micro_batch,
                     Replica& replica, const KernelFactory& kernels)
    : workload_(workload),
      model_(model),
      micro_batch_(micro_batch),
      replica_(replica),
      plan_(make_plan(*model.graph, false)) {
  for (int i = 0; i < replica.pool().size(); ++i)
    lanes_.push_back(std::make_unique<Lane>(plan_, replica.weights(), kernels));
}

Quality Evaluator::evaluate(std::int64_t samples, Group& group) {
  const auto evaluation = workload_.evaluation(model_);
  const std::int64_t begin = samples * group.rank() / group.size();
  const std::int64_t end = samples * (group.rank() + 1) / group.size();
  // The same number of rounds on every rank, because all ranks look up table rows together.
  const std::int64_t most = (samples + group.size() - 1) / group.size();
  for (std::int64_t done = 0; done < most; done += round())
    evaluate_round(begin + done, end, *evaluation);
  return evaluation->finish(group);
}

void Evaluator::evaluate_round(std::int64_t first, std::int64_t end, Evaluation& evaluation) {
  const auto begin_of = [&](std::int64_t lane) { return first + lane * micro_batch_; };
  if (SparseTables* tables = workload_.tables())
    tables->gather(Split::evaluation, static_cast<std::uint64_t>(first), round());
  replica_.pool().run([&](int index) {
    if (begin_of(index) >= end) return;
    Lane& lane = *lanes_[static_cast<std::size_t>(index)];
    workload_.read(Split::evaluation, static_cast<std::uint64_t>(begin_of(index)), model_, lane);
    lane.forward({});
  });
  for (int i = 0; i < static_cast<int>(lanes_.size()) && begin_of(i) < end; ++i)
    evaluation.add(lane(i), static_cast<std::uint64_t>(begin_of(i)),
                   std::min(micro_batch_, end - begin_of(i)));
}

std::int64_t Evaluator::memory_bytes() const {
  return static_cast<std::int64_t>(lanes_.size()) *
         (plan_.bytes(Arena::inputs) + plan_.bytes(Arena::transient));
}

}  // namespace bench::training
