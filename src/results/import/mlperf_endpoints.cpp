// MLPerf Endpoints: result_summary.json of its client. As mlcommons/endpoints writes it
// (src/inference_endpoint/metrics/report.py there), from versions of 2025 to October 2026. Its
// schema has no version, so what is present decides; unknown keys are ignored.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

struct EndpointsBlock {
  const char* key;
  const char* metric;
};

constexpr std::array<EndpointsBlock, 3> kEndpointsLatencies{{
    {"latency", "latency"},
    {"ttft", "first_token_latency"},
    {"tpot", "time_per_output_token"},
}};

/// Of the percentiles that are kept; others are left out.
std::string percentile_suffix(double percentile) {
  constexpr std::array<std::pair<double, const char*>, 6> kKept{{
      {50.0, "_p50"},
      {90.0, "_p90"},
      {95.0, "_p95"},
      {97.0, "_p97"},
      {99.0, "_p99"},
      {99.9, "_p999"},
  }};
  for (const auto& [kept, suffix] : kKept)
    if (percentile == kept) return suffix;
  return {};
}

class EndpointsSummary {
 public:
  EndpointsSummary(const Json& document, const std::string& origin, ImportSink& sink)
      : document_(document), origin_(origin), sink_(sink) {
    job_.tool = "mlperf_endpoints";
    job_.name = "requests";
  }

  void read() {
    for (const char* key : {"n_samples_issued", "n_samples_completed", "n_samples_failed"})
      if (!document_.is_object() || !number(document_, key))
        refuse(fmt::format("/{} is missing", key),
               "give the result_summary.json of MLPerf Endpoints");
    if (*number(document_, "n_samples_issued") == 0.0) refuse("no request was issued");
    load();
    rates();
    for (const EndpointsBlock& one : kEndpointsLatencies) latencies(one);
    if (const auto length = number(document_.find("output_sequence_lengths"), "avg"))
      add("output_tokens_per_request", Unit::count, Better::none, *length);
    const std::string wrong = why_invalid();
    for (const auto& [metric, samples] : values_) {
      Samples one = samples;
      mark_invalid(one, wrong);
      series_.add(job_, std::move(one));
    }
    Json program = {{"program", "MLPerf Endpoints"}};
    const auto version = document_.find("version");
    if (version != document_.end() && version->is_string() &&
        is_plain_name(version->get<std::string>()))
      program["version"] = *version;
    sink_.facts(job_, Facts{"program", program});
    series_.emit(sink_, origin_, "MLPerf Endpoints");
    if (!wrong.empty()) sink_.ended(job_, Status::invalid, wrong);
  }

 private:
  using Found = Json::const_iterator;

  [[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) const {
    throw Error(ErrorKind::input, origin_ + ": " + what, hint);
  }

  /// Nothing for an absent or null one. Throws for anything but a number >= 0.
  std::optional<double> number(const Json& object, const std::string& key) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return {};
    if (!found->is_number() || !(found->get<double>() >= 0.0) ||
        !std::isfinite(found->get<double>()))
      refuse(
          fmt::format("/{}: expected a number >= 0, but got {}", printable(key), excerpt(*found)));
    return found->get<double>();
  }
  std::optional<double> number(const Found& object, const std::string& key) const {
    if (object == document_.end() || !object->is_object()) return {};
    return number(*object, key);
  }

  /// The load is what was measured, and the window of a rate decides what the rate means.
  void load() {
    const auto config = document_.find("run_config");
    if (config != document_.end() && config->is_object()) {
      const auto pattern = config->find("load_pattern");
      if (pattern != config->end() && pattern->is_object()) {
        const auto type = pattern->find("type");
        if (type != pattern->end() && type->is_string() && is_plain_name(type->get<std::string>()))
          params_["load"] = *type;
        for (const char* key : {"target_qps", "target_concurrency"})
          if (const auto value = number(*pattern, key)) params_[key] = *value;
      }
    }
    params_["rate_window"] =
        number(document_, "legacy_loadgen_window_duration_ns") ? "loadgen" : "whole run";
  }

  void rates() {
    if (const auto rate = number(document_, "qps"))
      add("throughput", Unit::hertz, Better::higher, *rate);
    if (const auto rate = number(document_, "tps"))
      add("token_throughput", Unit::hertz, Better::higher, *rate);
    if (const auto duration = number(document_, "duration_ns"))
      add("duration", Unit::second, Better::none, *duration * kNanosecond);
    if (const auto failed = number(document_, "n_samples_failed"))
      add("failed_requests", Unit::count, Better::lower, *failed);
  }

  /// Absent, null, empty or all zero: nothing was measured.
  void latencies(const EndpointsBlock& block) {
    const auto found = document_.find(block.key);
    if (found == document_.end() || found->is_null()) return;
    if (!found->is_object())
      refuse(fmt::format("/{}: expected an object, but got {}", block.key, excerpt(*found)));
    if (number(*found, "max").value_or(0.0) == 0.0) return;
    const std::string name = block.metric;
    const std::array<std::pair<const char*, std::string>, 3> statistics{
        {{"avg", name}, {"min", name + "_min"}, {"max", name + "_max"}}};
    for (const auto& [key, metric] : statistics)
      if (const auto value = number(*found, key)) add_latency(metric, *value);
    const auto percentiles = found->find("percentiles");
    if (percentiles == found->end() || !percentiles->is_object()) return;
    for (const auto& [key, unused] : percentiles->items()) {
      double percentile = 0.0;
      if (!read_number(key, percentile))
        refuse(fmt::format("/{}/percentiles: '{}' is no percentile", block.key, printable(key)));
      const std::string suffix = percentile_suffix(percentile);
      const auto value = number(*percentiles, key);
      if (!suffix.empty() && value) add_latency(name + suffix, *value);
    }
  }

  void add_latency(const std::string& metric, double nanoseconds) {
    add(metric, Unit::second, Better::lower, nanoseconds * kNanosecond);
  }

  void add(const std::string& metric, Unit unit, Better better, double value) {
    const auto [place, is_new] =
        values_.emplace(metric, one_value(metric, unit, better, params_, value));
    if (!is_new && place->second.values.front() != value)
      refuse(metric + " is stated twice, with different values");
  }

  /// Empty if every request that was issued completed without an error. The client calls a run
  /// complete that left requests open, in versions before 2026-10, and counts failed ones as
  /// completed: latencies are then those of the faster ones, and of errors.
  std::string why_invalid() const {
    const auto state = document_.find("state");
    const auto complete = document_.find("complete");
    if (complete != document_.end() && *complete == false)
      return "MLPerf Endpoints: the run is not complete" +
             (state != document_.end() && state->is_string()
                  ? ": " + printable(state->get<std::string>().substr(0, kMostOfState))
                  : std::string());
    const double issued = number(document_, "n_samples_issued").value_or(0.0);
    const double open = issued - number(document_, "n_samples_completed").value_or(0.0);
    const double failed = number(document_, "n_samples_failed").value_or(0.0);
    if (open > 0.0)
      return fmt::format("MLPerf Endpoints: {} of {} requests never completed", open, issued);
    if (failed > 0.0)
      return fmt::format("MLPerf Endpoints: {} of {} requests failed", failed, issued);
    return {};
  }

  static constexpr double kNanosecond = 1e-9;
  static constexpr std::size_t kMostOfState = 40;

  const Json& document_;
  const std::string& origin_;
  ImportSink& sink_;
  ImportedJob job_;
  Json params_ = Json::object();
  std::map<std::string, Samples> values_;
  CollectedSeries series_;
};

}  // namespace

void import_mlperf_endpoints(const ImportedFile& file, ImportSink& sink) {
  std::ostringstream text;
  text << file.text.rdbuf();
  const Json document = parse_json(text.str(), file.name);
  EndpointsSummary(document, file.name, sink).read();
}

}  // namespace bench
