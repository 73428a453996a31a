// Writes run folders from importer output: plan.json and records.jsonl, as if benchctl had run the
// jobs, so `rebuild` and all reports include them. Written next to runs/ and moved there when
// complete, so a failed import leaves nothing behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/import/collected_series.h"

namespace bench {

struct ImportSettings {
  std::filesystem::path runs;  // parent of run folders
  std::string format;          // a name of import_formats()
  std::string file;            // for the record
  /// For jobs that do not name theirs.
  std::vector<std::string> hosts = {};
  std::optional<int> ranks = {};
  std::int64_t time_ns = 0;      // for jobs without a time
  Json labels = Json::object();  // of the runs
};

struct ImportedRun {
  std::string run;
  std::filesystem::path folder;
  std::int64_t time_ns = 0;  // of its earliest job
  std::size_t jobs = 0, series = 0, values = 0;
};

class ImportedRuns final : public ImportSink {
 public:
  /// Throws Error(environment) if it cannot write next to `settings.runs`.
  explicit ImportedRuns(ImportSettings settings);
  ~ImportedRuns() override;

  void series(const ImportedJob& job, const Samples& samples) override;
  void ended(const ImportedJob& job, Status status, const std::string& reason) override;
  void facts(const ImportedJob& job, const Facts& facts) override;
  void note(const std::string& text) override { notes_.push_back(text); }

  /// Moves the runs into place, oldest first. Throws Error(input) if one was imported before; a
  /// run's ID is derived from its contents.
  std::vector<ImportedRun> keep();
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct OpenJob;
  struct OpenRun;
  OpenRun& run_of(const ImportedJob& job);
  OpenJob& job_of(OpenRun& run, const ImportedJob& job);
  ImportedJob completed(ImportedJob job) const;
  void write(OpenRun& run, const Record& record);
  static void append_waiting(OpenRun& run);
  void note_failures(const OpenRun& run);
  void finish(const std::string& name, OpenRun& run);
  Json plan(const std::string& name, const OpenRun& run) const;

  ImportSettings settings_;
  std::filesystem::path folder_;  // of all that is not yet in place
  std::map<std::string, OpenRun> open_;
  std::vector<std::string> notes_;
};

}  // namespace bench
