#include "results/verdicts/published/published_import.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <set>

#include "core/disclaimer.h"
#include "core/error.h"
#include "core/text.h"
#include "results/import/collected_series.h"

namespace bench::mlperf {
namespace {

constexpr const char* kTool = "mlperf";
constexpr std::size_t kLongestHostName = 200;

Json params_of(const PublishedEntry& entry) {
  Json params = {{"benchmark", printable(entry.benchmark)}};
  if (entry.division != "closed") params["division"] = printable(entry.division);
  // Else compare would pool all accelerators of a side; the number of them is that of the ranks.
  if (const std::string model = printable(hardware_name(entry)); !model.empty())
    params["accelerator"] = model;
  return params;
}

/// Systems with the same accelerator form one case, so that their rank counts are points of a
/// scaling curve.
ImportedJob job_of_entry(const PublishedEntry& entry) {
  ImportedJob job;
  job.tool = kTool;
  job.name = plain_word(entry.submitter) + "." + plain_word(hardware_name(entry)) + "." +
             plain_word(entry.benchmark);
  job.device = "accelerator";
  job.hosts = {host_of_system(entry.submitter, entry.system)};
  job.ranks = static_cast<int>(accelerators_of(entry));
  return job;
}

void tell_facts(const ImportedJob& job, const PublishedEntry& entry, ImportSink& sink) {
  const SystemDescription& system = entry.description;
  Json gpus = Json::array();
  for (std::int64_t i = 0; i < system.accelerators_per_node.value_or(0) && i < 64; ++i)
    gpus.push_back({{"index", i}, {"name", system.accelerator}});
  sink.facts(job, Facts{"host",
                        {{"cpu_model", system.processor},
                         {"os", system.operating_system},
                         {"product", system.system_name}}});
  sink.facts(job, Facts{"gpus", {{"gpus", std::move(gpus)}}});
  sink.facts(job, Facts{"mlperf_system", system.fields});
}

void hand_over_value(const ImportedJob& job, const std::string& metric, Unit unit,
                     const Json& params, double value, ImportSink& sink) {
  if (!(value > 0.0) || !std::isfinite(value)) return;
  Samples samples = one_value(metric, unit, Better::lower, params, value);
  samples.over = "max";  // over all accelerators
  sink.series(job, samples);
}

void import_run(const PublishedEntry& entry, std::size_t number, ImportSink& sink) {
  const PublishedRun& run = entry.runs[number];
  ImportedJob job = job_of_entry(entry);
  job.run = "run " + std::to_string(number);
  job.time_ns = run.start_ms * 1'000'000;
  tell_facts(job, entry, sink);
  if (!run.counts) return sink.ended(job, Status::failed, printable(run.failure));
  const Json params = params_of(entry);
  const double seconds = 60.0 * run.minutes;
  hand_over_value(job, "time_to_train", Unit::second, params, seconds, sink);
  hand_over_value(job, "scored_time", Unit::second, params, seconds * entry.scaling_factor, sink);
  hand_over_value(job, entry.samples_unit + "_to_target", Unit::count, params, run.samples, sink);
}

/// `seen`: the logs imported so far. A copy of a log is no run of its own.
void import_entry(const PublishedEntry& entry, std::set<Digest>& seen, ImportSink& sink) {
  std::size_t copies = 0;
  for (std::size_t i = 0; i < entry.runs.size(); ++i) {
    const Digest digest = entry.runs[i].digest;
    if (digest != 0 && !seen.insert(digest).second)
      ++copies;
    else
      import_run(entry, i, sink);
  }
  if (copies > 0)
    sink.note(
        fmt::format("{}: {} of its {} logs skipped: they are copies of other logs of this import, "
                    "which are one run",
                    entry_label(entry), copies, entry.runs.size()));
}

}  // namespace

std::string plain_word(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool allowed =
        byte < 128 && (std::isalnum(byte) != 0 || c == '_' || c == '.' || c == '-');
    if (allowed || !plain.ends_with('-')) plain += allowed ? c : '-';
  }
  while (plain.ends_with('-')) plain.pop_back();
  return plain.substr(0, kLongestHostName);
}

std::string host_of_system(const std::string& submitter, const std::string& system) {
  std::string name = plain_word(submitter + "." + system);
  while (!name.empty() && std::isalnum(static_cast<unsigned char>(name.front())) == 0)
    name.erase(name.begin());
  return name.empty() ? "system" : name;
}

void import_published(std::span<const PublishedEntry> entries, ImportSink& sink) {
  std::string left_out;
  std::size_t taken = 0;
  std::set<Digest> seen;
  for (const PublishedEntry& entry : entries) {
    const std::string why = why_no_accelerators(entry);
    if (why.empty()) {
      import_entry(entry, seen, sink);
      ++taken;
      continue;
    }
    left_out = entry_label(entry) + " skipped: " + why;
    sink.note(left_out);
  }
  if (taken == 0)
    throw Error(ErrorKind::input, "no result to import. " + left_out,
                "add SUBMITTER/systems/SYSTEM.json with the number of accelerators");
  sink.note("these results: " + std::string(kNotVerified));
}

}  // namespace bench::mlperf
