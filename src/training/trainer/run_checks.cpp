#include "training/trainer/run_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "core/text.h"
#include "training/engine/content_hash.h"
#include "training/tables/sparse_tables.h"

namespace bench::training {
namespace {

constexpr std::int64_t kMaxCompared = 256;  // samples per check
// Samples of a few tokens are equal by chance. A floating-point input has at least 20 bits of
// information; a token, which is both an input and a target, 1.5 as each.
constexpr double kBitsOfNumber = 20.0, kBitsOfToken = 1.5, kLeastBits = 90.0;

bool equal_bytes(View a, View b) {
  return std::memcmp(a.data, b.data, static_cast<std::size_t>(a.elements()) * size_of(a.dtype)) ==
         0;
}

bool is_embedding_input(const Model& model, Var input) {
  return model.graph->tensor(input.id).wants_gradient;
}

/// Whether what the model has of two different samples is unlikely to be equal by chance.
bool samples_are_distinguishable(const Model& model, std::int64_t samples) {
  double bits = 0.0;
  for (const Var input : model.inputs)
    if (!is_embedding_input(model, input))
      bits += static_cast<double>(input.shape().elements() / samples) *
              (model.graph->tensor(input.id).dtype == Dtype::int32 ? kBitsOfToken : kBitsOfNumber);
  return bits >= kLeastBits;
}

/// The bytes read for one sample of a micro-batch, without embeddings, which change in training.
std::vector<std::byte> contents_of(const Model& model, const Lane& lane, std::int64_t sample,
                                   std::int64_t samples) {
  std::vector<std::byte> contents;
  for (const Var input : model.inputs) {
    if (is_embedding_input(model, input)) continue;
    const View view = lane.view(input);
    const auto bytes = static_cast<std::int64_t>(size_of(view.dtype)) * view.elements() / samples;
    const std::byte* from = view.as<std::byte>() + sample * bytes;
    contents.insert(contents.end(), from, from + bytes);
  }
  return contents;
}

constexpr std::size_t kMaxNamed = 3;
// Weights behind one that starts at zero have no gradient in the first step.
constexpr std::int64_t kMinUpdatesToMove = 3;
// Ratio of a gradient norm to the earlier ones. Correct runs have outliers of twice the usual norm;
// one in a thousand gradients times 1000 makes it thirty times as large.
constexpr double kFaultyRatio = 10.0;

std::vector<TensorHash> hashes_of_frozen(const Replica& replica) {
  const Graph& graph = *replica.plan().graph;
  if (graph.trainable_count() == graph.parameter_count()) return {};
  std::vector<TensorHash> frozen;
  const std::vector<TensorHash> all = tensor_hashes(replica);
  const std::vector<int> parameters = graph.parameters();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!graph.tensor(parameters[i]).parameter.trainable) frozen.push_back(all[i]);
  return frozen;
}

/// The hashes, in the order of the graph's parameters, of those that ranks do not divide.
std::vector<TensorHash> undivided(const std::vector<TensorHash>& all, const Graph& graph) {
  std::vector<TensorHash> same;
  const std::vector<int> parameters = graph.parameters();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!graph.tensor(parameters[i]).parameter.slice.is_part()) same.push_back(all[i]);
  return same;
}

std::string named(std::vector<std::string> names) {
  const std::size_t all = names.size();
  if (all > kMaxNamed) names.resize(kMaxNamed);
  return join(names, ", ") + (all > kMaxNamed ? fmt::format(" and {} more", all - kMaxNamed) : "");
}

}  // namespace

std::string DataAudit::check(std::int64_t step, const ModelRanks& ranks) {
  const std::string own = agreed(ranks.all(), check_own_data(step, ranks.copy()));
  if (!own.empty() || ranks.data().size() == 1) return own;
  return agreed(ranks.all(), compare_next_rank(step, ranks));
}

std::string DataAudit::check_own_data(std::int64_t step, int rank) {
  if (const SparseTables* tables = workload_.tables())
    if (const std::string found = tables->batch().changed(); !found.empty())
      return fmt::format("step {}: {} on rank {}", step, found, rank);
  const std::string found = compare_inputs(step, rank);
  return found.empty() && !workload_.repeats() ? find_repeated_sample(step, rank) : found;
}

std::string DataAudit::find_repeated_sample(std::int64_t step, int rank) {
  const bool hashed = workload_.source_hash(Split::train, split_.first(step, rank, 0)).has_value();
  if (!hashed && !samples_are_distinguishable(model_, split_.micro_batch)) return "";
  const Lane& lane = evaluator_.lane(0);
  const int all = split_.lanes * split_.micro_batches;
  std::int64_t looked = 0;
  for (int number = 0; number < all && looked < kMaxCompared; ++number) {
    const std::uint64_t first = split_.first(step, rank, number);
    if (!hashed) workload_.read(Split::train, first, model_, lane);
    for (std::int64_t i = 0; i < split_.micro_batch; ++i, ++looked) {
      const std::uint64_t sample = first + static_cast<std::uint64_t>(i);
      const std::uint64_t hash =
          hashed ? *workload_.source_hash(Split::train, sample)
                 : content_hash(contents_of(model_, lane, i, split_.micro_batch));
      const auto [before, is_new] = seen_.emplace(hash, sample);
      if (!is_new && before->second != sample)
        return fmt::format("step {}: sample {} on rank {} repeats sample {}", step, sample, rank,
                           before->second);
    }
  }
  return "";
}

std::string DataAudit::compare_inputs(std::int64_t step, int rank) const {
  for (int i = 0; i < split_.lanes; ++i) {
    const int number = (i + 1) * split_.micro_batches - 1;  // the lane's last micro-batch
    const Lane& again = evaluator_.lane(i);
    const std::uint64_t first = split_.first(step, rank, number);
    workload_.read(Split::train, first, model_, again);
    for (const Var input : model_.inputs)
      if (!equal_bytes(again.view(input), replica_.lane(i).view(input)))
        return fmt::format("step {}: '{}' of samples {} to {} on rank {} changed after it was read",
                           step, input.name(), first,
                           first + static_cast<std::uint64_t>(split_.micro_batch) - 1, rank);
  }
  return "";
}

std::string DataAudit::compare_next_rank(std::int64_t step, const ModelRanks& ranks) const {
  Group& group = ranks.data();
  const auto sum_of = [&](int rank) {
    const std::uint64_t first = split_.first(step, ranks.copy_of(rank), 0);
    return workload_.checksum(Split::train, first, split_.of_rank());
  };
  const auto halves_of = [](std::uint64_t sum) {  // f64 holds half of a checksum exactly
    return std::vector{static_cast<double>(sum & 0xffffffff), static_cast<double>(sum >> 32)};
  };
  const std::vector<double> all = gather_numbers(group, halves_of(sum_of(group.rank())));
  const int next = (group.rank() + 1) % group.size();
  if (std::ranges::equal(halves_of(sum_of(next)), std::span(all).subspan(2 * next, 2))) return "";
  return fmt::format("step {}: samples of rank {} differ from those that rank {} generates for it",
                     step, next, group.rank());
}

void RunChecks::run(std::int64_t steps_done, const ModelRanks& ranks) {
  Group& group = ranks.all();
  if (data_.empty()) data_ = audit_.check(steps_done - 1, ranks);
  compare_replicas(steps_done, ranks);
  compare_frozen(steps_done, group);
  rate_found_ = agreed(group, rates_.found());
  rates_measured_ =
      static_cast<std::int64_t>(largest(group, static_cast<double>(rates_.measured())));
  ++rounds_;
  last_checked_step_ = steps_done;
  if (movement_checked_step_ > 0 || replica_.updates_done() < kMinUpdatesToMove) return;
  movement_checked_step_ = steps_done;
  const auto unchanged_parameters = moved_.unchanged_parameters(ranks.replicas());
  unchanged_ = agreed(group, unchanged_parameters.empty()
                                 ? ""
                                 : fmt::format("unchanged after {} steps: {}", steps_done,
                                               named(unchanged_parameters)));
}

RunChecks::RunChecks(DataAudit audit, const Replica& replica, std::int64_t every, Norms norms)
    : audit_(audit),
      replica_(replica),
      moved_(replica),
      frozen_(hashes_of_frozen(replica)),
      rates_(replica),
      every_(every),
      norms_(norms) {}

void RunChecks::compare_frozen(std::int64_t steps_done, Group& group) {
  if (frozen_.empty() || !frozen_found_.empty()) return;
  const std::vector<TensorHash> now = hashes_of_frozen(replica_);
  std::string found;
  for (std::size_t i = 0; i < now.size() && found.empty(); ++i)
    if (now[i].hash != frozen_[i].hash)
      found = fmt::format("'{}' of rank {} changed within {} steps", now[i].name, group.rank(),
                          steps_done);
  frozen_found_ = agreed(group, found);
}

/// Copies must have equal parameters; tensor ranks of one copy, and copies with other experts, must
/// agree on what they do not divide.
void RunChecks::compare_replicas(std::int64_t steps_done, const ModelRanks& ranks) {
  if (ranks.all().size() == 1 || !replicas_.empty()) return;
  const std::vector<TensorHash> own = tensor_hashes(replica_);
  std::string found;
  if (ranks.replicas().size() > 1) found = find_replica_difference(ranks.replicas(), own);
  const auto compare_undivided = [&](Group& group, const char* kind) {
    if (group.size() == 1) return;
    const std::string of_group =
        find_replica_difference(group, undivided(own, *replica_.plan().graph));
    if (found.empty() && !of_group.empty()) found = kind + of_group;
  };
  compare_undivided(ranks.tensor(), "tensor ");
  compare_undivided(ranks.experts(), "expert ");
  replicas_ = agreed(ranks.all(), found);
  if (!replicas_.empty()) replicas_ = fmt::format("after {} steps: {}", steps_done, replicas_);
}

TrainingCheck RunChecks::outlier_check() const {
  const auto& log = outliers_.log();
  if (log.empty()) return {"gradient_norms", true, "no outlier beyond 6 standard deviations"};
  const auto far = [](const GradientOutlier& o) { return std::abs(std::log(o.ratio)); };
  const GradientOutlier& most = *std::ranges::max_element(log, {}, far);
  return {
      "gradient_norms", far(most) < std::log(kFaultyRatio),
      fmt::format("{} steps beyond 6 standard deviations; the largest at step {}: {:.4g}, {:.3g} "
                  "times the running mean",
                  log.size(), most.step, most.norm, most.ratio)};
}

std::vector<TrainingCheck> RunChecks::finish(const ModelRanks& ranks) const {
  const Group& group = ranks.all();
  std::vector<TrainingCheck> checks;
  if (movement_checked_step_ > 0)
    checks.push_back(check_of("parameters_move", unchanged_,
                              fmt::format("all {} parameters changed within {} steps",
                                          moved_.parameters(), movement_checked_step_)));
  checks.push_back(check_of("data", data_,
                            fmt::format("samples matched the source at {} steps{}", rounds_,
                                        ranks.data().size() > 1 ? ", also on the next rank" : "")));
  if (ranks.replicas().size() > 1 || ranks.part().tensor_ranks > 1 || ranks.part().expert_ranks > 1)
    checks.push_back(
        check_of("replicas_agree", replicas_,
                 fmt::format("{} of {} ranks were identical at {} steps",
                             ranks.part().is_whole() ? "parameters" : "shared parameters",
                             group.size(), rounds_)));
  if (!frozen_.empty())
    checks.push_back(check_of(
        "base_frozen", frozen_found_,
        fmt::format("{} frozen parameters were unchanged at {} steps", frozen_.size(), rounds_)));
  if (rates_measured_ > 0)
    checks.push_back(
        check_of("learning_rate", rate_found_,
                 fmt::format("{} updates had the learning rate of the schedule", rates_measured_)));
  if (norms_ == Norms::judged) checks.push_back(outlier_check());
  return checks;
}

}  // namespace bench::training
