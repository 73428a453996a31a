// Error rates of comparisons for equal sides and sides with a known difference, with the production
// code. Prints one JSON object, which scripts/evidence compare_rates stores. Arguments: comparisons
// per line, seed.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "results/verdicts/compare/compare.h"

using namespace bench;

namespace {

constexpr double kThreshold = 0.02;
constexpr double kNoise = 0.01;       // relative, of one run
constexpr double kHostSpread = 0.03;  // of the hosts' own levels

enum class Noise { gaussian, student_3, lognormal };

/// Of standard deviation 1 (the lognormal is skewed, the t has no higher moments).
double draw(Noise noise, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  if (noise == Noise::gaussian) return normal(random);
  if (noise == Noise::student_3) {
    std::student_t_distribution<double> student(3.0);
    return student(random) / std::sqrt(3.0);
  }
  const double mean = std::exp(0.32), deviation = mean * std::sqrt(std::exp(0.64) - 1.0);
  return (std::exp(0.8 * normal(random)) - mean) / deviation;
}

struct Design {
  const char* name;
  int hosts, runs;  // runs per host and side
  bool same_hosts = true;
};

const MetricKey kKey{.metric = "gemm.throughput",
                     .params = "{}",
                     .device = "host",
                     .over = "rank",
                     .ranks = 1,
                     .unit = Unit::flop_per_second,
                     .better = Better::higher};

/// Both sides, the second `change` times the first.
std::pair<Side, Side> draw_sides(const Design& design, Noise noise, double change,
                                 std::mt19937_64& random, double noise_share = kNoise) {
  std::normal_distribution<double> normal;
  Side a{.name = "a"}, b{.name = "b"};
  const auto fill = [&](Side& side, const std::string& host, double level) {
    for (int run = 0; run < design.runs; ++run)
      side.metrics[kKey][{host, "host"}].push_back(
          {.run = run, .value = level * std::exp(noise_share * draw(noise, random))});
  };
  for (int host = 0; host < design.hosts; ++host) {
    const double of_a = std::exp(kHostSpread * normal(random));
    const double of_b = design.same_hosts ? of_a : std::exp(kHostSpread * normal(random));
    fill(a, "n" + std::to_string(host), of_a);
    fill(b, (design.same_hosts ? "n" : "m") + std::to_string(host), of_b * change);
  }
  return {a, b};
}

bool accuses_a_host(const Comparison& found) {
  return found.count_hosts(ChangeVerdict::regressed) + found.count_hosts(ChangeVerdict::improved) >
         0;
}

Json line(const Design& design, Noise noise, double change, int comparisons,
          std::mt19937_64& random) {
  std::map<std::string, int> verdicts;
  int hosts = 0;  // comparisons with a host that changed by itself
  for (int i = 0; i < comparisons; ++i) {
    const auto [a, b] = draw_sides(design, noise, change, random);
    const Comparison found = compare(a, b, {.threshold = kThreshold});
    ++verdicts[std::string(to_string(found.metrics[0].verdict))];
    hosts += accuses_a_host(found) ? 1 : 0;
  }
  Json shares = Json::object();
  for (const auto& [verdict, count] : verdicts) shares[verdict] = 1.0 * count / comparisons;
  const int differs = verdicts["improved"] + verdicts["regressed"];
  const int wrong = change == 1.0 ? differs : verdicts["improved"] + verdicts["equivalent"];
  constexpr const char* kNames[] = {"gaussian", "t3", "lognormal"};
  return {{"design", design.name}, {"hosts", design.hosts},
          {"runs", design.runs},   {"noise", kNames[static_cast<int>(noise)]},
          {"change", change},      {"wrong_share", 1.0 * wrong / comparisons},
          {"verdicts", shares},    {"hosts_share", 1.0 * hosts / comparisons}};
}

/// One host of many loses 5 %, with this share of noise.
Json one_host_line(const Design& design, double noise_share, int comparisons,
                   std::mt19937_64& random) {
  int found = 0, others = 0, equivalent = 0;
  for (int i = 0; i < comparisons; ++i) {
    auto [a, b] = draw_sides(design, Noise::gaussian, 1.0, random, noise_share);
    for (Point& point : b.metrics[kKey][{"n0", "host"}]) point.value *= 0.95;
    const Comparison result = compare(a, b, {.threshold = kThreshold});
    equivalent += result.metrics[0].verdict == ChangeVerdict::equivalent ? 1 : 0;
    for (const HostChange& host : result.metrics[0].hosts)
      ++(host.unit.first == "n0" ? found : others);
  }
  return {{"design", design.name},
          {"noise", noise_share},
          {"found_share", 1.0 * found / comparisons},
          {"called_equivalent_share", 1.0 * equivalent / comparisons},
          {"other_hosts_a_comparison", 1.0 * others / comparisons}};
}

}  // namespace

int main(int argc, char** argv) {
  const int comparisons = argc > 1 ? std::atoi(argv[1]) : 2000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const Design designs[] = {
      {"one host, 4 runs a side", 1, 4},          {"one host, 6 runs a side", 1, 6},
      {"one host, 12 runs a side", 1, 12},        {"the same 3 hosts, 3 runs a side", 3, 3},
      {"the same 8 hosts, 1 run a side", 8, 1},   {"the same 32 hosts, 1 run a side", 32, 1},
      {"8 other hosts, 2 runs each", 8, 2, false}};
  Json lines = Json::array();
  double worst = 0.0;
  for (const Design& design : designs)
    for (const Noise noise : {Noise::gaussian, Noise::student_3, Noise::lognormal})
      for (const double change : {1.0, 0.95}) {
        lines.push_back(line(design, noise, change, comparisons, random));
        worst = std::fmax(worst, lines.back()["wrong_share"].get<double>());
      }
  Json one_host = Json::array();
  for (const Design& design :
       {Design{"12 hosts, 1 run a side", 12, 1}, Design{"12 hosts, 3 runs a side", 12, 3},
        Design{"4 hosts, 3 runs a side", 4, 3}, Design{"64 hosts, 1 run a side", 64, 1}})
    for (const double noise : {0.0025, 0.005, 0.01})
      one_host.push_back(one_host_line(design, noise, comparisons, random));
  const Json found = {{"threshold", kThreshold},    {"noise", kNoise},
                      {"host_spread", kHostSpread}, {"comparisons", comparisons},
                      {"worst_wrong_share", worst}, {"lines", lines},
                      {"one_host_lost", one_host}};
  std::printf("%s\n", found.dump().c_str());
}
