// The log of a run in MLPerf's format (core/mllog.h): each line an event
// of the job and, where a file is named, a line of it, by rank 0. The lines of MLPerf's rules for
// training are there but for those that name a submission: what is trained are twins of its
// benchmarks on other data, and no result of theirs.
#pragma once

#include <optional>
#include <source_location>
#include <string>

#include "core/mllog.h"
#include "probes/state.h"
#include "training/trainer/trainer.h"

namespace bench {

class TrainingLog final : public training::RunObserver {
 public:
  /// `file` "": events alone. Throws Error(environment) where it cannot be opened.
  TrainingLog(State& state, const std::string& file);

  /// `cache`: what clear_cache() did.
  void init_start(const Json& cache);
  /// What is about to be trained, and the end of initialisation.
  void init_stop(const training::Workload& workload, const training::TrainerOptions& options,
                 const training::Trainer& trainer);

  void run_start() override;
  void block_start(std::int64_t samples) override;
  void block_stop(std::int64_t samples) override;
  void evaluation_start(std::int64_t samples) override;
  void evaluation_stop(std::int64_t samples, const training::Quality& quality) override;
  void run_stop(std::int64_t samples, bool converged) override;

 private:
  /// As mllog does, each line says where in the code it was logged.
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

  State& state_;
  std::optional<MllogFile> file_ = {};
};

}  // namespace bench
