// Kernels of a divided vocabulary against those of the whole one, for every instruction set of this
// CPU and for functors.
#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/functor_set.h"
#include "training/host/host_kernels.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

constexpr std::int64_t kTokens = 101, kColumns = 24;
/// Where the parts of three ranks begin and end: one is small, one has a single token.
constexpr std::int64_t kEnds[] = {0, 37, 38, kTokens};

std::vector<float> normal_values(std::int64_t count, unsigned seed, float scale, float shift) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(random) * scale + shift;
  return values;
}

View view_of(std::vector<float>& values, std::int64_t rows) {
  return {values.data(), rows, static_cast<std::int64_t>(values.size()) / rows, Dtype::f32};
}

/// Some columns of a matrix.
std::vector<float> columns_of(const std::vector<float>& all, std::int64_t first, std::int64_t end) {
  std::vector<float> some;
  for (auto row = all.begin(); row != all.end(); row += kTokens)
    some.insert(some.end(), row + first, row + end);
  return some;
}

struct SoftmaxResult {
  std::vector<double> losses;
  std::vector<float> gradient;
};

SoftmaxResult whole_loss(const KernelSet& set, std::vector<float> logits,
                         std::vector<std::int32_t>& targets, double scale) {
  const auto rows = static_cast<std::int64_t>(targets.size());
  std::vector<double> losses(targets.size());
  set.loss->cross_entropy(view_of(logits, rows), {targets.data(), rows, 1, Dtype::int32}, scale,
                          {losses.data(), rows, 1, Dtype::f64});
  return {losses, logits};
}

/// Of three ranks, whose losses must be the same.
SoftmaxResult divided_loss(const KernelSet& set, const std::vector<float>& logits,
                           std::vector<std::int32_t>& targets, double scale) {
  const auto rows = static_cast<std::int64_t>(targets.size());
  const View ids{targets.data(), rows, 1, Dtype::int32};
  std::vector<float> statistics(static_cast<std::size_t>(3 * rows * kLogitStatistics));
  const View all = view_of(statistics, 3 * rows);
  std::vector<std::vector<float>> parts;
  for (int rank = 0; rank < 3; ++rank) {
    parts.push_back(columns_of(logits, kEnds[rank], kEnds[rank + 1]));
    set.vocabulary->summarize_logits(view_of(parts.back(), rows), ids, {kEnds[rank], kTokens},
                                     rows_of(all, rank * rows, rows));
  }
  SoftmaxResult result{{}, std::vector<float>(logits.size())};
  for (int rank = 0; rank < 3; ++rank) {
    std::vector<double> losses(targets.size());
    std::vector<float>& part = parts[static_cast<std::size_t>(rank)];
    set.vocabulary->cross_entropy({view_of(part, rows),
                                   ids,
                                   {kEnds[rank], kTokens},
                                   all,
                                   scale,
                                   {losses.data(), rows, 1, Dtype::f64}});
    if (rank > 0) CHECK(losses == result.losses);
    result.losses = losses;
    const std::int64_t own = kEnds[rank + 1] - kEnds[rank];
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(part.begin() + row * own, own,
                  result.gradient.begin() + row * kTokens + kEnds[rank]);
  }
  return result;
}

void for_each_set(const std::function<void(const KernelSet&)>& check) {
  for (const std::string_view isa : host_kernel_isas()) {
    INFO(isa);
    check(host_kernels(Dtype::f32, isa));
  }
  INFO("functors");
  HostLaunch launch;
  check(functor_kernels(launch, Dtype::f32));
}

}  // namespace

TEST_CASE("a divided softmax has the losses and gradients of the whole one") {
  for_each_set([](const KernelSet& set) {
    for (const float shift : {0.0f, 1e4f, -1e4f}) {
      INFO(shift);
      // Targets of each rank, the first and the last of a part, and an ignored one.
      std::vector<std::int32_t> targets = {0, 36, 37, 38, 100, -1};
      const auto logits = normal_values(6 * kTokens, 7, 5.0f, shift);
      for (const double scale : {0.0, 0.25}) {
        const SoftmaxResult whole = whole_loss(set, logits, targets, scale);
        const SoftmaxResult divided = divided_loss(set, logits, targets, scale);
        for (std::size_t i = 0; i < targets.size(); ++i)
          CHECK(divided.losses[i] ==
                Approx(whole.losses[i]).epsilon(1e-6).margin(shift == 0.0f ? 1e-6 : 2e-3));
        for (std::size_t i = 0; i < logits.size(); ++i)
          REQUIRE(divided.gradient[i] == Approx(whole.gradient[i]).epsilon(1e-5).margin(1e-7));
      }
      CHECK(divided_loss(set, logits, targets, 0.25).losses.back() == 0.0);
    }
  });
}

TEST_CASE("a rank whose logits are all far below the others' does not change a softmax") {
  for_each_set([](const KernelSet& set) {
    std::vector<std::int32_t> targets = {50};
    auto logits = normal_values(kTokens, 3, 1.0f, 0.0f);
    for (std::int64_t i = 0; i < kEnds[1]; ++i) logits[static_cast<std::size_t>(i)] = -3e4f;
    const SoftmaxResult whole = whole_loss(set, logits, targets, 1.0);
    const SoftmaxResult divided = divided_loss(set, logits, targets, 1.0);
    CHECK(divided.losses[0] == Approx(whole.losses[0]).epsilon(1e-6));
    CHECK(divided.gradient[0] == 0.0f);
  });
}

TEST_CASE("rows of a divided table sum up to those of the whole one, and so do their gradients") {
  for_each_set([](const KernelSet& set) {
    std::vector<std::int32_t> tokens = {100, 37, 0, 36, 38, 37, 99, 0};
    const View ids{tokens.data(), 8, 1, Dtype::int32};
    auto table = normal_values(kTokens * kColumns, 1, 1.0f, 0.0f);
    auto slope = normal_values(8 * kColumns, 2, 1.0f, 0.0f);
    std::vector<float> y(slope.size()), sum(slope.size(), 0.0f);
    std::vector<float> gradient(table.size(), 1.0f), divided(table.size(), 1.0f);
    set.embedding->forward(ids, view_of(table, kTokens), view_of(y, 8));
    set.embedding->backward(ids, view_of(slope, 8), view_of(gradient, kTokens), true);
    for (int rank = 0; rank < 3; ++rank) {
      const std::int64_t first = kEnds[rank], own = kEnds[rank + 1] - first;
      std::vector<float> part(slope.size(), 9.0f);
      set.vocabulary->look_up(ids, {first, kTokens}, rows_of(view_of(table, kTokens), first, own),
                              view_of(part, 8));
      for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
      set.vocabulary->look_up_backward(ids, {first, kTokens}, view_of(slope, 8),
                                       rows_of(view_of(divided, kTokens), first, own), true);
    }
    CHECK(sum == y);
    CHECK(divided == gradient);
  });
}

TEST_CASE("a token that no rank has is refused by each") {
  const KernelSet set = host_kernels(Dtype::f32);
  std::vector<float> table(10 * 4), y(2 * 4), logits(2 * 10), statistics(2 * kLogitStatistics);
  for (const std::int32_t token : {101, -1}) {
    std::vector<std::int32_t> tokens = {3, token};
    const View ids{tokens.data(), 2, 1, Dtype::int32};
    CHECK_THROWS_WITH(set.vocabulary->look_up(ids, {0, kTokens}, view_of(table, 10), view_of(y, 2)),
                      Contains(std::to_string(token)));
  }
  std::vector<std::int32_t> tokens = {3, kTokens};
  const View ids{tokens.data(), 2, 1, Dtype::int32};
  CHECK_THROWS_WITH(set.vocabulary->summarize_logits(view_of(logits, 2), ids, {20, kTokens},
                                                     view_of(statistics, 2)),
                    Contains("101"));
  HostLaunch launch;
  functor_kernels(launch, Dtype::f32)
      .vocabulary->summarize_logits(view_of(logits, 2), ids, {20, kTokens}, view_of(statistics, 2));
  CHECK(launch.fault()->row_and_id == (1ull << 32 | 101));
}

}  // namespace bench::training
