#include "probes/traffic/expert_routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>

#include "core/elements.h"
#include "core/error.h"
#include "core/json.h"

namespace bench {
namespace {

/// What one row may count: more than any micro-batch has, and exact as a double.
constexpr double kMostTokens = 1e12;

/// Of mean 1; only sums and products of integers, so that all libraries draw the same.
double drawn_noise(std::mt19937_64& random) {
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return 0.5 + sum / 4.0;
}

[[noreturn]] void refuse_routing(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::input, where + ": " + what,
              R"(give {"experts": 4, "counts": [[10, 0, 3, 3], ...]}: a row for each sender)");
}

std::vector<double> routing_row(const Json& row, std::size_t number, std::int64_t experts,
                                const std::string& where) {
  const std::string at = fmt::format("counts[{}]", number);
  if (!row.is_array() || row.size() != static_cast<std::size_t>(experts))
    refuse_routing(where, fmt::format("{} is not a list of {} counts", at, experts));
  std::vector<double> shares;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double count = row[i].is_number() ? row[i].get<double>() : -1.0;
    if (!(count >= 0.0 && count <= kMostTokens))
      refuse_routing(where,
                     fmt::format("{}[{}] is not a count from 0 to {:.0e}", at, i, kMostTokens));
    shares.push_back(count);
  }
  if (!(std::accumulate(shares.begin(), shares.end(), 0.0) > 0.0))
    refuse_routing(where, at + " routes no token");
  return shares;
}

}  // namespace

ExpertRouting ExpertRouting::drawn(std::int64_t experts, double skew, std::uint64_t seed) {
  ExpertRouting routing;
  routing.experts_ = experts;
  routing.skew_ = skew;
  routing.seed_ = seed;
  return routing;
}

ExpertRouting ExpertRouting::recorded(std::string_view text, std::int64_t experts,
                                      const std::string& where) {
  const Json json = parse_json(std::string(text), where);
  if (!json.is_object() || !json.contains("experts") || !json.contains("counts"))
    refuse_routing(where, "not an object with the keys experts and counts");
  const Json& count = json.at("experts");
  if (!count.is_number_integer() || count.get<std::int64_t>() != experts)
    refuse_routing(where, fmt::format("experts is not {}, the number that the model has", experts));
  const Json& rows = json.at("counts");
  if (!rows.is_array() || rows.empty()) refuse_routing(where, "counts has no rows");
  ExpertRouting routing;
  routing.experts_ = experts;
  for (std::size_t i = 0; i < rows.size(); ++i)
    routing.recorded_.push_back(routing_row(rows[i], i, experts, where));
  return routing;
}

std::vector<double> ExpertRouting::shares(std::int64_t layer, std::int64_t micro_batch,
                                          std::int64_t sender) const {
  const std::uint64_t of_layer = random_bits(seed_, static_cast<std::uint64_t>(layer));
  const std::uint64_t of_sender =
      random_bits(random_bits(of_layer, static_cast<std::uint64_t>(micro_batch)),
                  static_cast<std::uint64_t>(sender));
  if (!recorded_.empty()) return recorded_[static_cast<std::size_t>(sender) % recorded_.size()];
  const auto count = static_cast<std::size_t>(experts_);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 popularity(of_layer), noise(of_sender);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[popularity() % i]);
  std::vector<double> shares(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = std::pow(static_cast<double>(i + 1), -skew_);
    shares[order[i]] = skew_ > 0.0 ? share * drawn_noise(noise) : share;
  }
  return shares;
}

std::vector<std::int64_t> ExpertRouting::counts(std::int64_t layer, std::int64_t micro_batch,
                                                std::int64_t sender, std::int64_t tokens,
                                                std::int64_t choices) const {
  const std::vector<double> shares = this->shares(layer, micro_batch, sender);
  std::vector<std::int64_t> counts(shares.size(), 0);
  choices = std::min(choices, tokens * experts_);
  // What popular experts cannot take goes to the others, by their shares.
  std::int64_t left = choices;
  while (left > 0) {
    double open = 0.0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] < tokens) open += shares[i];
    const std::int64_t before = left;
    for (std::size_t i = 0; i < counts.size() && open > 0.0; ++i) {
      if (counts[i] >= tokens) continue;
      const auto part = static_cast<std::int64_t>(static_cast<double>(before) * shares[i] / open);
      const std::int64_t taken = std::min({part, tokens - counts[i], left});
      counts[i] += taken;
      left -= taken;
    }
    if (left < before) continue;
    for (std::size_t i = 0; i < counts.size() && left > 0; ++i)  // the remainder of rounding
      if (counts[i] < tokens) ++counts[i], --left;
  }
  return counts;
}

double imbalance(const std::vector<std::int64_t>& counts) {
  const double sum =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  if (!(sum > 0.0)) return 1.0;
  return static_cast<double>(*std::ranges::max_element(counts)) *
         static_cast<double>(counts.size()) / sum;
}

}  // namespace bench
