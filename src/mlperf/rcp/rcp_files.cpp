#include "mlperf/rcp/rcp_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "core/text.h"

namespace bench::mlperf {
namespace {

constexpr std::size_t kMinTrainings = 3;  // the lowest and the highest are dropped
constexpr double kMost = 1e15;

[[noreturn]] void refuse(const std::string& origin, const std::string& name,
                         const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}: '{}' {}", origin, printable(name), what),
              "write a point as {\"Benchmark\": \"flux1\", \"BS\": 512, \"Epochs to "
              "converge\": [at least three numbers]}");
}

bool positive(const Json& value) {
  return value.is_number() && value.get<double>() > 0.0 && value.get<double>() <= kMost;
}

std::vector<double> trainings(const Json& record, const std::string& origin,
                              const std::string& name) {
  const Json& samples = array_field(record, "samples to converge");
  const Json& list = samples.empty() ? array_field(record, "Epochs to converge") : samples;
  std::vector<double> values;
  for (const Json& value : list) {
    if (!positive(value))
      refuse(origin, name, "has " + excerpt(value) + " in its list of trainings");
    values.push_back(value.get<double>());
  }
  if (values.size() < kMinTrainings)
    refuse(origin, name,
           fmt::format("lists {} trainings, but needs at least {}", values.size(), kMinTrainings));
  return values;
}

}  // namespace

std::vector<RcpPoint> published_points(const Json& json, const RcpSet& set,
                                       const std::string& origin) {
  if (!json.is_object() || json.empty())
    throw Error(ErrorKind::input, origin + ": no reference convergence points",
                "write an object with one key for each point");
  std::vector<RcpPoint> points;
  for (const auto& [name, record] : json.items()) {
    if (text_field(record, "Benchmark") != set.benchmark)
      refuse(
          origin, name,
          "is for the benchmark " + excerpt(field(record, "Benchmark")) + ", not " + set.benchmark);
    if (!positive(field(record, "BS")))
      refuse(origin, name, "has the invalid batch \"BS\": " + excerpt(field(record, "BS")));
    points.push_back(
        summarise(name, number_field(record, "BS"), trainings(record, origin, name), set.runs));
  }
  std::ranges::stable_sort(points, {}, &RcpPoint::batch);
  return points;
}

namespace {

namespace fs = std::filesystem;

constexpr int kMostRounds = 16;  // that refer to each other's points

Json read_round(const fs::path& folder, std::string_view ruleset) {
  const fs::path path = folder / (std::string(ruleset) + ".json");
  const std::vector<std::string> known = rcp_rulesets(folder);
  if (std::ranges::find(known, ruleset) == known.end())
    throw Error(ErrorKind::input,
                fmt::format("no reference convergence points for round {}", printable(ruleset)),
                "known rounds: " + join(known, ", ") + "." + did_you_mean(ruleset, known));
  static const Schema schema = Schema::load(data_root() / "schemas" / "mlperf_rcps.json");
  return schema.check(read_json(path), path.string());
}

std::vector<RcpPoint> own_points(const Json& list, std::int64_t runs) {
  std::vector<RcpPoint> points;
  for (const Json& item : list) {
    RcpPoint point{.name = item["name"], .batch = item["batch"], .n = item["n"]};
    point.mean = item["mean"], point.stdev = item["stdev"];
    set_minimum(point, runs, static_cast<double>(point.n - 2));
    points.push_back(std::move(point));
  }
  std::ranges::stable_sort(points, {}, &RcpPoint::batch);
  return points;
}

RcpSet own_set(const Json& entry, const std::string& benchmark, const Json& round) {
  RcpSet set{.ruleset = round["ruleset"], .benchmark = benchmark, .runs = entry["runs"]};
  set.unit = entry["unit"];
  set.allowance = number_field(entry, "allowance", 0.0);
  set.allowance_where = text_field(entry, "allowance_where");
  set.source = round["source"];
  set.points = own_points(entry["points"], set.runs);
  return set;
}

/// The entry itself, or the entry of the round that it refers to.
RcpSet resolved(const fs::path& folder, std::string_view ruleset, const std::string& benchmark,
                int rounds_left) {
  const Json round = read_round(folder, ruleset);
  const Json& entry = field(round["benchmarks"], benchmark.c_str());
  if (entry.is_null() || rounds_left == 0)
    throw Error(ErrorKind::input,
                fmt::format("{}: 'as' of {} refers to a round without points",
                            (folder / ruleset).string(), benchmark),
                "name a round that has points of its own");
  if (!entry.contains("as")) return own_set(entry, benchmark, round);
  return resolved(folder, entry["as"].get<std::string>(), benchmark, rounds_left - 1);
}

fs::path published_file(const fs::path& folder, const RcpSet& set) {
  const std::string name = "rcps_" + set.benchmark + ".json";
  for (const fs::path& path :
       {folder / name, folder / set.ruleset / name, folder / ("training_" + set.ruleset) / name})
    if (fs::exists(path)) return path;
  return {};
}

}  // namespace

fs::path rcp_folder() { return data_root() / "rulesets" / "rcps"; }

std::vector<std::string> rcp_rulesets(const fs::path& folder) {
  std::vector<std::string> rounds;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ".json") rounds.push_back(entry.path().stem().string());
  std::ranges::sort(rounds);
  return rounds;
}

RcpSets load_rcps(const fs::path& folder, std::string_view ruleset) {
  RcpSets sets;
  const Json round = read_round(folder, ruleset);
  for (const auto& [benchmark, entry] : round["benchmarks"].items()) {
    RcpSet set = entry.contains("as") ? resolved(folder, ruleset, benchmark, kMostRounds)
                                      : own_set(entry, benchmark, round);
    set.ruleset = ruleset;
    prune(set);
    sets.emplace(benchmark, std::move(set));
  }
  return sets;
}

const RcpSets& BundledRcps::of(const std::string& ruleset) {
  const auto [at, is_new] = rounds_.try_emplace(ruleset);
  if (!is_new) return at->second;
  const std::vector<std::string> known = rcp_rulesets(rcp_folder());
  if (std::ranges::find(known, ruleset) != known.end())
    at->second = load_rcps(rcp_folder(), ruleset);
  return at->second;
}

void use_published_rcps(RcpSets& sets, const fs::path& folder) {
  bool any = false;
  for (auto& [benchmark, set] : sets) {
    const fs::path path = published_file(folder, set);
    if (path.empty()) continue;
    set.points = published_points(read_json(path), set, path.string());
    set.source = path.string();
    prune(set);
    any = true;
  }
  if (!any)
    throw Error(ErrorKind::input,
                folder.string() + ": no rcps_BENCHMARK.json for any benchmark of this round",
                "pass a folder such as rcp_checker/training_5.1.0 of mlcommons/logging");
}

}  // namespace bench::mlperf
