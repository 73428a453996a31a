// MLPerf Inference: mlperf_log_summary.txt, which LoadGen writes. As LoadGen of v3.1 to v6.0 writes
// it (loadgen/results.cc and loadgen/test_settings_internal.cc in mlcommons/inference).
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

struct LoadGenValue {
  std::string_view key;
  const char* metric;  // empty: another one says it, or it follows from the others
  Unit unit = Unit::hertz;
  Better better = Better::higher;
};

constexpr std::array<LoadGenValue, 10> kLoadGenValues{{
    {"Samples per second", "throughput"},
    {"Tokens per second", "token_throughput"},
    {"Scheduled samples per second", "offered_rate", Unit::hertz, Better::none},
    {"Completed samples per second", "throughput"},
    {"Completed tokens per second", "token_throughput"},
    {"QPS w/ loadgen overhead", "throughput"},
    {"QPS w/o loadgen overhead", ""},
    {"TPS w/ loadgen overhead", "token_throughput"},
    {"TPS w/o loadgen overhead", ""},
    {"Test duration (s)", "duration", Unit::second, Better::none},
}};

/// What a valid result satisfies; what it does not is named.
constexpr std::array<std::string_view, 4> kConstraints{"Performance constraints", "Min duration",
                                                       "Min queries", "Early stopping"};

/// Which one "Min duration satisfied" speaks of; empty for another line.
std::string_view constraint_of(std::string_view key) {
  for (const std::string_view constraint : kConstraints)
    if (key == fmt::format("{} satisfied", constraint)) return constraint;
  return {};
}

/// Kinds of latency, by what stands after "Min ", "Max ", "Mean " or "99.00 percentile ".
struct LatencyKind {
  std::string_view statistic;   // after Min, Max, Mean
  std::string_view percentile;  // after "99.00 percentile "
  const char* metric;
};

constexpr std::array<LatencyKind, 3> kLatencyKinds{{
    {"latency (ns)", "latency (ns)", "latency"},
    {"First Token latency (ns)", "first token latency (ns)", "first_token_latency"},
    {"Time to Output Token (ns)", "time to output token (ns)", "time_per_output_token"},
}};

constexpr std::array<std::pair<std::string_view, const char*>, 9> kLatencyStatistics{{
    {"Min", "_min"},
    {"Max", "_max"},
    {"Mean", ""},
    {"50.00 percentile", "_p50"},
    {"90.00 percentile", "_p90"},
    {"95.00 percentile", "_p95"},
    {"97.00 percentile", "_p97"},
    {"99.00 percentile", "_p99"},
    {"99.90 percentile", "_p999"},
}};

/// The metric of a line of latencies; empty for another line.
std::string latency_metric(std::string_view key) {
  for (const LatencyKind& kind : kLatencyKinds)
    for (const auto& [statistic, suffix] : kLatencyStatistics) {
      const bool percentile = statistic.ends_with("percentile");
      const std::string_view rest = percentile ? kind.percentile : kind.statistic;
      if (key == fmt::format("{} {}", statistic, rest)) return std::string(kind.metric) + suffix;
    }
  return {};
}

/// "SingleStream" as "single_stream"; nothing for an unknown word.
std::string scenario_name(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, const char*>, 6> kNames{{
      {"SingleStream", "single_stream"},
      {"Single Stream", "single_stream"},
      {"MultiStream", "multi_stream"},
      {"Multi Stream", "multi_stream"},
      {"Server", "server"},
      {"Offline", "offline"},
  }};
  for (const auto& [written, name] : kNames)
    if (word == written) return name;
  return {};
}

/// What the folders of a submission say: SYSTEM/MODEL/SCENARIO/performance/run_N/FILE.
Json named_by_folders(const std::string& file) {
  std::vector<std::string> parts;
  for (const auto& part : std::filesystem::path(file)) parts.push_back(part.string());
  constexpr std::size_t kParts = 6;
  if (parts.size() < kParts) return Json::object();
  const auto from_end = [&](std::size_t place) { return parts[parts.size() - place]; };
  if (!from_end(2).starts_with("run_") || from_end(3) != "performance") return Json::object();
  Json names = Json::object();
  for (const auto& [key, place] : {std::pair{"model", 5U}, std::pair{"system", 6U}})
    if (is_plain_name(from_end(place))) names[key] = from_end(place);
  return names;
}

class LoadGenSummary {
 public:
  LoadGenSummary(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink), params_(named_by_folders(file.name)) {
    job_.tool = "mlperf_inference";
  }

  void read() {
    while (lines_.next()) line(lines_.line());
    lines_.demand_whole();
    if (job_.name.empty() || !mode_)
      lines_.refuse("is the last line, and nothing named scenario and mode");
    if (section_ != Section::parameters || verdict_.empty() || !counted_errors_)
      lines_.refuse("is the last line, but a summary ends with the number of errors",
                    "the file is truncated; import a complete mlperf_log_summary.txt");
    const std::string wrong = why_invalid();
    for (const auto& [metric, samples] : values_) {
      Samples one = samples;
      one.params = params_;
      mark_invalid(one, wrong);
      series_.add(job_, std::move(one));
    }
    sink_.facts(job_, Facts{"program", {{"program", "LoadGen"}}});
    series_.emit(sink_, lines_.origin(), "MLPerf Inference");
    if (!wrong.empty()) sink_.ended(job_, Status::invalid, wrong);
    if (offline())
      sink_.note(lines_.origin() +
                 ": latencies of the scenario Offline were left out: all samples are sent at once");
  }

 private:
  enum class Section { before, summary, statistics, parameters };

  bool offline() const { return job_.name == "offline"; }

  void line(const std::string& text) {
    if (trim(text).empty()) {
      prose_ = false;
    } else if (text.find_first_not_of('=') == std::string::npos) {
      prose_ = false;
    } else if (text == "MLPerf Results Summary") {
      if (section_ != Section::before) lines_.refuse("begins a second summary");
      section_ = Section::summary;
    } else if (text == "Additional Stats" && section_ == Section::summary) {
      section_ = Section::statistics;
    } else if (text == "Test Parameters Used" && section_ == Section::statistics) {
      section_ = Section::parameters;
    } else if (section_ == Section::before) {
      lines_.refuse("stands before 'MLPerf Results Summary'",
                    "import LoadGen's mlperf_log_summary.txt");
    } else if (!prose_ && !is_prose(text)) {
      pair(text);
    }
  }

  /// Recommendations, results of early stopping and warnings: sentences of several lines.
  bool is_prose(const std::string& text) {
    if (text.ends_with("Early Stopping Result:") || text == "Recommendations:") return true;
    if (text.starts_with(" ") && !text.starts_with("  ")) return true;
    if (text.starts_with("   ")) return true;
    if (section_ != Section::parameters) return false;
    prose_ = text.starts_with("WARNING:");
    return prose_ || counts(text);
  }

  /// "No errors encountered during test." or "2 ERRORS encountered. See detailed log."
  bool counts(const std::string& text) {
    const bool errors = has_part(text, "ERROR") || has_part(text, "errors");
    if (!has_part(text, " encountered")) return false;
    if (!errors) return true;
    counted_errors_ = true;
    errors_ = errors_ || !text.starts_with("No ");
    return true;
  }

  static bool has_part(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  }

  void pair(const std::string& text) {
    // A name may have colons itself.
    const std::size_t colon = text.starts_with("SUT name") ? text.find(':') : text.rfind(':');
    if (colon == std::string::npos) lines_.refuse("is not a line of KEY : VALUE");
    std::string_view before = trim(std::string_view(text).substr(0, colon));
    if (before.ends_with(':')) before.remove_suffix(1);  // "Test duration (s):   : 765.46"
    const std::string key(trim(before)), value(trim(std::string_view(text).substr(colon + 1)));
    switch (section_) {
      case Section::before:
        break;
      case Section::summary:
        summary(key, value);
        break;
      case Section::statistics:
        statistic(key, value);
        break;
      case Section::parameters:
        parameter(key, value);
        break;
    }
  }

  void summary(const std::string& key, const std::string& value) {
    if (key == "SUT name") {
      if (is_plain_name(value)) params_["sut"] = value;
    } else if (key == "Scenario") {
      if (!job_.name.empty()) lines_.refuse("states the same again");
      job_.name = scenario_name(value);
      if (job_.name.empty()) lines_.refuse("names an unknown scenario");
    } else if (key == "Mode") {
      if (mode_) lines_.refuse("states the same again");
      mode_ = true;
      if (!value.starts_with("Performance"))
        lines_.refuse("is not the mode PerformanceOnly", "import the summary of a performance run");
    } else if (key == "Result is") {
      if (!verdict_.empty()) lines_.refuse("states the same again");
      if (value != "VALID" && value != "INVALID") lines_.refuse("is neither VALID nor INVALID");
      verdict_ = value;
    } else if (const auto constraint = constraint_of(key); !constraint.empty()) {
      if (value == "NO") unmet_.emplace_back(constraint);
    } else if (!headline(key)) {
      number(key, value);
    }
  }

  /// "90th percentile latency (ns)", "99th first token percentile latency (ns)": repeated below.
  static bool headline(const std::string& key) {
    return has_part(key, "th percentile latency (ns)") ||
           has_part(key, "th first token percentile latency (ns)");
  }

  void statistic(const std::string& key, const std::string& value) {
    if (key == "Per-query latency") return;
    number(key, value);
  }

  void number(const std::string& key, const std::string& text) {
    double value = 0.0;
    if (!read_number(text, value) || value < 0.0) lines_.refuse("has no number >= 0");
    if (const std::string metric = latency_metric(key); !metric.empty()) {
      constexpr double kNanosecond = 1e-9;
      if (!offline()) add(metric, Unit::second, Better::lower, value * kNanosecond);
      return;
    }
    for (const LoadGenValue& one : kLoadGenValues)
      if (key == one.key) {
        if (one.metric[0] != '\0') add(one.metric, one.unit, one.better, value);
        return;
      }
    lines_.refuse("has an unknown key");
  }

  void add(const std::string& metric, Unit unit, Better better, double value) {
    if (!values_.emplace(metric, one_value(metric, unit, better, Json::object(), value)).second)
      lines_.refuse("states the same again");
  }

  /// The load of a server, and the size of a query of several samples, are what was measured.
  void parameter(const std::string& key, const std::string& text) {
    const bool kept = (key == "target_qps" && job_.name == "server") ||
                      (key == "samples_per_query" && job_.name == "multi_stream");
    if (!kept) return;
    double value = 0.0;
    if (!read_number(text, value)) lines_.refuse("has no number");
    params_[key] = value;
  }

  /// Empty if the result is valid.
  std::string why_invalid() const {
    if (verdict_ == "VALID" && unmet_.empty())
      return errors_ ? "LoadGen: errors were logged during the test" : "";
    std::string wrong = "LoadGen: the result is " + verdict_;
    for (std::size_t i = 0; i < unmet_.size(); ++i)
      wrong += (i == 0 ? "; not satisfied: " : ", ") + unmet_[i];
    return wrong;
  }

  ImportedLines lines_;
  ImportSink& sink_;
  ImportedJob job_;
  Json params_;
  Section section_ = Section::before;
  bool prose_ = false;  // until the next empty line
  std::string verdict_;
  std::vector<std::string> unmet_;
  bool mode_ = false;  // was stated
  bool counted_errors_ = false, errors_ = false;
  std::map<std::string, Samples> values_;
  CollectedSeries series_;
};

}  // namespace

void import_mlperf_inference(const ImportedFile& file, ImportSink& sink) {
  LoadGenSummary(file, sink).read();
}

}  // namespace bench
