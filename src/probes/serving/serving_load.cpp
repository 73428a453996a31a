#include "probes/serving/serving_load.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>

#include "core/text.h"
#include "devices/host_clock.h"

namespace bench::serving {
namespace {

constexpr std::size_t kMostProblems = 8;  // different ones that are kept
constexpr double kBoundShare = 0.99;      // of the requests

/// Each is reported if so many requests or times stand behind it.
struct LatencyQuantile {
  const char* name;
  double share;
  double least;
};
constexpr LatencyQuantile kLatencyQuantiles[] = {
    {"p50", 0.5, 1}, {"p90", 0.9, 10}, {"p99", 0.99, 100}, {"p99.9", 0.999, 1000}};

/// Reads answers in a thread of its own, so that the client's has nothing to do but the network.
class Reader {
 public:
  Reader(const ServingLoad& load, Seconds begin)
      : load_(load),
        begin_(begin),
        slices_(static_cast<std::size_t>(std::lround(load.load.duration / load.slice))),
        result_{.slice_tokens = std::vector<double>(slices_),
                .slice_answers = std::vector<double>(slices_)},
        thread_([this] { read_all(); }) {}
  ~Reader() {
    if (thread_.joinable()) finish();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void take(ServedRequest served) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(served));
    changed_.notify_one();
  }

  ServingResult finish() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      changed_.notify_one();
    }
    thread_.join();
    return std::move(result_);
  }

 private:
  void read_all() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return over_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const ServedRequest served = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      read(served);
    }
  }

  void read(const ServedRequest& served) {
    const Answer answer = read_answer(served.answer, load_.secret);
    count_in_time(served, answer);
    if (!served.measured) return;
    if (served.check >= 0) return count_check(served, answer);
    result_.due += 1.0;
    result_.send_delay.add(served.sent - served.due);
    if (served.waited) result_.delayed += 1.0;
    if (served.unfinished)
      result_.unfinished += 1.0;
    else if (!answer.problem.empty())
      count_problem(answer.problem);
    else
      count_answer(served, answer);
  }

  /// What of a request lies in the measured time.
  void count_in_time(const ServedRequest& served, const Answer& answer) {
    const Seconds end = begin_ + load_.load.duration;
    const Seconds open = std::min(served.ended, end) - std::max(served.sent, begin_);
    result_.open_s += std::max(0.0, open.value);
    const double tokens_per_event =
        answer.times.empty() ? 0.0 : answer.tokens() / static_cast<double>(answer.times.size());
    for (const Seconds at : answer.times) add(result_.slice_tokens, at, tokens_per_event);
    if (answer.problem.empty() && !served.unfinished) add(result_.slice_answers, served.ended, 1.0);
  }

  void add(std::vector<double>& slices, Seconds at, double amount) const {
    const double place = std::floor((at - begin_) / load_.slice);
    if (place >= 0.0 && place < static_cast<double>(slices.size()))
      slices[static_cast<std::size_t>(place)] += amount;
  }

  void count_problem(std::string problem) {
    result_.failed += 1.0;
    if (result_.problems.size() >= kMostProblems && !result_.problems.contains(problem))
      problem = "others";
    result_.problems[problem] += 1.0;
  }

  void count_answer(const ServedRequest& served, const Answer& answer) {
    const double tokens = answer.tokens();
    result_.add_answer(load_.bounds, served.due, answer.times, served.ended, tokens);
    if (tokens < served.output_tokens) result_.short_answers += 1.0;
    if (std::isnan(answer.output_tokens) || std::isnan(answer.prompt_tokens)) {
      result_.uncounted += 1.0;
    } else {
      result_.prompt_tokens += answer.prompt_tokens;
      result_.output_tokens += answer.output_tokens;
    }
  }

  void count_check(const ServedRequest& served, const Answer& answer) {
    const auto number = static_cast<std::size_t>(served.check);
    if (served.unfinished || !answer.problem.empty() || number >= load_.known_answers.size())
      return;
    result_.checks += 1.0;
    if (answer.text != load_.known_answers[number]) result_.changed += 1.0;
  }

  const ServingLoad& load_;
  Seconds begin_;
  std::size_t slices_;
  ServingResult result_;
  std::mutex mutex_ = {};
  std::condition_variable changed_ = {};
  std::deque<ServedRequest> waiting_ = {};
  bool over_ = false;
  std::thread thread_;
};

}  // namespace

void ServingResult::add_answer(const LatencyBounds& bounds, Seconds when_due,
                               const std::vector<Seconds>& times, Seconds ended, double tokens) {
  answered += 1.0;
  const Seconds first = times.front() - when_due;
  first_token.add(first);
  request.add(ended - when_due);
  for (std::size_t i = 1; i < times.size(); ++i) inter_token.add(times[i] - times[i - 1]);
  Seconds each = {};
  if (tokens > 1.0) {
    each = (times.back() - times.front()) / (tokens - 1.0);
    per_token.add(each);
  }
  const bool first_kept = first <= bounds.first_token, token_kept = each <= bounds.per_token;
  first_in_bound += first_kept ? 1.0 : 0.0;
  token_in_bound += token_kept ? 1.0 : 0.0;
  in_bounds += first_kept && token_kept ? 1.0 : 0.0;
}

Seconds ServingResult::quantile(const storage::LatencyHistogram& of, double q) const {
  const double without = failed + unfinished;
  const double all = of.count() + without;
  const double rank = q * all;
  if (!(all > 0.0) || rank > of.count()) return {std::numeric_limits<double>::quiet_NaN()};
  return of.quantile(rank / of.count());
}

std::vector<ServingResult::LatencyValue> ServingResult::quantiles(
    const storage::LatencyHistogram& of, double behind) const {
  // What has one value a request misses those without an answer; the rest has no such count.
  const bool of_requests = &of != &inter_token && &of != &send_delay;
  if (!of_requests && !(of.count() > 0.0)) return {};
  std::vector<LatencyValue> values;
  for (const auto& [name, share, least] : kLatencyQuantiles)
    if (behind >= least)
      values.push_back({name, of_requests ? quantile(of, share) : of.quantile(share)});
  return values;
}

bool ServingResult::holds() const {
  return due > 0.0 && std::min(first_in_bound, token_in_bound) >= kBoundShare * due;
}

ServingResult run_load(ServingClient& client, const ServingLoad& load) {
  const Seconds start = steady_now();
  Reader reader(load, start + load.load.ramp);
  const Seconds cpu = client.run(
      load.load, start, [&](std::uint64_t number) { return request_number(load.requests, number); },
      [&](ServedRequest served) { reader.take(std::move(served)); });
  ServingResult result = reader.finish();
  result.cpu_s = cpu.value;
  return result;
}

ServingResult over_ranks(Group& group, ServingResult own) {
  for (double* one :
       {&own.due, &own.answered, &own.failed, &own.unfinished, &own.delayed, &own.first_in_bound,
        &own.token_in_bound, &own.in_bounds, &own.short_answers, &own.uncounted, &own.prompt_tokens,
        &own.output_tokens, &own.checks, &own.changed, &own.open_s})
    *one = total(group, *one);
  own.cpu_s = largest(group, own.cpu_s);
  for (std::vector<double>* each :
       {&own.first_token.counts(), &own.request.counts(), &own.inter_token.counts(),
        &own.per_token.counts(), &own.send_delay.counts(), &own.slice_tokens, &own.slice_answers})
    group.sum(*each);
  const std::vector<Json> problems = gather_json(group, own.problems);
  own.problems.clear();
  for (const Json& of_rank : problems)
    for (const auto& [problem, count] : of_rank.items())
      own.problems[problem] += count.get<double>();
  return own;
}

}  // namespace bench::serving
