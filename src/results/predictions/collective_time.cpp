#include "results/predictions/collective_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr double kSpread = 0.1;       // of what is carried to another number of ranks
constexpr double kLinkSpread = 0.25;  // of what follows from a link's constants

}  // namespace

CollectiveCost collective_cost(const std::string& operation, CollectiveAlgorithm algorithm,
                               int ranks) {
  const double n = ranks;
  const double depth = std::ceil(std::log2(std::max(1.0, n)));
  const bool tree = algorithm == CollectiveAlgorithm::tree;
  if (operation == "all_reduce")  // reduce and broadcast; a pipelined tree passes each byte twice
    return tree ? CollectiveCost{2 * depth, 2.0} : CollectiveCost{2 * (n - 1), 2 * (n - 1) / n};
  if (operation == "all_gather" || operation == "reduce_scatter" || operation == "all_to_all")
    return {tree && operation != "all_to_all" ? depth : n - 1, (n - 1) / n};
  if (operation == "broadcast" || operation == "reduce") return {tree ? depth : n - 1, 1.0};
  if (operation == "send_recv") return {1.0, 1.0};
  throw Error(ErrorKind::input, "unknown operation '" + printable(operation) + "'",
              "name all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce or "
              "send_recv");
}

double interpolated_seconds(std::span<const MeasuredCollective> points, double bytes) {
  if (points.empty() || bytes < points.front().bytes) return std::nan("");
  const auto above = std::ranges::find_if(
      points, [&](const MeasuredCollective& one) { return one.bytes >= bytes; });
  if (above != points.end() && above->bytes == bytes) return above->seconds;
  if (points.size() < 2) return std::nan("");
  const auto right = above == points.end() ? points.end() - 1 : above;
  const MeasuredCollective &a = *(right - 1), &b = *right;
  return a.seconds + (b.seconds - a.seconds) * (bytes - a.bytes) / (b.bytes - a.bytes);
}

namespace {

/// Of the message at the measured number of ranks, carried to the wanted one.
double from_measured(const CollectiveQuestion& question) {
  const double there = interpolated_seconds(question.measured, question.bytes);
  if (!std::isfinite(there))
    throw Error(ErrorKind::input,
                fmt::format("{} of {} bytes lies outside what {} measured", question.operation,
                            question.bytes, question.measured_source),
                "measure smaller messages too, and at least two sizes");
  if (question.ranks == question.measured_ranks) return there;
  const auto cost = [&](int ranks) {
    return collective_cost(question.operation, question.algorithm, ranks);
  };
  const CollectiveCost here = cost(question.ranks), known = cost(question.measured_ranks);
  // The smallest message is almost all latency.
  const double latency = std::min(there, question.measured.front().seconds);
  return latency * here.steps / known.steps + (there - latency) * here.share / known.share;
}

double from_link(const CollectiveQuestion& question) {
  const CollectiveCost cost =
      collective_cost(question.operation, question.algorithm, question.ranks);
  return cost.steps * question.latency_s + cost.share * question.bytes / question.bytes_per_second;
}

}  // namespace

Prediction predict_collective(const CollectiveQuestion& question) {
  if (question.ranks < 2)
    throw Error(ErrorKind::input, fmt::format("{} ranks have nothing to exchange", question.ranks),
                "ask for at least 2 ranks");
  const bool measured = !question.measured.empty();
  if (!measured && !(question.bytes_per_second > 0.0))
    throw Error(ErrorKind::input, "there is neither a measurement nor a link to predict from",
                "give --latency and --bandwidth, or a run of the probe collective");
  Prediction answer{.question = "collective"};
  answer.input("operation", question.operation, "given");
  answer.input("bytes", question.bytes, "given", PredictedUnit::bytes);
  answer.input("ranks", question.ranks, "given");
  answer.input("algorithm", kCollectiveAlgorithms.name(question.algorithm), "given");
  answer.what = fmt::format("time of one {} over {} ranks", question.operation, question.ranks);
  answer.unit = PredictedUnit::seconds;
  answer.measured_as = {
      .metric = "collective.latency",
      .params = {{"op", question.operation}, {"size_bytes", std::llround(question.bytes)}},
      .ranks = question.ranks,
      .fastest = true};
  double spread = kLinkSpread;
  if (measured) {
    answer.input("measured_ranks", question.measured_ranks, question.measured_source);
    answer.value = from_measured(question);
    spread = question.ranks == question.measured_ranks ? 0.0 : kSpread;
    answer.formula = "a line between the neighbouring measured sizes" +
                     std::string(question.ranks == question.measured_ranks
                                     ? ""
                                     : "; latency x steps and the rest x bytes per link, relative "
                                       "to the measured number of ranks");
  } else {
    answer.input("latency_s", question.latency_s, "given", PredictedUnit::seconds);
    answer.input("bytes_per_second", question.bytes_per_second, "given",
                 PredictedUnit::bytes_per_second);
    answer.value = from_link(question);
    answer.formula = "steps x latency + bytes x share / bandwidth";
  }
  answer.low = answer.value * (1 - spread);
  answer.high = answer.value * (1 + spread);
  const CollectiveCost cost =
      collective_cost(question.operation, question.algorithm, question.ranks);
  answer.part("steps", cost.steps, PredictedUnit::count);
  answer.part("bytes_per_link", cost.share * question.bytes);
  answer.part("algbw_bytes_per_second", question.bytes / answer.value,
              PredictedUnit::bytes_per_second);
  answer.sources = {"alpha-beta model: Thakur, Rabenseifner and Gropp 2005",
                    "shares as busbw of nccl-tests (PERFORMANCE.md)"};
  return answer;
}

}  // namespace bench
