#include <algorithm>
#include <cmath>

#include "probes/data/model/data_loader_forecast.h"
#include "probes/data/model/data_loader_limits.h"
#include "tests/support/catch.h"
#include "training/sources/random.h"

namespace bench::data {
namespace {

QueueSetup setup_of(int workers, double step_s) {
  QueueSetup setup;
  setup.workers = workers;
  setup.step_s = step_s;
  return setup;
}

TEST_CASE("with batches of equal length the stall is the excess of demand over rate") {
  const std::vector<double> batch = {0.1};
  for (const int workers : {1, 2, 4})
    for (const double step : {0.005, 0.02, 0.03, 0.07, 0.2}) {
      const QueueSetup setup = setup_of(workers, step);
      const Forecast forecast = simulate_queue(batch, setup);
      INFO(workers << " workers, step " << step);
      CHECK(forecast.stall == Approx(fluid_stall(workers / 0.1, setup)).margin(1e-3));
      CHECK(forecast.slow_down == Approx(std::max(1.0, 0.1 / workers / step)).epsilon(1e-3));
    }
}

TEST_CASE("without workers every batch is waited for") {
  const Forecast forecast = simulate_queue({0.1}, setup_of(0, 0.3));
  CHECK(forecast.stall == Approx(0.25));
  CHECK(fluid_stall(10.0, setup_of(0, 0.3)) == Approx(0.25));
  CHECK(forecast.wait_p99_s == Approx(0.1));
}

TEST_CASE("a late batch delays later ones only if delivery is in order") {
  std::vector<double> lengths(20, 0.1);
  lengths[0] = 1.0;
  QueueSetup setup = setup_of(4, 0.037);
  const double in_order = simulate_queue(lengths, setup).stall;
  setup.in_order = false;
  const double any_order = simulate_queue(lengths, setup).stall;
  CHECK(in_order > any_order + 0.05);
  setup.in_order = true;
  setup.prefetch_factor = 16;
  CHECK(simulate_queue(lengths, setup).stall < in_order);
}

TEST_CASE("transfer time that a step does not hide makes steps longer") {
  QueueSetup setup = setup_of(1, 0.02);
  setup.exposed_s = 0.03;
  const Forecast forecast = simulate_queue({0.1}, setup);
  CHECK(forecast.stall == Approx(0.5).margin(1e-3));
  CHECK(forecast.slow_down == Approx(5.0).epsilon(1e-2));
  CHECK(fluid_stall(10.0, setup) == Approx(0.5));
  setup.step_s = 0.2;  // batches are there in time: the way alone is left
  CHECK(simulate_queue({0.1}, setup).slow_down == Approx(0.23 / 0.2).epsilon(1e-2));
}

TEST_CASE("a prediction is judged only if the loader's rate did not change") {
  const StallComparison same = compare_stalls(0.5, 0.42, {1000, 1049});
  CHECK(same.conclusive);
  CHECK(same.error == Approx(0.08));
  CHECK(same.reason.empty());
  CHECK(compare_stalls(0.5, 0.5, {1000, 951}).conclusive);
  for (const double after : {1051.0, 949.0, 0.0, std::nan("")}) {
    const StallComparison other = compare_stalls(0.5, 0.5, {1000, after});
    CHECK_FALSE(other.conclusive);
    CHECK_THAT(other.reason, Catch::Contains("1000 samples/s before"));
  }
}

TEST_CASE("several devices need several batches per step, and shared batches keep the rate") {
  QueueSetup setup = setup_of(4, 0.1);
  setup.batches_per_step = 8;
  CHECK(simulate_queue({0.1}, setup).stall == Approx(0.5).margin(1e-3));
  setup.shared_batches = true;
  CHECK(simulate_queue({0.1}, setup).batches_per_second == Approx(40.0).epsilon(1e-3));
}

TEST_CASE("with exponential batch times one worker waits as queueing theory predicts") {
  // Steps of fixed length, one batch ahead: a batch is made while the step runs, and the wait is
  // what it takes longer: E max(0, X - s) = m exp(-s / m).
  std::vector<double> lengths;
  for (std::uint64_t i = 0; i < 20000; ++i)
    lengths.push_back(-0.1 * std::log(1.0 - training::uniform(random_bits(1, i))));
  QueueSetup setup = setup_of(1, 0.2);
  setup.prefetch_factor = 1;
  setup.steps = 200000;
  const double wait = 0.1 * std::exp(-2.0);
  CHECK(simulate_queue(lengths, setup).stall == Approx(wait / (0.2 + wait)).epsilon(0.03));
}

TEST_CASE("the lowest limit is binding, and unknown values set no limit") {
  LimitInputs inputs;
  inputs.storage_bytes_per_second = 1e9;
  inputs.read_bytes = 1e5;
  inputs.memory_bytes_per_second = 2e10;
  inputs.touched_bytes = 2e6;
  inputs.cpu_s = 1e-3;
  inputs.workers = 2;
  inputs.cores = 16;
  const auto limits = loader_limits(inputs);
  REQUIRE(limits.size() == 4);
  CHECK(limits[0].name == "workers");
  CHECK(limits[0].samples_per_second == Approx(2000));
  CHECK(limits[1].name == "storage");
  CHECK(limits[2].name == "memory");
  CHECK(limits[2].samples_per_second == Approx(10000));
  CHECK(limits[3].samples_per_second == Approx(16000));
  inputs.workers = 16;
  CHECK(loader_limits(inputs).back().name == "cpu");
  CHECK(loader_limits(inputs).size() == 3);
  CHECK(loader_limits({}).empty());
}

TEST_CASE("the smallest number of workers that is nearly as fast as the best is recommended") {
  CHECK(worker_counts(1) == std::vector<int>{0, 1});
  CHECK(worker_counts(2) == std::vector<int>{0, 1, 2});
  CHECK(worker_counts(6) == std::vector<int>{0, 1, 2, 4, 6});
  CHECK(recommended({{0, 500}, {1, 480}, {2, 960}, {4, 1000}, {8, 990}})->workers == 2);
  CHECK(recommended({{0, 100}, {1, 96}})->workers == 0);
  CHECK_FALSE(recommended({}));
  CHECK(workers_needed(1000, 0.001) == 2);
  CHECK(workers_needed(10, 0.001) == 1);
}

TEST_CASE("presets are found by name") {
  REQUIRE(step_preset("resnet50_h100") != nullptr);
  CHECK(step_preset("resnet50_h100")->batch_size / step_preset("resnet50_h100")->step_s ==
        Approx(1786).epsilon(1e-3));
  CHECK(step_preset("resnet") == nullptr);
}

}  // namespace
}  // namespace bench::data
