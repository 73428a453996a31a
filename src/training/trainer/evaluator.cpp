#include "training/trainer/evaluator.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "training/tables/sparse_tables.h"

namespace bench::training {

Evaluator::Evaluator(Workload& workload, const Model& model, std::int64_t micro_batch,
                     Replica& replica, const KernelFactory& kernels)
    : workload_(workload),
      model_(model),
      micro_batch_(micro_batch),
      replica_(replica),
      plan_(make_plan(*model.graph, false)),
      chunks_(stage_chunks(plan_, model)) {
  for (int i = 0; i < replica.pool().size(); ++i)
    lanes_.push_back(std::make_unique<Lane>(plan_, replica.weights(), kernels));
}

namespace {

/// The last rank's quality on every rank of the group.
Quality of_last_rank(Group& group, Quality quality) {
  const int last = group.size() - 1;
  const auto spread = [&](auto& values) {
    group.broadcast(std::as_writable_bytes(std::span(values)), last);
  };
  std::string names;
  std::vector<double> gaps;
  for (const auto& [name, gap] : quality.parts) {
    names += name + "\n";
    gaps.push_back(gap);
  }
  std::array<double, 5> numbers = {quality.gap, quality.native, quality.floor,
                                   static_cast<double>(gaps.size()),
                                   static_cast<double>(names.size())};
  spread(numbers);
  gaps.resize(static_cast<std::size_t>(numbers[3]));
  names.resize(static_cast<std::size_t>(numbers[4]));
  spread(gaps);
  spread(names);
  quality = {.gap = numbers[0], .native = numbers[1], .floor = numbers[2]};
  std::size_t at = 0;
  for (const double gap : gaps) {
    const std::size_t end = names.find('\n', at);
    quality.parts.emplace_back(names.substr(at, end - at), gap);
    at = end + 1;
  }
  return quality;
}

}  // namespace

Quality Evaluator::evaluate(std::int64_t samples, const ModelRanks& ranks) {
  const auto evaluation = workload_.evaluation(model_);
  const std::int64_t begin = samples * ranks.copy() / ranks.copies();
  const std::int64_t end = samples * (ranks.copy() + 1) / ranks.copies();
  // The same number of rounds on every rank, because all ranks look up table rows together.
  const std::int64_t most = (samples + ranks.copies() - 1) / ranks.copies();
  for (std::int64_t done = 0; done < most; done += round())
    evaluate_round(begin + done, end, ranks, *evaluation);
  Quality quality;
  if (ranks.part().is_last_stage()) quality = evaluation->finish(ranks.data());
  return ranks.part().is_whole() ? quality : of_last_rank(ranks.model(), std::move(quality));
}

void Evaluator::evaluate_round(std::int64_t first, std::int64_t end, const ModelRanks& ranks,
                               Evaluation& evaluation) {
  const auto begin_of = [&](std::int64_t lane) { return first + lane * micro_batch_; };
  if (SparseTables* tables = workload_.tables())
    tables->gather(Split::evaluation, static_cast<std::uint64_t>(first), round());
  replica_.pool().run([&](int index) {
    // Copies that share parameters or experts pass together, for a sample that does not count if
    // need be.
    if (begin_of(index) >= end && !ranks.part().passes_need_copies()) return;
    const std::int64_t sample = std::min(begin_of(index), std::max<std::int64_t>(end, 1) - 1);
    Lane& lane = *lanes_[static_cast<std::size_t>(index)];
    workload_.read(Split::evaluation, static_cast<std::uint64_t>(sample), model_, lane);
    for (const StageChunk& chunk : chunks_) {
      if (chunk.received) ranks.links()->receive_from_previous(lane.tensor(chunk.received));
      lane.run(chunk.forward.first, chunk.forward.last, {});
      if (chunk.sent) ranks.links()->send_to_next(lane.tensor(chunk.sent));
    }
  });
  if (model_.stage.sent) return;  // the last stage has the losses
  for (int i = 0; i < static_cast<int>(lanes_.size()) && begin_of(i) < end; ++i)
    evaluation.add(lane(i), static_cast<std::uint64_t>(begin_of(i)),
                   std::min(micro_batch_, end - begin_of(i)));
}

std::int64_t Evaluator::memory_bytes() const {
  return static_cast<std::int64_t>(lanes_.size()) *
         (plan_.bytes(Arena::inputs) + plan_.bytes(Arena::transient));
}

}  // namespace bench::training
