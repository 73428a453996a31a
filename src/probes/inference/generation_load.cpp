#include "probes/inference/generation_load.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>
#include <utility>

#include "core/elements.h"
#include "devices/host_clock.h"
#include "probes/serving/serving_client.h"

namespace bench {
namespace {

using inference::Batcher;
using inference::TextProgress;
using inference::TextRequest;

constexpr std::uint64_t kKnownEvery = 20;
constexpr std::uint64_t kPrefixStream = 1, kLengthStream = 2, kTokenStream = 3, kGapStream = 4;

std::uint64_t bits_of(std::uint64_t seed, std::uint64_t stream, std::uint64_t number) {
  return random_bits(random_bits(seed, stream), number);
}

int drawn_length(const serving::TokenRange& range, std::uint64_t bits) {
  return range.low +
         static_cast<int>(bits % static_cast<std::uint64_t>(range.high - range.low + 1));
}

Batcher::Counts difference(const Batcher::Counts& after, const Batcher::Counts& before) {
  return {.passes = after.passes - before.passes,
          .sequences = after.sequences - before.sequences,
          .rows = after.rows - before.rows,
          .prompt_tokens = after.prompt_tokens - before.prompt_tokens,
          .reused_tokens = after.reused_tokens - before.reused_tokens,
          .decoded = after.decoded - before.decoded,
          .drafted = after.drafted - before.drafted,
          .accepted = after.accepted - before.accepted};
}

class RunningLoad {
 public:
  RunningLoad(Batcher& batcher, const GenerationLoad& load, const LoadClock& clock)
      : batcher_(batcher),
        load_(load),
        clock_(clock),
        begin_(clock.now() + load.ramp),
        end_(begin_ + load.duration),
        slices_(static_cast<std::size_t>(std::lround(load.duration / load.slice))) {
    result_.served.slice_tokens.resize(slices_);
    result_.served.slice_answers.resize(slices_);
  }

  GenerationResult run() {
    due_ = begin_ - load_.ramp + gap();
    for (;;) {
      const Seconds now = clock_.now();
      count_batches(now);
      submit(now);
      if (now >= end_ + load_.drain || (now >= end_ && measured_open_ == 0)) break;
      if (batcher_.idle()) {
        clock_.wait(std::min(due_, now < end_ ? end_ : end_ + load_.drain));
        continue;
      }
      const std::vector<TextProgress> produced = batcher_.step();
      const Seconds after = clock_.now();
      for (const TextProgress& progress : produced) take(progress, after);
    }
    for (const auto& [id, request] : open_) {
      add_open(request, end_);
      if (!request.measured) continue;
      result_.served.due += 1.0;
      result_.served.unfinished += 1.0;
    }
    batcher_.clear();
    return std::move(result_);
  }

 private:
  struct Open {
    Seconds due;
    std::size_t known;  // number, or that of no known answer
    bool measured = false;
    std::vector<Seconds> times = {};
    std::vector<std::int32_t> tokens = {};
  };

  Seconds gap() {
    return {load_.rate > 0.0
                ? serving::exponential_gap(load_.rate, bits_of(load_.seed, kGapStream, drawn_++))
                : 0.0};
  }

  void count_batches(Seconds now) {
    if (now < begin_) {
      before_ = batcher_.counts();
    } else if (now < end_ || !counted_) {
      result_.counts = difference(batcher_.counts(), before_);
      counted_ = now >= end_;
    }
  }

  void submit(Seconds now) {
    if (load_.rate > 0.0)
      for (; due_ <= now; due_ += gap()) add(due_);
    else
      while (static_cast<std::int64_t>(open_.size()) < load_.waiting) add(now);
  }

  void add(Seconds due) {
    const std::uint64_t number = next_++;
    Open open{.due = due, .known = load_.known.size()};
    TextRequest request;
    if (!load_.known.empty() && number % kKnownEvery == kKnownEvery - 1) {
      open.known = number / kKnownEvery % load_.known.size();
      request = load_.known[open.known];
    } else {
      request = generated_request(load_, number);
    }
    request.id = number;
    open.measured =
        load_.rate > 0.0 && due >= begin_ && due < end_ && open.known == load_.known.size();
    measured_open_ += open.measured ? 1 : 0;
    open_.emplace(number, std::move(open));
    batcher_.submit(std::move(request));
  }

  void take(const TextProgress& progress, Seconds at) {
    Open& open = open_.at(progress.id);
    // Tokens of one pass arrive at once: one part of the answer.
    open.times.push_back(at);
    open.tokens.insert(open.tokens.end(), progress.tokens.begin(), progress.tokens.end());
    add_to(result_.served.slice_tokens, at, static_cast<double>(progress.tokens.size()));
    if (load_.rate == 0.0 && open.times.size() > 1 && at >= begin_ && at < end_)
      result_.served.inter_token.add(at - open.times[open.times.size() - 2]);
    if (!progress.ended) return;
    finish(open, at);
    open_.erase(progress.id);
  }

  void finish(const Open& open, Seconds at) {
    serving::ServingResult& served = result_.served;
    add_to(served.slice_answers, at, 1.0);
    add_open(open, at);
    if (open.known < load_.known.size()) {
      served.checks += 1.0;
      if (open.tokens != load_.known_answers.at(open.known)) served.changed += 1.0;
    }
    if (!open.measured) return;
    --measured_open_;
    served.due += 1.0;
    served.add_answer(load_.bounds, open.due, open.times, at,
                      static_cast<double>(open.tokens.size()));
  }

  /// The part of a request's time that is measured.
  void add_open(const Open& open, Seconds at) {
    const Seconds length = std::min(at, end_) - std::max(open.due, begin_);
    result_.served.open_s += std::max(0.0, length.value);
  }

  void add_to(std::vector<double>& slices, Seconds at, double amount) const {
    const double place = std::floor((at - begin_) / load_.slice);
    if (place >= 0.0 && place < static_cast<double>(slices.size()))
      slices[static_cast<std::size_t>(place)] += amount;
  }

  Batcher& batcher_;
  const GenerationLoad& load_;
  const LoadClock& clock_;
  Seconds begin_, end_, due_ = {};
  std::size_t slices_;
  GenerationResult result_ = {};
  Batcher::Counts before_ = {};
  bool counted_ = false;
  std::map<std::uint64_t, Open> open_ = {};
  std::int64_t measured_open_ = 0;
  std::uint64_t next_ = 0, drawn_ = 0;
};

}  // namespace

LoadClock LoadClock::steady() {
  return {steady_now, [](Seconds until) {
            const Seconds left = until - steady_now();
            if (left.value > 0.0)
              std::this_thread::sleep_for(std::chrono::duration<double>(left.value));
          }};
}

TextRequest generated_request(const GenerationLoad& load, std::uint64_t number) {
  const auto token = [&](std::uint64_t stream, std::uint64_t at) {
    return static_cast<std::int32_t>(bits_of(load.seed, stream, at) %
                                     static_cast<std::uint64_t>(load.vocabulary));
  };
  TextRequest request;
  const auto prompt = static_cast<std::uint64_t>(
      drawn_length(load.prompt, bits_of(load.seed, kLengthStream, 2 * number)));
  for (std::uint64_t i = 0; i < prompt; ++i)
    request.prompt.push_back(i < static_cast<std::uint64_t>(load.shared_prefix)
                                 ? token(kPrefixStream, i)
                                 : token(kTokenStream, number << 24 | i));
  request.answer_tokens =
      drawn_length(load.output, bits_of(load.seed, kLengthStream, 2 * number + 1));
  return request;
}

GenerationResult run_load(Batcher& batcher, const GenerationLoad& load, const LoadClock& clock) {
  return RunningLoad(batcher, load, clock).run();
}

}  // namespace bench
