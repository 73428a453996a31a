// When scenarios ask, with answers that take a known time.
#include "probes/image_inference/scenarios.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <thread>

#include "tests/support/catch.h"

namespace bench {
namespace {

/// Answers that sleep; remembers what was asked.
struct SleepingModel {
  std::chrono::duration<double> each{0.001};
  std::atomic<int> asked = 0, checked = 0, wrong = 0;
  std::mutex mutex = {};
  std::vector<std::int64_t> samples = {};
  std::vector<std::int64_t> last = std::vector<std::int64_t>(16, -1);
  std::function<void(int number)> more = [](int) {};

  ImageCalls calls() {
    return {[this](int thread, std::int64_t sample) {
              const int number = asked++;
              std::this_thread::sleep_for(each);
              more(number);
              last.at(static_cast<std::size_t>(thread)) = sample;
              const std::lock_guard lock(mutex);
              samples.push_back(sample);
            },
            [this](int thread, std::int64_t sample) {
              ++checked;
              if (last.at(static_cast<std::size_t>(thread)) != sample) ++wrong;
            }};
  }
  std::size_t different() {
    std::ranges::sort(samples);
    return static_cast<std::size_t>(std::ranges::unique(samples).begin() - samples.begin());
  }
};

ScenarioLimits limits(double time, double longest) {
  return {.time = {time}, .longest = {longest}, .samples = 5, .seed = 3};
}

TEST_CASE("a single stream asks until there are queries enough, and checks each answer") {
  SleepingModel model;
  const ScenarioResult result = single_stream(model.calls(), limits(0.001, 60.0), 40);
  CHECK(result.latencies.size() == 40);
  CHECK(std::ranges::all_of(result.latencies, [](double one) { return one >= 0.001; }));
  CHECK(model.checked == 40);
  CHECK(model.wrong == 0);
  CHECK(model.different() == 5);
  CHECK((model.samples.front() == 0 && model.samples.back() == 4));
}

TEST_CASE("a single stream asks for its time, and not longer than the longest") {
  SleepingModel model;
  const ScenarioResult result = single_stream(model.calls(), limits(0.1, 60.0), 1);
  CHECK(std::accumulate(result.latencies.begin(), result.latencies.end(), 0.0) > 0.05);
  CHECK_FALSE(result.latencies.empty());
  const ScenarioResult ended = single_stream(model.calls(), limits(0.01, 0.05), 1000000);
  CHECK(ended.latencies.size() < 51);
}

TEST_CASE("streams are answered by all threads together") {
  SleepingModel model;
  training::WorkerPool threads(2);
  const ScenarioResult result = multi_stream(model.calls(), limits(0.001, 60.0), 10, threads);
  CHECK(result.latencies.size() == 10);
  CHECK(model.asked == 10 * kStreams);
  CHECK(std::ranges::all_of(result.latencies, [](double one) { return one >= 0.004; }));
  CHECK(model.wrong == 0);
  CHECK((model.checked > 10 && model.checked <= 20));  // one of each thread that answered any
}

TEST_CASE("a server is asked at the rate, until the bound is known to be kept") {
  SleepingModel model;
  training::WorkerPool threads(2);
  const ScenarioResult result = server(model.calls(), limits(0.5, 60.0), 500.0, {5.0}, threads);
  CHECK(result.kept == true);
  CHECK(result.latencies.size() >= 459);
  CHECK(result.unanswered == 0);
  CHECK(model.checked == static_cast<int>(result.latencies.size()));
  CHECK(model.wrong == 0);
  CHECK(std::ranges::all_of(result.latencies, [](double one) { return one >= 0.001; }));
}

TEST_CASE("latency counts from the time when a query was due") {
  SleepingModel model;
  model.more = [](int number) {
    if (number == 50) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  };
  training::WorkerPool threads(1);
  const ScenarioResult result = server(model.calls(), limits(0.6, 0.7), 200.0, {10.0}, threads);
  // About forty queries were due while one took a fifth of a second; all of them waited.
  const auto late = std::ranges::count_if(result.latencies, [](double one) { return one > 0.02; });
  CHECK(late > 20);
}

TEST_CASE("a server that misses the bound is left after its time") {
  SleepingModel model;
  training::WorkerPool threads(2);
  const ScenarioResult result = server(model.calls(), limits(0.2, 60.0), 100.0, {1e-6}, threads);
  CHECK(result.latencies.size() < 100);
  CHECK(result.unanswered == 0);
  CHECK(result.kept == false);
}

TEST_CASE("queries that an overloaded server does not reach have no answer") {
  SleepingModel model;
  model.each = std::chrono::duration<double>(0.01);
  training::WorkerPool threads(1);
  const ScenarioResult result = server(model.calls(), limits(0.2, 0.3), 2000.0, {0.05}, threads);
  CHECK(result.latencies.size() <= 31);
  CHECK(result.unanswered > 300);
  CHECK(result.kept == false);
  // In the order in which they were due: each waited longer than the one before.
  CHECK(std::ranges::is_sorted(result.latencies));
}

TEST_CASE("too few queries decide nothing, and none is waited for after the longest time") {
  SleepingModel model;
  training::WorkerPool threads(2);
  const ScenarioResult few = server(model.calls(), limits(0.1, 0.3), 100.0, {5.0}, threads);
  CHECK_FALSE(few.latencies.empty());
  CHECK_FALSE(few.kept.has_value());
  const auto begin = std::chrono::steady_clock::now();
  const ScenarioResult none = server(model.calls(), limits(0.1, 0.2), 1e-3, {5.0}, threads);
  CHECK(none.latencies.empty());
  CHECK(none.unanswered == 0);
  CHECK_FALSE(none.kept.has_value());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
}

}  // namespace
}  // namespace bench
