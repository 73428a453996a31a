#include "devices/host/gemm_choice.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/elements.h"
#include "devices/host_clock.h"

namespace bench {
namespace {

/// Libraries whose times differ by less count as equal.
constexpr double kWorthIt = 1.1;
constexpr int kTries = 5, kRounds = 3;
/// One product for all shapes, so that a suite uses one library.
constexpr GemmShape kTrial{512, 512, 512};

/// Small whole numbers, whose product is exact in every type; those of A are not negative.
double element_of_a(std::int64_t row, std::int64_t column) {
  return static_cast<double>((3 * row + column) % 5);
}
double element_of_b(std::int64_t row, std::int64_t column) {
  return static_cast<double>((row + 5 * column) % 7) - 3;
}

template <class Element>
std::vector<std::byte> matrix(Dtype dtype, std::int64_t rows, std::int64_t columns,
                              const Element& element) {
  std::vector<std::byte> bytes(bytes_of(dtype, rows, columns));
  std::byte* at = bytes.data();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column, at += size_of(dtype))
      encode(at, dtype, element(row, column));
  return bytes;
}

/// Compares the first, a middle and the last row.
bool is_right(const GemmPlan& plan, const GemmShape& shape) {
  const std::vector<std::byte> result = plan.result();
  std::vector<double> row(static_cast<std::size_t>(shape.n));
  for (const std::int64_t r : {std::int64_t{0}, shape.m / 2 - 1, shape.m - 1}) {
    decode(result.data() + bytes_of(plan.output(), r, shape.n), plan.output(), false, row);
    for (std::int64_t column = 0; column < shape.n; ++column) {
      double sum = 0;
      for (std::int64_t i = 0; i < shape.k; ++i)
        sum += element_of_a(r, i) * element_of_b(i, column);
      if (row[static_cast<std::size_t>(column)] != sum) return false;
    }
  }
  return true;
}

/// The best time of the trial product; nothing, with the reason, if the library has none.
std::optional<double> trial_seconds(const GemmOffer& offer, const GemmRequest& trial,
                                    std::string& reason) {
  reason = offer.reason;
  if (!offer.plan) return {};
  GemmPlan& plan = *offer.plan;
  plan.load(matrix(trial.dtype, trial.shape.m, trial.shape.k, element_of_a),
            matrix(trial.dtype, trial.shape.k, trial.shape.n, element_of_b));
  plan.clear();
  plan.run(1);
  if (!is_right(plan, trial.shape)) {
    reason = plan.library() + " computed a wrong product in the trial";
    return {};
  }
  double best = 1e300;
  for (int i = 0; i < kTries; ++i) {
    const double start = steady_now().value;
    plan.run(1);
    best = std::min(best, steady_now().value - start);
  }
  return best;
}

}  // namespace

/// Tries one library after another, because they share their threads, in several rounds: the clock
/// rises while the first one works.
LibraryChoice choose_library(const std::vector<MakeGemm>& makers, const GemmRequest& request,
                             const std::vector<int>& cores, HostThreadWatch& watch) {
  GemmRequest trial = request;
  trial.shape = kTrial;
  LibraryChoice choice;
  std::vector<std::optional<double>> seconds(makers.size());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < makers.size(); ++i) {
      if (round > 0 && !seconds[i]) continue;
      const GemmOffer offer = makers[i](trial, cores, watch);
      std::string reason;
      const auto took = trial_seconds(offer, trial, reason);
      seconds[i] = took ? std::min(*took, seconds[i].value_or(*took)) : took;
      if (took && round > 0) continue;
      const Json tried = took ? Json{{"library", offer.plan->library()},
                                     {"version", offer.plan->version()},
                                     {"isa", offer.plan->isa()},
                                     {"chosen", false}}
                              : Json{{"reason", reason}};
      if (round == 0)
        choice.tried.push_back(tried);
      else
        choice.tried[i] = tried;
    }
  for (std::size_t i = 0; i < makers.size(); ++i) {
    if (!seconds[i]) continue;
    choice.tried[i]["flops"] = trial.shape.operations() / *seconds[i];
    if (!choice.chosen || *seconds[i] * kWorthIt < *seconds[*choice.chosen]) choice.chosen = i;
  }
  if (choice.chosen) choice.tried[*choice.chosen]["chosen"] = true;
  return choice;
}

}  // namespace bench
