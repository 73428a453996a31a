#include <numeric>

#include "probes/data/loader/data_loader_series.h"
#include "tests/probes/data/slow_sets.h"
#include "tests/support/catch.h"

namespace bench::data {
namespace {

constexpr double kBatch = 0.008;  // seconds

struct Ways {
  int workers = 1;
  double step_s = 0.0;
  Uploads* uploads = nullptr;
  bool overlapped = true;
};

LoopResult looked_at(const Ways& ways) {
  const SlowPipeline pipeline(kBatch);
  LoaderOptions options;
  options.num_workers = ways.workers;
  options.batch_size = 4;
  Loader loader(pipeline, options);
  LoopOptions loop;
  loop.step = {ways.step_s};
  loop.least_steps = 25;
  loop.warm_up_steps = 4;
  loop.uploads = ways.uploads;
  loop.overlapped = ways.overlapped;
  return run_loop(loader, sleeping_step({ways.step_s}), loop);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// 1 - step / time of a batch, both as they were on this host, busy or not.
double expected_stall(const LoopResult& result) {
  return 1.0 - mean(result.step_s) / mean(result.made_s);
}

TEST_CASE("the stall is 1 - step / batch time for short steps, and none for long ones") {
  for (const double step : {0.0016, 0.004}) {
    const LoopResult result = looked_at({.step_s = step});
    INFO("a step of " << step << " s");
    CHECK(result.stall() == Approx(expected_stall(result)).margin(0.05));
    CHECK(result.readiness() < 0.2);
  }
  const LoopResult result = looked_at({.step_s = 3 * kBatch});
  CHECK(result.stall() < 0.05);
  CHECK(result.readiness() > 0.8);
}

TEST_CASE("a loader without prefetching shows a stall") {
  const LoopResult result = looked_at({.workers = 0, .step_s = kBatch});
  // 1 - step / time of a batch is about nothing here, and half of the time is spent waiting.
  CHECK(result.stall() > expected_stall(result) + 0.2);
  const double made = mean(result.made_s);
  CHECK(result.stall() == Approx(made / (made + mean(result.step_s))).margin(0.05));
}

TEST_CASE("a step hides the transfer of a batch if both overlap") {
  SlowUploads uploads(0.006);
  const LoopResult hidden =
      looked_at({.workers = 2, .step_s = 0.012, .uploads = &uploads, .overlapped = true});
  CHECK(hidden.exposed_s.size() == hidden.steps());
  CHECK(hidden.exposed() < 0.1);
  const LoopResult waited =
      looked_at({.workers = 2, .step_s = 0.012, .uploads = &uploads, .overlapped = false});
  CHECK(mean(waited.exposed_s) >= 0.006);
  CHECK(waited.exposed() > hidden.exposed() + 0.15);
  const double all = waited.stall() + waited.use() + waited.oversleep() + waited.exposed();
  CHECK(all == Approx(1.0).margin(0.02));
  CHECK(looked_at({.step_s = 0.001}).exposed_s.empty());
}

TEST_CASE("a batch corrupted on the way to the device is found, byte by byte") {
  std::vector<std::byte> batch(100, std::byte{3});
  SlowUploads good(0.0), bad(0.0, true);
  good.start(batch);
  bad.start(batch);
  CHECK(good.wrong(batch) == 0);
  CHECK(bad.wrong(batch) == 1);
}

TEST_CASE("a batch that depends on its thread is found by making it again") {
  for (const bool differs : {false, true}) {
    SlowPipeline pipeline(0.0);
    pipeline.differs_by_thread = differs;
    LoaderOptions options;
    options.num_workers = 2;
    options.batch_size = 4;
    Loader loader(pipeline, options);
    loader.begin(0, 8);
    std::uint64_t wrong = 0;
    while (const auto batch = loader.next()) wrong += wrong_in_batch(pipeline, loader, *batch);
    CHECK((wrong > 0) == differs);
  }
}

}  // namespace
}  // namespace bench::data
