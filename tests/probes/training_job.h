// A job of the probe `training` with kernels of the host, and what it said.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/training_progress.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"
#include "training/host/host_kernels.h"
#include "training/parallel/training_kernels.h"

namespace bench {

/// An optimizer that does nothing.
class IdleOptimizer final : public training::OptimizerKernels {
 public:
  void adamw(const training::AdamwRange&) override {}
  void momentum(const training::MomentumRange&) override {}
  void adagrad_rows(const training::AdagradRows&) override {}
  double square_sum(training::View) override { return 1.0; }
};

class TestKernels final : public TrainingKernels {
 public:
  std::string name() const override { return "test"; }
  training::KernelSet make(Dtype dtype) override {
    training::KernelSet set = training::host_kernels(dtype);
    if (idle) set.optimizer = std::make_unique<IdleOptimizer>();
    return set;
  }
  bool idle = false;
};

struct TrainingJob : ProbeJob {
  TestKernels kernels;
  explicit TrainingJob(const Json& params) : ProbeJob("training", params) {
    device.fake_training_kernels = &kernels;
  }

  Json facts() const {
    for (const Record& record : sink.records)
      if (const auto* facts = std::get_if<Facts>(&record.body)) return facts->facts;
    return {};
  }
  Json columns(const std::string& name) const {
    for (const Record& record : sink.records)
      if (const auto* chunk = std::get_if<Chunk>(&record.body))
        if (chunk->name == name) return chunk->columns;
    return {};
  }
  Samples one(const std::string& metric) const {
    const auto found = of(metric);
    REQUIRE(found.size() == 1);
    return found.front();
  }
  /// What it reported while it ran.
  std::vector<TrainingProgress> progress() const {
    std::vector<TrainingProgress> reports;
    for (const Record& record : sink.records)
      if (const auto* event = std::get_if<Event>(&record.body))
        if (event->key == kTrainingProgressEvent)
          reports.push_back(training_progress_from(event->value).value());
    return reports;
  }
  /// The lines of MLPerf's log with that key.
  std::vector<Json> lines(const std::string& key) const {
    std::vector<Json> lines;
    for (const Record& record : sink.records)
      if (const auto* event = std::get_if<Event>(&record.body))
        if (event->key == "mllog" && event->value.at("key") == key) lines.push_back(event->value);
    return lines;
  }
  /// Their values.
  std::vector<Json> logged(const std::string& key) const {
    std::vector<Json> values;
    for (const Json& line : lines(key)) values.push_back(line.at("value"));
    return values;
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const Record& record : sink.records)
      if (const auto* event = std::get_if<Event>(&record.body))
        if (event->key == "mllog") keys.push_back(event->value.at("key").get<std::string>());
    return keys;
  }
};

}  // namespace bench
