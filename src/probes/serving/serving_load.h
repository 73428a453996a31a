// One load on a server of a language model, and what came of it: latencies of tokens and requests,
// throughput, and what went wrong.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/units.h"
#include "devices/group.h"
#include "probes/serving/serving_client.h"
#include "probes/storage/latency_histogram.h"

namespace bench::serving {

/// What a user is promised, of a request: as in MLPerf Inference's servers of language models.
struct LatencyBounds {
  Seconds first_token = {2.0};
  Seconds per_token = {0.2};  // after the first one, on average
};

/// Numbers are of the requests that were due in the measured time, without those whose answers are
/// known, which are short and repeat; the slices are of that time, whatever request their tokens
/// are of.
struct ServingResult {
  double due = 0.0, answered = 0.0, failed = 0.0, unfinished = 0.0;
  double delayed = 0.0;  // sent late, or not at all, because all connections were in use
  double first_in_bound = 0.0, token_in_bound = 0.0, in_bounds = 0.0;  // answered within; both
  double short_answers = 0.0;                       // of fewer tokens than wanted
  double uncounted = 0.0;                           // answers whose tokens the server did not count
  double prompt_tokens = 0.0, output_tokens = 0.0;  // of counted answers
  double checks = 0.0, changed = 0.0;               // known answers, and those that were different
  double open_s = 0.0;                              // of all requests in the measured time
  double cpu_s = 0.0;  // of the client in that time, of the busiest rank

  /// From the time when a request was due, not when it was sent: what held it up in the client
  /// counts.
  storage::LatencyHistogram first_token = {}, request = {};
  /// Between the events of an answer, and per token after the first one of each.
  storage::LatencyHistogram inter_token = {}, per_token = {};
  storage::LatencyHistogram send_delay = {};  // from due to sent: the client's own error

  std::vector<double> slice_tokens = {}, slice_answers = {};
  std::map<std::string, double> problems = {};  // how often

  /// Of a request that was answered: when it was due, when each part of the answer came, of which
  /// there is one or more, when it ended, and its tokens.
  void add_answer(const LatencyBounds& bounds, Seconds when_due, const std::vector<Seconds>& times,
                  Seconds ended, double tokens);

  /// A latency that so many of the requests kept, where those without an answer kept none; NaN if
  /// too few have one. `of` is one of the histograms with one value a request.
  Seconds quantile(const storage::LatencyHistogram& of, double q) const;
  struct LatencyValue {
    const char* quantile;  // "p50"
    Seconds value;         // NaN: too few requests have an answer
  };
  /// p50, p90, p99 and p99.9 of one of the histograms, those that so many requests or times can
  /// show; of requests as quantile() has them.
  std::vector<LatencyValue> quantiles(const storage::LatencyHistogram& of, double behind) const;
  /// Whether 99 % of the requests kept each of the bounds; not if there were none.
  bool holds() const;
};

struct ServingLoad {
  LoadSetting load;
  RequestSetting requests;
  LatencyBounds bounds;
  std::vector<std::string> known_answers = {};  // of checks, by number
  std::string secret = {};                      // never in problems
  Seconds slice = {0.5};
};

ServingResult run_load(ServingClient& client, const ServingLoad& load);

/// Sums over the ranks, whose loads ran at the same time; `problems` at rank 0 only.
ServingResult over_ranks(Group& group, ServingResult own);

}  // namespace bench::serving
