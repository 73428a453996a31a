// Builds the two files of a run directory in a test, in sight of what it checks.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/record.h"
#include "core/text.h"
#include "core/time.h"
#include "results/run/run_records.h"
#include "tests/support/temporary_directory.h"

namespace bench {

inline std::int64_t start_ns() { return parse_time("2026-11-20T18:30:05Z"); }

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// The run with these files.
inline RunRecords run_of(const std::string& id, const std::string& plan,
                         const std::string& records) {
  const TemporaryDirectory runs;
  write_text(runs.path() / id / "plan.json", plan);
  write_text(runs.path() / id / "records.jsonl", records);
  return read_run(runs.path() / id);
}

class RunFixture {
 public:
  explicit RunFixture(std::string id = "20261120T183005Z-demo-0001") : id_(std::move(id)) {
    plan = {{"run", id_},
            {"suite", "demo"},
            {"digest", "abc"},
            {"time_ns", start_ns()},
            {"labels", {{"driver", "550"}}},
            {"benchctl_version", "0.1.0+1a2b3c4"},
            {"environment", Json::object()},
            {"command", {"benchctl", "run", "demo"}},
            {"hosts", {{{"name", "node1"}, {"slots", 2}}}},
            {"jobs", Json::array()},
            {"skipped", Json::array()},
            {"gates", Json::object()},
            {"planned_s", 12.5}};
  }

  RunFixture& job(const std::string& id, const std::string& case_name, const std::string& probe,
                  Json params = Json::object(), int ranks = 1) {
    plan["jobs"].push_back({{"id", id},
                            {"case_name", case_name},
                            {"probe", probe},
                            {"device", "host"},
                            {"params", std::move(params)},
                            {"hosts", {"node1"}},
                            {"ranks", ranks},
                            {"binding", "core"},
                            {"seed", 1},
                            {"repeat", 0}});
    return *this;
  }

  RunFixture& add(const std::string& job, decltype(Record::body) body, int rank = 0) {
    time_ns_ += 1'000'000;
    lines += dump(to_json(Record{job, "node1", rank, time_ns_, std::move(body)})) + "\n";
    return *this;
  }

  RunFixture& outcome(const std::string& job, Status status = Status::ok,
                      const std::string& reason = {}) {
    return add(job, Outcome{status, reason, 1.5});
  }

  RunFixture& end(const std::string& state = "finished", double seconds = 12.25) {
    return add("", Event{kRunEndEvent, {{"state", state}, {"seconds", seconds}}});
  }

  RunRecords records() const { return run_of(id_, dump(plan), lines); }

  /// The run directory, below `runs`.
  std::filesystem::path write(const std::filesystem::path& runs) const {
    const auto folder = runs / id_;
    write_text(folder / "plan.json", dump(plan));
    write_text(folder / "records.jsonl", lines);
    return folder;
  }

  const std::string& id() const { return id_; }

  Json plan;
  std::string lines;

 private:
  std::string id_;
  std::int64_t time_ns_ = start_ns();
};

/// `n` clean samples around `middle`, spread evenly over +-`spread` (relative).
inline Samples samples(const std::string& metric, double middle, std::size_t n = 20,
                       Json params = Json::object(), double spread = 0.01) {
  Samples s;
  s.metric = metric;
  s.unit = Unit::flop_per_second;
  s.better = Better::higher;
  s.params = std::move(params);
  for (std::size_t i = 0; i < n; ++i) {
    const double place =
        n < 2 ? 0.0 : 2.0 * static_cast<double>(i) / static_cast<double>(n - 1) - 1.0;
    s.values.push_back(middle * (1.0 + spread * place));
  }
  s.flags.assign(n, kClean);
  s.stop = "interval";
  return s;
}

}  // namespace bench
