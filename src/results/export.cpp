#include "results/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/fields.h"
#include "core/text.h"
#include "results/reports/result_json.h"

namespace bench {
namespace {

constexpr std::string_view kHeader =
    "run,time,host,device,metric,params,unit,better,value,median,n,clean,low,high,limit,of_limit,"
    "outcome,reason,verdict,limit_kind,min,p5,mean,std,p95,p99,max,unfiltered_median,suite,case,"
    "job,"
    "rank,ranks,repeat,over,of_limit_at_clock,cpu_busy_share,gpu_sm_clock_hz,gpu_power_w,"
    "gpu_temperature_c,gpu_power_capped_share";

/// Values stay exact. In addition to RFC 4180, texts that a spreadsheet could take for a formula
/// are quoted.
std::string quoted(const std::string& text) {
  if (text.empty()) return text;
  const bool formula = std::string_view("=+-@\t ").find(text.front()) != std::string_view::npos;
  if (!formula && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string safe = "\"";
  for (const char c : text) safe.append(c == '"' ? 2 : 1, c);
  return safe + "\"";
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

/// The mean of the means over several GPUs; the highest temperature.
std::string telemetry_cells(const std::optional<SeriesTelemetry>& telemetry) {
  if (!telemetry) return ",,,,,";
  double clock = 0.0, power = 0.0, capped = 0.0, hottest = kNoValue;
  const auto count = static_cast<double>(telemetry->gpus.size());
  for (const GpuTelemetry& gpu : telemetry->gpus) {
    clock += gpu.sm_clock_hz.mean / count;
    power += gpu.power_w.mean / count;
    hottest = std::fmax(hottest, gpu.temperature_c);
    const auto cap = gpu.reasons.find("sw_power_cap");
    capped += (cap == gpu.reasons.end() ? 0.0 : cap->second) / count;
  }
  const auto known = [&](double value) { return count > 0.0 ? number(value) : ""; };
  return "," + join({number(telemetry->cpu_busy_share), known(clock), known(power), known(hottest),
                     known(capped)},
                    ",");
}

std::string row(const RunSummary& report, const Result& result) {
  const Series& s = result.series;
  const std::vector<std::string> cells = {
      quoted(report.run),
      format_time(s.time_ns),
      quoted(s.host),
      quoted(s.device),
      quoted(s.metric),
      quoted(dump(s.params)),
      std::string(to_string(s.unit)),
      std::string(to_string(s.better)),
      number(s.median),
      number(s.median),
      std::to_string(s.n),
      std::to_string(s.clean),
      number(s.low),
      number(s.high),
      s.limit ? number(s.limit->value) : "",
      number(s.of_limit),
      std::string(to_string(s.outcome)),
      quoted(s.reason),
      result.verdict ? std::string(to_string(*result.verdict)) : "",
      s.limit ? std::string(to_string(s.limit->kind)) : "",
      number(s.min),
      number(s.p5),
      number(s.mean),
      number(s.std),
      number(s.p95),
      number(s.p99),
      number(s.max),
      number(s.unfiltered_median),
      quoted(report.suite),
      quoted(s.case_name),
      quoted(s.job),
      std::to_string(s.rank),
      std::to_string(s.ranks),
      std::to_string(s.repeat),
      s.over,
      number(s.of_limit_at_clock)};
  return join(cells, ",") + telemetry_cells(result.telemetry) + "\r\n";
}

void add_samples(const Samples& samples, Json& object) {
  object["values"] = Json::array();
  for (const double value : samples.values) object["values"].push_back(number_or_null(value));
  object["flags"] = samples.flags;
}

}  // namespace

std::vector<std::string> csv_columns() {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= kHeader.size();) {
    const std::size_t end = std::min(kHeader.find(',', at), kHeader.size());
    names.emplace_back(kHeader.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::string to_csv(const RunSummary& report) {
  std::string text = std::string(kHeader) + "\r\n";
  for (const Result& result : report.results)
    if (!result.series.metric.empty()) text += row(report, result);
  return text;
}

std::string to_jsonl(const RunSummary& report, const RunRecords* samples) {
  std::string text;
  for (const Result& result : report.results) {
    Json object = to_json(result);
    object["run"] = report.run;
    object["suite"] = report.suite;
    object["time"] =
        format_time(result.series.metric.empty() ? report.time_ns : result.series.time_ns);
    if (samples != nullptr && result.series.record)
      add_samples(std::get<Samples>(samples->records[*result.series.record].body), object);
    text += dump(object) + "\n";
  }
  return text;
}

}  // namespace bench
