#include "training/workloads/rgat_evaluation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/elements.h"

namespace bench::training {
namespace {

std::size_t likeliest(const std::vector<double>& p) {
  return static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
}

/// Logits become logarithms of probabilities.
void take_softmax(std::vector<double>& z) {
  const double most = *std::ranges::max_element(z);
  double sum = 0.0;
  for (const double one : z) sum += std::exp(one - most);
  const double offset = most + std::log(sum);
  for (double& one : z) one -= offset;
}

/// Of probabilities with logarithms `log_q` from p.
double divergence(const std::vector<double>& p, const std::vector<double>& log_q) {
  double sum = 0.0;
  for (std::size_t c = 0; c < p.size(); ++c)
    if (p[c] > 0.0) sum += p[c] * (std::log(p[c]) - log_q[c]);
  return sum;
}

std::vector<double> logs_of(std::vector<double> p) {
  for (double& one : p) one = std::log(one);
  return p;
}

}  // namespace

const KnownNeighbourhoods::Known& KnownNeighbourhoods::of(const NeighbourhoodSource& source,
                                                          std::uint64_t index) {
  const auto [at, is_new] = known_.try_emplace(index);
  if (is_new) {
    Neighbourhood sample;
    source.read(Split::evaluation, index, sample);
    at->second = {sample.label, source.truth(sample)};
  }
  return at->second;
}

void RgatEvaluation::add(const Lane& lane, std::uint64_t first, std::int64_t count) {
  const View logits = lane.view(logits_);
  std::vector<double> log_q(static_cast<std::size_t>(logits.columns));
  for (std::int64_t i = 0; i < count; ++i) {
    const View row = rows_of(logits, i, 1);
    decode(row.as<std::byte>(), row.dtype, false, log_q);
    take_softmax(log_q);
    const auto& [label, truth] = known_.of(source_, first + static_cast<std::uint64_t>(i));
    const std::vector<double>& p = truth.best;
    const auto right = static_cast<std::size_t>(label);
    const std::size_t answer = likeliest(log_q), best = likeliest(p);
    sums_[kSamples] += 1.0;
    for (const double one : p) sums_[kEntropy] -= one > 0.0 ? one * std::log(one) : 0.0;
    sums_[kDivergence] += divergence(p, log_q);
    sums_[kLogLoss] -= log_q[right];
    sums_[kBestLogLoss] -= std::log(p[right]);
    sums_[kRight] += answer == right ? 1.0 : 0.0;
    sums_[kBestRight] += best == right ? 1.0 : 0.0;
    sums_[kLacks] += p[best] - p[answer];
    sums_[kOneHop] += divergence(p, logs_of(truth.one_hop));
    sums_[kFeatures] += divergence(p, logs_of(truth.features));
    sums_[kAlike] += divergence(p, logs_of(truth.alike));
    sums_[kBlind] += divergence(p, logs_of(truth.blind));
  }
}

Quality RgatEvaluation::finish(Group& group) {
  std::array<double, kSums> all = sums_;
  group.sum(all);
  const auto mean = [&](Sum of) { return all[of] / all[kSamples]; };
  Quality quality;
  quality.gap = mean(kDivergence);
  quality.floor = mean(kEntropy);
  quality.native = quality.floor + quality.gap;
  quality.parts = {
      {"log_loss", mean(kLogLoss)},      {"log_loss_gap", mean(kLogLoss) - mean(kBestLogLoss)},
      {"accuracy", mean(kRight)},        {"best_accuracy", mean(kBestRight)},
      {"accuracy_gap", mean(kLacks)},    {"one_hop_gap", mean(kOneHop)},
      {"features_gap", mean(kFeatures)}, {"alike_gap", mean(kAlike)},
      {"blind_gap", mean(kBlind)}};
  return quality;
}

}  // namespace bench::training
