// Error rates of the regression report: judgement_rates [SERIES] [SEED] [--check].
// SERIES per line (default 2000); with --check it exits with 1 if a rate exceeds its limit by more
// than chance. Prints one JSON object.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/studies/judgement/simulation.h"

using namespace bench;

namespace {

constexpr double kMostAlarms = 0.01, kMostWrong = 0.025;

/// Whether the share exceeds its limit by three standard errors and by three series.
bool too_many(double share, double promised, double n) {
  return share * n > promised * n + 3.0 * std::sqrt(promised * n) + 3.0;
}

int broken(const Json& result) {
  int count = 0;
  const auto refuse = [&](const Json& row) {
    std::fprintf(stderr, "rate exceeds its limit: %s\n", dump(row).c_str());
    ++count;
  };
  for (const Json& row : result["false_alarms"])
    if (too_many(row["alarm_share"], kMostAlarms, row["series"])) refuse(row);
  for (const Json& row : result["detection"])
    if (row["noise"] == "gauss" && row["nights"] == 7 &&
        too_many(1.0 - row["found_by_then_share"].get<double>(), 0.05, row["series"]))
      refuse(row);
  for (const Json& row : result["correlated_steps"]) {
    const double reports = row["reports"];
    const double series = row["hosts"].get<double>() * row["metrics"].get<double>();
    // Skewed noise shows two to four false steps in 1,600 series, the other kinds less than one.
    if (too_many(row["false_steps_a_report"].get<double>() / series, 0.004, series * reports))
      refuse(row);
    if (row["noise"] == "ar0.4" && row["nights"] == 7 &&
        too_many(1.0 - row["found_share"].get<double>(), 0.4, row["lost"].get<double>() * reports))
      refuse(row);
  }
  for (const Json& row : result["equal_halves"])
    if (too_many(row["wrong_share"], kMostWrong, row["comparisons"])) refuse(row);
  for (const Json& row : result["fleets"])
    if (too_many(row["falsely_accused_fleets_share"], kMostAlarms, row["fleets"])) refuse(row);
  const Json& many = result["many_series"];
  if (many["found_share"] < 0.9 || many["false_newest_a_night"] > 3.0) refuse(many);
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t series = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const bool check = argc > 3 && std::strcmp(argv[3], "--check") == 0;
  Json result = {{"sigma", kSigma}, {"threshold", 0.01}};
  const auto add = [&](const char* name, Json part) {
    std::fprintf(stderr, "%s: %s\n", name, part.dump(1).c_str());
    result[name] = std::move(part);
  };
  add("false_alarms", false_alarms(series, random));
  add("detection", detection(std::max<std::size_t>(20, series / 10), random));
  add("correlated_steps", correlated_steps(std::max<std::size_t>(20, series / 12), random));
  add("many_series", many_series(std::max<std::size_t>(1, series / 50), random));
  add("common_mode", common_mode(std::max<std::size_t>(2, series / 100), random));
  add("equal_halves", equal_halves(series, random));
  add("fleets", fleets(std::max<std::size_t>(20, series / 4), random));
  std::printf("%s\n", dump(result).c_str());
  return check && broken(result) > 0 ? 1 : 0;
}
