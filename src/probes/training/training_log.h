// The log of a run in MLPerf's format (core/mllog.h): rank 0 writes each line as an event of the
// job and, if a file is given, to that file. It has all lines that MLPerf's training rules require,
// except those that name a submission: the workloads are twins of its benchmarks on other data, and
// no MLPerf results.
#pragma once

#include <optional>
#include <source_location>
#include <string>

#include "core/mllog.h"
#include "probes/state.h"
#include "training/trainer/trainer.h"

namespace bench {

class TrainingLog : public training::RunObserver {
 public:
  /// `file` "": events only. Throws Error(environment) if it cannot be opened.
  TrainingLog(State& state, const std::string& file);

  /// `cache`: the result of clear_cache().
  void init_start(const Json& cache);
  /// Logs what is trained, and the end of the initialisation.
  void init_stop(const training::Workload& workload, const training::TrainerOptions& options,
                 const training::Trainer& trainer);

  void run_start() override;
  void block_start(std::int64_t samples) override;
  void block_stop(std::int64_t samples) override;
  void evaluation_start(std::int64_t samples) override;
  void evaluation_stop(std::int64_t samples, const training::Quality& quality) override;
  void run_stop(std::int64_t samples, bool converged) override;

 private:
  Json after(std::int64_t samples) const;
  /// As in mllog, each line has its place in the code.
  using Place = std::source_location;

  void point(const std::string& key, const Json& value, const Json& metadata = Json::object(),
             const Place& place = Place::current());
  void begin(const std::string& key, const Json& metadata = Json::object(),
             const Place& place = Place::current());
  void end(const std::string& key, const Json& metadata = Json::object(),
           const Place& place = Place::current());
  void write(MllogEvent event, const std::string& key, const Json& value, const Json& metadata,
             const Place& place);
  void names(const training::Workload& workload);
  void schedule(const training::Recipe& recipe);
  void disclosures(const training::Workload& workload, const training::TrainerOptions& options,
                   const training::Trainer& trainer);

  State& state_;
  std::optional<MllogFile> file_ = {};
  std::string metric_key_ = {};      // Workload::metric_key()
  std::int64_t logged_samples_ = 1;  // Workload::logged_samples()
};

}  // namespace bench
