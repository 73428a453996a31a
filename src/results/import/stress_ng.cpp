// stress-ng: the log of --metrics or --metrics-brief, or the file of --yaml. As stress-ng 0.15 and
// 0.22 print them (stress-ng.c, core-log.c and core-helper.c there).
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

constexpr std::size_t kLongestStressorError = 200;

ImportedJob stressor_job(std::string_view stressor) {
  ImportedJob job;
  job.tool = "stress_ng";
  job.name = stressor;
  job.ranks = 1;
  return job;
}

/// Bogo operations per second: of wall clock time, and of user and system time.
struct BogoRates {
  std::string stressor;
  std::int64_t instances = 0;  // 0: unknown
  double per_second = 0.0, per_cpu_second = 0.0;
};

/// A rate of 0 is no measurement: the stressor was skipped, or too slow to count.
void add_bogo_rates(const ImportedJob& job, const BogoRates& rates, const Outcome& outcome,
                    CollectedSeries& series) {
  Json params = {{"stressor", rates.stressor}};
  if (rates.instances > 0) params["instances"] = rates.instances;
  for (const auto& [metric, rate] : {std::pair{"bogo_op_rate", rates.per_second},
                                     std::pair{"bogo_op_rate_cpu_time", rates.per_cpu_second}}) {
    if (rate == 0.0) continue;
    Samples samples = one_value(metric, Unit::hertz, Better::higher, params, rate);
    samples.outcome = outcome.status;
    samples.reason = outcome.reason;
    series.add(job, std::move(samples));
  }
}

/// "stress-ng: metrc: [4321] text": the text; with --log-brief it stands alone.
std::string_view stressor_message(std::string_view line) {
  if (!line.starts_with("stress-ng: ")) return line;
  const std::size_t end = line.find("] ");
  return end == std::string_view::npos ? line.substr(line.size()) : trim(line.substr(end + 2));
}

class StressNgLog {
 public:
  StressNgLog(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink) {}

  void read() {
    while (lines_.next()) line(trim(lines_.line()));
    if (!ended_ && in_ != Part::before)
      lines_.refuse("is the last line, but stress-ng ends with 'run completed in'",
                    "the log is truncated; import a complete one");
    lines_.demand_whole();
    // Versions that do not list who failed.
    if (failed_run_ && failed_.empty())
      for (const BogoRates& row : rows_) failed_.insert(row.stressor);
    for (const BogoRates& row : rows_)
      add_bogo_rates(stressor_job(row.stressor), row, outcome_of(row.stressor), series_);
    for (const auto* wrong : {&failed_, &untrusted_})
      for (const std::string& stressor : *wrong) {
        const Outcome outcome = outcome_of(stressor);
        sink_.ended(stressor_job(stressor), outcome.status, outcome.reason);
      }
    if (failed_.empty() || !series_.empty()) series_.emit(sink_, lines_.origin(), "stress-ng");
    notes();
  }

 private:
  enum class Part { before, table, other };

  void line(std::string_view whole) {
    const std::string_view text = stressor_message(whole);
    if (text.empty()) return;
    if (whole.starts_with("stress-ng: ") && whole.find(" fail: ") < whole.find('['))
      return failure(text);
    if (text.starts_with("dispatching hogs: ")) return instances(text.substr(18));
    if (text.starts_with("stressor ") && text.find("bogo ops") != std::string_view::npos)
      return header(words_of(text));
    if (in_ == Part::table && text.starts_with('(')) return;  // the units
    if (text.starts_with("skipped: ")) return list(text, skipped_);
    if (text.starts_with("failed: ")) return list(text, failed_);
    if (text.starts_with("metrics untrustworthy: ")) return list(text, untrusted_);
    if (text.starts_with("passed: ")) return leave_table();
    if (text.find("successful run completed in ") != std::string_view::npos) return completed(text);
    if (text == "miscellaneous metrics:") return begin_miscellaneous();
    if (in_ == Part::table) return row(words_of(text));
    miscellaneous_ += in_miscellaneous_ && whole.find("metrc:") != std::string_view::npos ? 1 : 0;
  }

  void leave_table() {
    if (in_ == Part::table) in_ = Part::other;
    in_miscellaneous_ = false;
  }

  void begin_miscellaneous() {
    leave_table();
    in_miscellaneous_ = true;
  }

  /// "unsuccessful run completed in 10.01 secs": once at the end of each run.
  void completed(std::string_view text) {
    leave_table();
    ended_ = true;
    failed_run_ |= text.starts_with("unsuccessful");
  }

  /// 4 cpu, 2 vm
  void instances(std::string_view text) {
    for (const std::string_view part : words_of(text, ",")) {
      const auto words = words_of(part);
      std::int64_t count = 0;
      if (words.size() == 2 && read_whole_number(words[0], count) && count > 0)
        instances_[std::string(words[1])] = count;
    }
  }

  void header(const std::vector<std::string_view>& words) {
    // stressor, bogo ops, real time, usr time, sys time, bogo ops/s, bogo ops/s, ...
    constexpr std::size_t kFewestWords = 13;
    if (words.size() < kFewestWords || words[3] != "real" || words[5] != "usr" ||
        words[7] != "sys" || words[10] != "ops/s" || words[12] != "ops/s")
      lines_.refuse("is not a known header of stress-ng --metrics");
    in_ = Part::table;
    ended_ = false;
  }

  /// Of --metrics-brief 7 columns, of --metrics up to 9.
  void row(const std::vector<std::string_view>& words) {
    if (words.size() < 7 || words.size() > 9) return leave_table_at(words);
    std::array<double, 6> number{};
    for (std::size_t i = 0; i < number.size(); ++i)
      if (!read_number(words[i + 1], number[i]) || number[i] < 0.0) return leave_table_at(words);
    const std::string name(words[0]);
    if (!is_plain_name(name)) lines_.refuse("names no stressor");
    const auto found = instances_.find(name);
    rows_.push_back({name, found == instances_.end() ? 0 : found->second, number[4], number[5]});
  }

  /// Other messages follow the table; a line that looks like a broken row is none.
  void leave_table_at(const std::vector<std::string_view>& words) {
    double number = 0.0;
    if (words.size() > 1 && read_number(words[1], number))
      lines_.refuse(
          fmt::format("has {} columns or a value that is no number >= 0 in a table of 7 "
                      "to 9",
                      words.size()));
    leave_table();
  }

  /// "failed: 2: cpu (1) vm (1)", or "failed: 0".
  void list(std::string_view text, std::set<std::string>& into) {
    leave_table();
    const std::size_t colon = text.find(": ", text.find(": ") + 1);
    if (colon == std::string_view::npos) return;
    for (const std::string_view word : words_of(text.substr(colon + 2)))
      if (!word.starts_with('(') && is_plain_name(word)) into.insert(std::string(word));
  }

  /// "cpu: integer checksum failed": the first of each stressor is its reason.
  void failure(std::string_view text) {
    constexpr std::string_view kProcess = "stress-ng-";
    if (text.starts_with(kProcess)) text.remove_prefix(kProcess.size());
    const std::size_t colon = text.find(": ");
    const std::string name(text.substr(0, colon == std::string_view::npos ? 0 : colon));
    reasons_.emplace(name, printable(text.substr(0, kLongestStressorError)));
  }

  Outcome outcome_of(const std::string& stressor) const {
    if (failed_.contains(stressor)) {
      const auto found = reasons_.find(stressor);
      return {Status::failed, "stress-ng: " + (found == reasons_.end()
                                                   ? "'" + stressor + "' failed without a reason"
                                                   : found->second)};
    }
    if (untrusted_.contains(stressor))
      return {Status::invalid, "stress-ng calls its metrics untrustworthy"};
    return {};
  }

  void notes() {
    for (const std::string& stressor : skipped_)
      sink_.note(fmt::format("{}: stress-ng skipped '{}'", lines_.origin(), printable(stressor)));
    if (miscellaneous_ > 0)
      sink_.note(fmt::format("{}: skipped {} miscellaneous metrics, whose units are free text",
                             lines_.origin(), miscellaneous_));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  Part in_ = Part::before;
  bool ended_ = false, failed_run_ = false, in_miscellaneous_ = false;
  std::map<std::string, std::int64_t> instances_;
  std::map<std::string, std::string> reasons_;
  std::vector<BogoRates> rows_;
  std::set<std::string> skipped_, failed_, untrusted_;
  std::size_t miscellaneous_ = 0;
  CollectedSeries series_;
};

/// Groups at the left margin; in "metrics" a list of stressors, and within each a list of
/// instances.
class StressNgYaml {
 public:
  StressNgYaml(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink) {}

  void read() {
    while (lines_.next()) line(lines_.line());
    if (!ended_)
      lines_.refuse("is the last line, but stress-ng ends its YAML with '...'",
                    "the file is truncated; import a complete one");
    lines_.demand_whole();
    series_.emit(sink_, lines_.origin(), "stress-ng");
    if (!version_.empty())
      sink_.facts(located(stressor_job("stress_ng")),
                  Facts{"program", {{"program", "stress-ng"}, {"version", version_}}});
    sink_.note(lines_.origin() +
               ": stress-ng's YAML does not state whether a stressor failed; "
               "import the log of --metrics to know");
  }

 private:
  void line(const std::string& whole) {
    const std::string_view text = trim(whole);
    if (text.empty() || text == "---" || text.starts_with('#')) return;
    if (ended_) lines_.refuse("follows the end of the YAML, '...'");
    if (text == "...") {
      end_stressor();
      ended_ = true;
      return;
    }
    if (whole.front() != ' ') {
      end_stressor();
      group_ = text;
      return;
    }
    if (group_ == "system-info:") return about(text);
    if (group_ != "metrics:") return;
    if (text.starts_with("- stressor:")) return stressor(trim(text.substr(11)));
    if (text.starts_with("- instance:")) return void(++instances_);
    if (name_.empty()) lines_.refuse("belongs to no stressor");
    if (instances_ == 0) metric(text);
  }

  static std::string unquoted(std::string_view text) {
    if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
      text = text.substr(1, text.size() - 2);
    return std::string(text);
  }

  void about(std::string_view text) {
    if (const auto found = text_after(text, "stress-ng-version:"); !found.empty())
      version_ = unquoted(found);
    if (const auto found = text_after(text, "hostname:"); !found.empty()) host_ = unquoted(found);
    constexpr std::int64_t kLatestSecond = 9'000'000'000;
    std::int64_t seconds = 0;
    if (const auto found = text_after(text, "epoch-secs:"); read_whole_number(found, seconds))
      time_ns_ = seconds > 0 && seconds < kLatestSecond ? seconds * 1'000'000'000 : 0;
  }

  void stressor(std::string_view name) {
    end_stressor();
    name_ = unquoted(name);
    if (!is_plain_name(name_)) lines_.refuse("names no stressor");
  }

  void metric(std::string_view text) {
    for (const auto& [key, value] :
         {std::pair{"bogo-ops-per-second-real-time:", &per_second_},
          std::pair{"bogo-ops-per-second-usr-sys-time:", &per_cpu_second_}}) {
      if (!text.starts_with(key)) continue;
      if (!read_number(text_after(text, key), *value) || *value < 0.0)
        lines_.refuse("has no rate >= 0");
      ++rates_;
    }
  }

  void end_stressor() {
    if (name_.empty()) return;
    if (rates_ != 2)
      lines_.refuse(fmt::format("comes after the stressor '{}', which has {} of 2 rates",
                                printable(name_), rates_),
                    "the file is damaged; import a complete one");
    add_bogo_rates(located(stressor_job(name_)), {name_, instances_, per_second_, per_cpu_second_},
                   {}, series_);
    name_.clear();
    instances_ = rates_ = 0;
    per_second_ = per_cpu_second_ = 0.0;
  }

  ImportedJob located(ImportedJob job) const {
    if (is_host_name(host_) && host_ != "localhost" && host_ != "unknown") job.hosts = {host_};
    job.time_ns = time_ns_;
    return job;
  }

  ImportedLines lines_;
  ImportSink& sink_;
  std::string group_, name_, host_, version_;
  std::int64_t time_ns_ = 0, instances_ = 0, rates_ = 0;
  double per_second_ = 0.0, per_cpu_second_ = 0.0;
  bool ended_ = false;
  CollectedSeries series_;
};

}  // namespace

void import_stress_ng(const ImportedFile& file, ImportSink& sink) {
  if ((file.text >> std::ws).peek() == '-') return StressNgYaml(file, sink).read();
  if (file.text.eof()) file.text.clear();
  StressNgLog(file, sink).read();
}

}  // namespace bench
