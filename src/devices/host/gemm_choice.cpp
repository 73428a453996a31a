#include "devices/host/gemm_choice.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "core/elements.h"
#include "core/error.h"

namespace bench {
namespace {

/// Libraries whose times differ by less count as equal.
constexpr double kWorthIt = 1.1;
constexpr int kTries = 5, kRounds = 3;

/// Small whole numbers, whose sums of products are exact in every type; those of A are not
/// negative.
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

/// What a library did in one round.
struct Tried {
  std::optional<double> seconds = {};  // its best time
  Json facts = {};                     // of Gemm::trials(), without "flops"
  bool may_serve = true;
};

Tried try_once(const MakeGemm& make, const GemmRequest& trial, const std::vector<int>& cores,
               HostThreadWatch& watch, const std::function<Seconds()>& now) try {
  const GemmOffer offer = make(trial, cores, watch);
  if (!offer.plan) return {.facts = {{"reason", offer.reason}}};
  GemmPlan& plan = *offer.plan;
  Tried tried{.facts = {{"library", plan.library()},
                        {"version", plan.version()},
                        {"isa", plan.isa()},
                        {"chosen", false}}};
  plan.load(matrix(trial.dtype, trial.shape.m, trial.shape.k, element_of_a),
            matrix(trial.dtype, trial.shape.k, trial.shape.n, element_of_b));
  plan.clear();
  plan.run(1);
  if (!is_right(plan, trial.shape)) {
    tried.facts["wrong"] = true;
    tried.may_serve = false;
    return tried;
  }
  double best = 1e300;
  for (int i = 0; i < kTries; ++i) {
    const Seconds start = now();
    plan.run(1);
    best = std::min(best, (now() - start).value);
  }
  tried.seconds = best;
  return tried;
} catch (const Error& error) {
  return {.facts = {{"reason", error.what()}}, .may_serve = false};
}

}  // namespace

GemmRequest trial_request(GemmRequest request) {
  request.shape = {512, 512, 512};
  return request;
}

/// Tries one library after another, because they share their threads, in several rounds: the clock
/// rises while the first one works.
LibraryChoice choose_library(const std::vector<MakeGemm>& makers, const GemmRequest& request,
                             const std::vector<int>& cores, HostThreadWatch& watch,
                             const std::function<Seconds()>& now) {
  const GemmRequest trial = trial_request(request);
  std::vector<Tried> best(makers.size());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < makers.size(); ++i) {
      if (round > 0 && !best[i].seconds) continue;
      Tried tried = try_once(makers[i], trial, cores, watch, now);
      if (tried.seconds && best[i].seconds)
        tried.seconds = std::min(*tried.seconds, *best[i].seconds);
      best[i] = std::move(tried);
    }
  LibraryChoice choice;
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < makers.size(); ++i) {
    Tried& tried = best[i];
    if (tried.seconds) {
      tried.facts["flops"] = trial.shape.operations() / *tried.seconds;
      if (!chosen || *tried.seconds * kWorthIt < *best[*chosen].seconds) chosen = i;
    }
    if (tried.may_serve) choice.order.push_back(i);
  }
  if (chosen) {
    best[*chosen].facts["chosen"] = true;
    std::erase(choice.order, *chosen);
    choice.order.insert(choice.order.begin(), *chosen);
  }
  for (Tried& tried : best) choice.tried.push_back(std::move(tried.facts));
  return choice;
}

}  // namespace bench
