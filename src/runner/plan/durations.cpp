#include "runner/plan/durations.h"

#include <algorithm>

#include "core/error.h"
#include "runner/find_run.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

/// Job ID -> seconds, from outcomes only: samples may be many megabytes.
std::map<std::string, Seconds> outcome_times(const fs::path& records) {
  std::map<std::string, Seconds> times;
  const std::string text = read_file(records);
  constexpr std::string_view kOutcome = "\"kind\":\"outcome\"";
  for (auto at = text.find(kOutcome); at != std::string::npos; at = text.find(kOutcome, at + 1)) {
    const auto begin = text.rfind('\n', at) + 1;  // npos + 1 is 0: the first line
    const auto end = std::min(text.find('\n', at), text.size());
    const Record record = record_from_json(parse_json(text.substr(begin, end - begin), "records"));
    if (const auto* outcome = std::get_if<Outcome>(&record.body);
        outcome && outcome->status == Status::ok)
      times[record.job] = Seconds{outcome->seconds};
  }
  return times;
}

Durations durations_of(const fs::path& run) {
  const Json plan = read_json(run / "plan.json");
  const auto times = outcome_times(run / "records.jsonl");
  Durations durations;
  for (const Json& json : plan.at("jobs")) {
    const Job job = job_from_json(json);
    if (const auto time = times.find(job.id); time != times.end())
      durations[duration_key(job)] = time->second;
  }
  return durations;
}

/// "20261120T183005Z-smoke-1a2b"
bool is_of_suite(const std::string& id, const std::string& suite) {
  constexpr std::size_t kTime = 17, kSuffix = 5;
  return id.size() == kTime + suite.size() + kSuffix && id.compare(kTime, suite.size(), suite) == 0;
}

}  // namespace

std::string duration_key(const Job& job) {
  return dump(Json{job.case_name, job.probe, job.device, job.params, job.ranks});
}

Durations last_durations(const fs::path& runs, const std::string& suite) {
  try {
    const auto ids = all_runs(runs);
    const auto newest = std::find_if(ids.rbegin(), ids.rend(),
                                     [&](const auto& id) { return is_of_suite(id, suite); });
    return newest == ids.rend() ? Durations{} : durations_of(runs / *newest);
  } catch (const std::exception&) {
    return {};  // old or damaged run
  }
}

}  // namespace bench
