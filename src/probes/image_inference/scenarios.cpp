#include "probes/image_inference/scenarios.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "core/elements.h"
#include "devices/host_clock.h"
#include "probes/image_inference/early_stopping.h"
#include "probes/serving/serving_client.h"

namespace bench {
namespace {

constexpr std::uint64_t kSampleStream = 1, kGapStream = 2;
constexpr Seconds kLateWake{2e-4};  // by which a sleeping thread may wake too late

std::int64_t drawn_sample(const ScenarioLimits& limits, std::int64_t number) {
  const std::uint64_t bits =
      random_bits(random_bits(limits.seed, kSampleStream), static_cast<std::uint64_t>(number));
  return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(limits.samples));
}

bool has_ended(const ScenarioLimits& limits, Seconds begin, bool enough) {
  const Seconds passed = steady_now() - begin;
  return passed >= limits.longest || (enough && passed >= limits.time);
}

/// Sleeps, and for the last moment waits awake, so that no latency is that of the timer.
void wait_until(Seconds until) {
  const Seconds asleep = until - steady_now() - kLateWake;
  if (asleep.value > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(asleep.value));
  while (steady_now() < until) {
  }
}

std::optional<bool> verdict(std::int64_t over, std::int64_t queries) {
  if (keeps_bound(over, queries, kServerShare)) return true;
  if (misses_bound(over, queries, kServerShare)) return false;
  return {};
}

/// The queries of the server scenario, in the order in which they are due. Threads take them one
/// after another; who is free first waits for the next one, so this is one queue for all.
class PoissonQueue {
 public:
  PoissonQueue(const ScenarioLimits& limits, double rate, Seconds bound)
      : limits_(limits), rate_(rate), bound_(bound), begin_(steady_now()), due_(begin_ + gap()) {}

  struct Query {
    std::int64_t number;
    Seconds due;
  };
  /// The next one; nothing when the scenario has ended.
  std::optional<Query> take() {
    const std::lock_guard lock(mutex_);
    if (!ended_) end_if_due(steady_now());
    if (ended_) return {};
    const Query query{number_++, due_};
    under_way_[query.number] = query.due;
    due_ += gap();
    return query;
  }
  void answered(const Query& query, Seconds latency) {
    const std::lock_guard lock(mutex_);
    under_way_.erase(query.number);
    answers_.push_back({query.number, latency.value});
    if (latency > bound_) ++over_;
  }

  ScenarioResult result() {
    ScenarioResult result{.unanswered = unanswered_, .kept = kept_};
    std::ranges::sort(answers_, {}, &Answer::number);
    for (const Answer& answer : answers_) result.latencies.push_back(answer.latency);
    if (!kept_) result.kept = verdict(over_ + unanswered_, std::ssize(answers_) + unanswered_);
    return result;
  }

 private:
  struct Answer {
    std::int64_t number;
    double latency;
  };

  Seconds gap() {
    return {serving::exponential_gap(rate_,
                                     random_bits(random_bits(limits_.seed, kGapStream), drawn_++))};
  }

  void end_if_due(Seconds now) {
    const Seconds longest = begin_ + limits_.longest;
    if (due_ >= longest || now >= longest) {
      ended_ = true;
      for (; due_ + bound_ < now; due_ += gap()) ++unanswered_;
    } else if (due_ >= begin_ + limits_.time && number_ >= next_look_) {
      const auto late = std::ranges::count_if(
          under_way_, [&](const auto& query) { return query.second + bound_ < now; });
      kept_ = verdict(over_ + late, std::ssize(answers_) + late);
      ended_ = kept_.has_value();
      next_look_ = number_ + number_ / 2 + 1;
    }
  }

  const ScenarioLimits& limits_;
  double rate_;
  Seconds bound_;
  std::uint64_t drawn_ = 0;
  Seconds begin_, due_;
  std::mutex mutex_;
  bool ended_ = false;
  std::int64_t number_ = 0, over_ = 0, unanswered_ = 0;
  std::int64_t next_look_ = 0;  // at this number of queries
  std::optional<bool> kept_ = {};
  std::map<std::int64_t, Seconds> under_way_ = {};  // by number, when it was due
  std::vector<Answer> answers_ = {};
};

}  // namespace

ScenarioResult single_stream(const ImageCalls& calls, const ScenarioLimits& limits,
                             std::int64_t queries) {
  ScenarioResult result;
  const Seconds begin = steady_now();
  for (std::int64_t number = 0; !has_ended(limits, begin, number >= queries); ++number) {
    const std::int64_t sample = drawn_sample(limits, number);
    const Seconds asked = steady_now();
    calls.answer(0, sample);
    result.latencies.push_back((steady_now() - asked).value);
    calls.check(0, sample);
  }
  return result;
}

ScenarioResult multi_stream(const ImageCalls& calls, const ScenarioLimits& limits,
                            std::int64_t queries, training::WorkerPool& threads) {
  ScenarioResult result;
  std::vector<std::int64_t> last(static_cast<std::size_t>(threads.size()));
  const Seconds begin = steady_now();
  for (std::int64_t number = 0; !has_ended(limits, begin, number >= queries); ++number) {
    std::ranges::fill(last, -1);
    std::atomic<std::int64_t> next{0};
    const Seconds asked = steady_now();
    threads.run([&](int thread) {
      for (std::int64_t i = next++; i < kStreams; i = next++) {
        const std::int64_t sample = drawn_sample(limits, number * kStreams + i);
        calls.answer(thread, sample);
        last[static_cast<std::size_t>(thread)] = sample;
      }
    });
    result.latencies.push_back((steady_now() - asked).value);
    threads.run([&](int thread) {
      const std::int64_t sample = last[static_cast<std::size_t>(thread)];
      if (sample >= 0) calls.check(thread, sample);
    });
  }
  return result;
}

ScenarioResult server(const ImageCalls& calls, const ScenarioLimits& limits, double rate,
                      Seconds bound, training::WorkerPool& threads) {
  PoissonQueue queue(limits, rate, bound);
  threads.run([&](int thread) {
    while (const auto query = queue.take()) {
      const std::int64_t sample = drawn_sample(limits, query->number);
      wait_until(query->due);
      calls.answer(thread, sample);
      queue.answered(*query, steady_now() - query->due);
      calls.check(thread, sample);
    }
  });
  return queue.result();
}

}  // namespace bench
