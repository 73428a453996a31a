#include "results/verdicts/compare/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/dtype.h"
#include "core/error.h"
#include "results/verdicts/compare/compared_values.h"

namespace bench {
namespace {

struct Gemm {
  RooflinePoint point;
  double threads = 0.0;
  double of_limit = kNoValue;
};

/// GEMM results are 16 bits for floats below 32 bits, and 32 bits for int8.
double result_bytes(Dtype dtype) {
  if (is_integer(dtype)) return 4.0;
  return std::max<double>(2.0, static_cast<double>(size_of(dtype)));
}

bool is_zeros(const Json& params) { return text_field(params, "values") == "zeros"; }

std::vector<Gemm> gemms_of(const Side& side, const std::string& device) {
  std::vector<Gemm> found;
  for (const auto& [key, units] : side.metrics) {
    if (key.metric != "gemm.throughput" || key.device != device) continue;
    const Json params = try_parse_json(key.params).value_or(Json());
    const double m = number_field(params, "m"), n = number_field(params, "n"),
                 k = number_field(params, "k");
    const std::string dtype = text_field(params, "dtype");
    const double bytes = gemm_bytes(m, n, k, dtype);
    const double operations = 2.0 * m * n * k;
    if (!(bytes > 0.0) || !std::isfinite(operations / bytes) || is_zeros(params)) continue;
    const SideValues values = side_values(units);
    Gemm gemm{.point = {.name = fmt::format("{} {} x {} x {}", dtype, m, n, k),
                        .dtype = dtype,
                        .intensity = operations / bytes,
                        .rate = values.value},
              .threads = number_field(params, "threads", 0.0),
              .of_limit = values.of_limit};
    found.push_back(std::move(gemm));
  }
  return found;
}

/// Drops GEMMs on fewer threads than the maximum measured.
void keep_most_threads(std::vector<Gemm>& gemms) {
  double most = 0.0;
  for (const Gemm& gemm : gemms) most = std::max(most, gemm.threads);
  std::erase_if(gemms, [most](const Gemm& gemm) { return gemm.threads < most; });
}

void find_bandwidth(const Side& side, Roofline& roofline) {
  for (const auto& [key, units] : side.metrics) {
    if (key.metric != "memory_bandwidth.bandwidth" || key.device != roofline.device) continue;
    const Json params = try_parse_json(key.params).value_or(Json());
    const std::string level = text_field(params, "level", "memory");
    const double value = side_values(units).value;
    if (level != "memory" || !(value > 0.0) || value <= roofline.bandwidth) continue;
    roofline.bandwidth = value;
    roofline.bandwidth_of = text_field(params, "kernel");
  }
}

std::vector<Ceiling> ceilings_of(const std::vector<Gemm>& gemms) {
  std::map<std::string, Ceiling> by_dtype;
  for (const Gemm& gemm : gemms) {
    Ceiling& ceiling = by_dtype[gemm.point.dtype];
    ceiling.dtype = gemm.point.dtype;
    ceiling.measured = std::fmax(ceiling.measured, gemm.point.rate);
    if (gemm.of_limit > 0.0)
      ceiling.limit = std::fmax(ceiling.limit, gemm.point.rate / gemm.of_limit);
  }
  std::vector<Ceiling> found;
  for (auto& [dtype, ceiling] : by_dtype) found.push_back(std::move(ceiling));
  return found;
}

/// The known limit of the dtype, else its fastest GEMM.
double peak_of(const std::vector<Ceiling>& ceilings, const std::string& dtype) {
  const auto found = std::ranges::find(ceilings, dtype, &Ceiling::dtype);
  return std::isfinite(found->limit) ? found->limit : found->measured;
}

struct MeasuredOperator {
  OperatorPoint point;
  double threads = 0.0;
};

/// Parameters that say what was computed, in a fixed order: "rows 1024, channels 768".
std::string shape_of_operator(const Json& params) {
  std::string text;
  for (const char* key :
       {"m", "n", "k", "rows", "sequence", "heads", "head_dim", "channels", "classes", "images",
        "side", "maps", "kernel", "features", "lookups", "table_rows", "parameters"})
    if (params.contains(key))
      text += fmt::format("{}{} {:.0f}", text.empty() ? "" : ", ", key, number_field(params, key));
  return text;
}

/// Of one rank: medians over units, by metric and parameters.
using OperatorValues = std::map<std::pair<std::string, std::string>, double>;

OperatorValues operator_values(const Side& side, const std::string& device) {
  OperatorValues values;
  for (const auto& [key, units] : side.metrics)
    if (key.metric.starts_with("operators.") && key.device == device && key.ranks == 1)
      values.emplace(std::pair{key.metric, key.params}, side_values(units).value);
  return values;
}

double value_of(const OperatorValues& values, const char* metric, const Json& params) {
  const auto found = values.find({metric, dump(params)});
  return found != values.end() ? found->second : kNoValue;
}

std::vector<MeasuredOperator> operators_of(const Side& side, const std::string& device) {
  std::vector<MeasuredOperator> found;
  const OperatorValues values = operator_values(side, device);
  for (const auto& [key, time] : values) {
    if (key.first != "operators.time") continue;
    const Json params = try_parse_json(key.second).value_or(Json());
    if (!params.is_object()) continue;
    Json without = params;
    without.erase("threads");
    without.erase("level");
    OperatorPoint point{.name = text_field(params, "operator") + " " + text_field(params, "pass"),
                        .shape = shape_of_operator(params),
                        .dtype = text_field(params, "dtype"),
                        .level = text_field(params, "level"),
                        .time = time,
                        .rate = value_of(values, "operators.throughput", params),
                        .traffic = value_of(values, "operators.traffic", params),
                        .memory = value_of(values, "operators.memory", without)};
    point.intensity = point.rate / point.traffic;
    found.push_back({std::move(point), number_field(params, "threads", 0.0)});
  }
  return found;
}

/// The kernel with the most traffic of each level on so many threads. Operators in place write
/// lines that they have read, so what counts is all that a level moves, write-allocate included.
std::vector<LevelBandwidth> levels_of(const Side& side, const std::string& device, double threads) {
  std::map<std::string, LevelBandwidth> by_level;
  for (const auto& [key, units] : side.metrics) {
    if (key.metric != "memory_bandwidth.traffic" || key.device != device) continue;
    const Json params = try_parse_json(key.params).value_or(Json());
    if (number_field(params, "threads", 0.0) != threads) continue;
    const std::string level = text_field(params, "level");
    const double value = side_values(units).value;
    LevelBandwidth& best = by_level[level];
    if (level.empty() || !(value > 0.0) || value <= best.bandwidth) continue;
    best = {level, value, text_field(params, "kernel")};
  }
  std::vector<LevelBandwidth> levels;
  for (auto& [name, level] : by_level)
    if (level.bandwidth > 0.0) levels.push_back(std::move(level));
  std::ranges::stable_sort(levels, std::greater<>(), &LevelBandwidth::bandwidth);
  return levels;
}

/// The fastest GEMM of each type on so many threads.
std::map<std::string, double> peaks_of(const Side& side, const std::string& device,
                                       double threads) {
  std::map<std::string, double> peaks;
  for (const Gemm& gemm : gemms_of(side, device))
    if (gemm.threads == threads)
      peaks[gemm.point.dtype] = std::fmax(peaks[gemm.point.dtype], gemm.point.rate);
  return peaks;
}

/// Sets what of its roof a point reaches; nothing where the ceiling of its level is unknown.
void place(OperatorPoint& point, const Roofline& roofline,
           const std::map<std::string, double>& peaks) {
  const auto level = std::ranges::find(roofline.levels, point.level, &LevelBandwidth::level);
  if (level == roofline.levels.end()) return;
  const auto peak = peaks.find(point.dtype);
  const double of_bandwidth = point.traffic / level->bandwidth;
  const double of_peak = peak == peaks.end() ? kNoValue : point.rate / peak->second;
  point.by_memory = !(of_peak > of_bandwidth);
  point.of_roof = std::fmax(of_bandwidth, of_peak);
}

void find_operators(const Side& side, Roofline& roofline) {
  auto operators = operators_of(side, roofline.device);
  double most = 0.0;
  for (const MeasuredOperator& one : operators) most = std::max(most, one.threads);
  std::erase_if(operators, [most](const MeasuredOperator& one) { return one.threads < most; });
  if (operators.empty()) return;
  roofline.levels = levels_of(side, roofline.device, most);
  const std::map<std::string, double> peaks = peaks_of(side, roofline.device, most);
  for (MeasuredOperator& one : operators) {
    place(one.point, roofline, peaks);
    roofline.operators.push_back(std::move(one.point));
  }
  std::ranges::sort(roofline.operators, {}, [](const OperatorPoint& point) {
    return std::tie(point.dtype, point.name, point.time);
  });
}

std::string hardware_of_side(const Side& side) {
  std::string hardware;
  for (const auto& [id, facts] : side.configurations)
    if (hardware = hardware_of(facts); !hardware.empty()) break;
  return hardware;
}

}  // namespace

double gemm_bytes(double m, double n, double k, const std::string& dtype) {
  try {
    const Dtype type = dtype_from(dtype);
    return static_cast<double>(size_of(type)) * (m * k + k * n) + result_bytes(type) * m * n;
  } catch (const Error&) {
    return kNoValue;  // of a newer benchctl, or imported
  }
}

std::vector<std::string> roofline_metrics() {
  return {"gemm.throughput", "memory_bandwidth.bandwidth", "memory_bandwidth.traffic",
          "operators.time",  "operators.throughput",       "operators.traffic",
          "operators.memory"};
}

std::vector<std::string> roofline_devices(const Side& side) {
  std::set<std::string> devices;
  for (const auto& [key, units] : side.metrics)
    if (key.metric == "gemm.throughput") devices.insert(key.device);
  return {devices.begin(), devices.end()};
}

Roofline roofline_of(const Side& side, const std::string& device) {
  Roofline roofline{.name = side.name, .hardware = hardware_of_side(side), .device = device};
  auto gemms = gemms_of(side, device);
  keep_most_threads(gemms);
  find_bandwidth(side, roofline);
  roofline.ceilings = ceilings_of(gemms);
  if (!(roofline.bandwidth > 0.0))
    roofline.lacking = "no main memory bandwidth measured: run memory_bandwidth as well";
  for (Gemm& gemm : gemms) {
    RooflinePoint& point = gemm.point;
    const double peak = peak_of(roofline.ceilings, point.dtype);
    const double by_memory = point.intensity * roofline.bandwidth;
    point.by_memory = by_memory < peak;
    point.roof = point.by_memory ? by_memory : peak;
    roofline.points.push_back(std::move(point));
  }
  std::ranges::sort(roofline.points, {}, [](const RooflinePoint& point) {
    return std::tie(point.dtype, point.intensity, point.name);
  });
  find_operators(side, roofline);
  return roofline;
}

}  // namespace bench
