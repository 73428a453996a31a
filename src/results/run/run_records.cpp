#include "results/run/run_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <string_view>

#include "core/error.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/metric_names.h"
#include "core/record.h"
#include "core/text.h"

namespace bench {
namespace {

// Reads the spool of a run (records.jsonl), which a kill may have torn.

/// More bad lines than this are counted, not listed.
constexpr std::size_t kListedLines = 20;

void skip_line(SpoolPosition& position, const char* why) {
  if (++position.unreadable > kListedLines) return;
  position.warnings.push_back(
      fmt::format("records.jsonl: skipped unreadable line {}: {}", position.lines + 1, why));
}

/// Appends the records of `text`, which follows the position; a torn last line is left for the next
/// time.
void read_spool(std::string_view text, RunRecords& run) {
  SpoolPosition& position = run.position;
  run.records.reserve(run.records.size() +
                      static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    try {
      if (!line.empty()) run.records.push_back(record_from_json(parse_json(line, "line")));
    } catch (const std::bad_alloc&) {
      throw;  // not a fault of the line
    } catch (const std::exception& error) {
      if (!whole) {  // kill -9, or a machine that went down, in the middle of a write
        run.warnings.push_back(
            fmt::format("records.jsonl: skipped truncated last line ({} bytes)", line.size()));
        break;
      }
      skip_line(position, error.what());
    }
    const std::size_t read = line.size() + (whole ? 1 : 0);
    text.remove_prefix(read);
    position.bytes += read;
    if (whole) ++position.lines;
  }
  run.warnings.insert(run.warnings.end(), position.warnings.begin(), position.warnings.end());
  if (position.unreadable > kListedLines)
    run.warnings.push_back(fmt::format("records.jsonl: skipped {} more unreadable lines",
                                       position.unreadable - kListedLines));
}

namespace fs = std::filesystem;

std::vector<std::string> texts(const Json& array) {
  std::vector<std::string> found;
  for (const Json& item : array)
    if (item.is_string()) found.push_back(item.get<std::string>());
  return found;
}

PlannedJob planned_job(const Json& json) {
  PlannedJob job;
  job.id = text_field(json, "id", text_field(json, "job"));
  job.case_name = text_field(json, "case_name", text_field(json, "case"));
  job.probe = text_field(json, "probe");
  job.device = text_field(json, "device", "host");
  job.params = object_field(json, "params");
  for (const auto& [name, value] : object_field(json, "part").items())
    if (value.is_primitive()) job.part[name] = value;
  job.hosts = texts(array_field(json, "hosts"));
  job.ranks = static_cast<int>(integer_field(json, "ranks", 1));
  job.binding = text_field(json, "binding");
  job.repeat = static_cast<int>(integer_field(json, "repeat", 0));
  if (const Json& seed = field(json, "seed"); seed.is_number_unsigned()) job.seed = seed;
  return job;
}

/// Parses the plan and passes its jobs on one by one: the tree of a plan for 4,000 hosts would take
/// hundreds of megabytes.
Json parse_plan(const std::string& text,
                const std::function<void(const std::string& list, const Json& job)>& each) {
  constexpr int kTopLevel = 1, kElement = 2;
  std::string list;
  return parse_json(text, "plan.json", [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth == kTopLevel && event == Json::parse_event_t::key) list = parsed.get<std::string>();
    const bool ends = event == Json::parse_event_t::object_end ||
                      event == Json::parse_event_t::array_end ||
                      event == Json::parse_event_t::value;
    const bool is_job = depth == kElement && ends && (list == "jobs" || list == "skipped");
    if (is_job) each(list, parsed);
    return !is_job;
  });
}

void read_plan(const std::string& text, RunRecords& run) {
  if (text.empty()) {
    run.plan_lost = "plan.json is missing or empty: cases and probes are unknown";
    run.warnings.push_back(run.plan_lost);
    return;
  }
  std::set<std::string> seen;
  const auto add = [&](PlannedJob job) {
    if (job.id.empty() || !seen.insert(job.id).second)
      run.warnings.push_back(
          fmt::format("plan.json: skipped a job without a unique id ('{}')", printable(job.id)));
    else
      run.jobs.push_back(std::move(job));
  };
  std::vector<PlannedJob> skips;  // appended after the jobs, wherever they are in the file
  try {
    run.plan = parse_plan(text, [&](const std::string& list, const Json& json) {
      if (list == "jobs") return add(planned_job(json));
      skips.push_back(planned_job(json));
      skips.back().skipped = text_field(json, "reason", "no reason given");
    });
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    run.jobs.clear();
    run.plan_lost = fmt::format("plan.json is unreadable: {}", error.what());
    run.warnings.push_back(run.plan_lost);
    return;
  }
  for (PlannedJob& skip : skips) add(std::move(skip));
  const Json& searches = object_field(object_field(run.plan, "localisation"), "jobs");
  for (PlannedJob& job : run.jobs) job.search_of = text_field(searches, job.id.c_str());
}

bool is_event(const Record& record, const char* key) {
  const auto* event = std::get_if<Event>(&record.body);
  return event != nullptr && event->key == key;
}

/// Drops what a job recorded before its restart, so partial data is not mixed with complete data.
void drop_restarted(RunRecords& run) {
  std::map<std::string, std::size_t> begins;
  for (std::size_t i = 0; i < run.records.size(); ++i)
    if (!run.records[i].job.empty() && is_event(run.records[i], kRestartEvent))
      begins[run.records[i].job] = i;
  if (begins.empty()) return;
  std::vector<Record> kept;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const auto begin = begins.find(run.records[i].job);
    if (begin == begins.end() || i > begin->second) kept.push_back(std::move(run.records[i]));
  }
  run.records = std::move(kept);
}

/// Records of a job that is not in the plan (a lost plan.json) are kept under the job's ID.
void adopt_unplanned_jobs(RunRecords& run) {
  std::set<std::string> known = {""};
  for (const PlannedJob& job : run.jobs) known.insert(job.id);
  std::size_t adopted = 0;
  for (const Record& record : run.records) {
    if (!known.insert(record.job).second) continue;
    PlannedJob job;
    job.id = job.case_name = record.job;
    run.jobs.push_back(std::move(job));
    ++adopted;
  }
  if (adopted > 0)
    run.warnings.push_back(fmt::format("{} jobs have records but are not in plan.json", adopted));
}

std::string read_if_exists(const fs::path& path, std::uintmax_t from = 0) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? read_file(path, from) : std::string();
}

void check_name(const std::string& run_id, RunRecords& run) {
  run.run = text_field(run.plan, "run", run_id);
  if (run.run != run_id) {
    run.warnings.push_back(
        fmt::format("plan.json names the run '{}', but its folder is '{}': using the folder name",
                    printable(run.run), printable(run_id)));
    run.run = run_id;
  }
}

/// Runs of older versions have the old names of renamed metrics in their records and gates.
void rename_metrics(RunRecords& run) {
  std::map<std::string, std::string> probe_of_job, probe_of_case;
  for (const PlannedJob& job : run.jobs) {
    probe_of_job[job.id] = job.probe;
    probe_of_case[job.case_name] = job.probe;
  }
  for (Record& record : run.records) {
    auto* samples = std::get_if<Samples>(&record.body);
    const auto probe = probe_of_job.find(record.job);
    if (samples != nullptr && probe != probe_of_job.end())
      samples->metric = current_metric_of(probe->second, samples->metric);
  }
  if (!field(run.plan, "gates").is_object()) return;
  Json& cases = run.plan["gates"];
  for (auto it = cases.begin(); it != cases.end(); ++it) {
    const auto probe = probe_of_case.find(it.key());
    if (probe == probe_of_case.end() || !it->is_array()) continue;
    for (Json& gate : *it)
      if (const std::string metric = text_field(gate, "metric"); !metric.empty())
        gate["metric"] = current_metric_of(probe->second, metric);
  }
}

}  // namespace

std::vector<std::string> missing_jobs(const RunRecords& run, bool failed) {
  std::set<std::string> done, prevented;
  for (const Record& record : run.records) {
    if (is_event(record, kPreventedEvent)) prevented.insert(record.job);
    if (const auto* outcome = std::get_if<Outcome>(&record.body)) {
      const bool bad = outcome->status == Status::failed || outcome->status == Status::timed_out;
      if (failed && bad)
        done.erase(record.job);
      else if (outcome->status != Status::skipped || !prevented.contains(record.job))
        done.insert(record.job);
    }
    if (is_event(record, kNotRunEvent)) done.erase(record.job);
  }
  std::vector<std::string> missing;
  for (const PlannedJob& job : run.jobs)
    if (job.skipped.empty() && !done.contains(job.id)) missing.push_back(job.id);
  return missing;
}

RunRecords read_planned(const fs::path& run_dir) {
  RunRecords run;
  read_plan(read_if_exists(run_dir / "plan.json"), run);
  return run;
}

void read_appended(const fs::path& run_dir, RunRecords& run) {
  std::error_code ignored;
  const fs::path plan = run_dir / "plan.json";
  const fs::path records = run_dir / "records.jsonl";
  if (!fs::exists(plan, ignored) && !fs::exists(records, ignored))
    throw Error(ErrorKind::input,
                run_dir.string() + ": not a run: neither plan.json nor records.jsonl found",
                "list stored runs with `benchctl runs`");
  fs::path folder = run_dir.lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "runs/x/"
  run.plan = Json::object();
  run.plan_lost.clear();
  run.jobs.clear();
  run.warnings.clear();
  // One text at a time: those of large fleets have tens of megabytes.
  read_plan(read_if_exists(plan), run);
  check_name(folder.filename().string(), run);
  read_spool(read_if_exists(records, run.position.bytes), run);
  drop_restarted(run);
  adopt_unplanned_jobs(run);
  rename_metrics(run);
}

RunRecords read_run(const fs::path& run_dir) {
  RunRecords run;
  read_appended(run_dir, run);
  return run;
}

}  // namespace bench
