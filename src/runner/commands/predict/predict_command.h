// The subcommands of `benchctl predict`, and the options that several of them have.
#pragma once

#include <memory>
#include <string>

#include "results/predictions/model_shape.h"
#include "results/predictions/prediction.h"
#include "results/predictions/training_time.h"
#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"
#include "runner/hardware/hardware_entry.h"

namespace bench {

struct PredictOptions : ReadingOptions {
  std::string model, device;
  double sequence = 0.0;
  int devices = 1;
  PageOptions pages;

  ModelShape shape() const { return model_shape(model); }
  /// From the catalogue. Throws Error(input) for an unknown name, or one of several products.
  HardwareEntry hardware() const;
};

/// `share` of the peak of --device for a type, unless `given` is a rate.
ComputeRate attained_rate(const PredictOptions& options, double given, double share,
                          const std::string& dtype);

CLI::Validator not_negative();

/// A finite number of 0 or more.
template <class Value>
CLI::Option* add_number(CLI::App& command, const std::string& name, Value& value,
                        const std::string& type, const std::string& text) {
  return add_value(command, name, value, type, text)->check(not_negative());
}

void add_model_option(CLI::App& command, PredictOptions& options);
void add_device_option(CLI::App& command, PredictOptions& options, const std::string& text);
void add_answer_options(CLI::App& command, PredictOptions& options);
void print_prediction(const Prediction& prediction, const PredictOptions& options);

void add_predict_memory(CLI::App& predict, CommandResult& result);
void add_predict_collective(CLI::App& predict, CommandResult& result);
void add_predict_step(CLI::App& predict, CommandResult& result);
void add_predict_train(CLI::App& predict, CommandResult& result);
void add_predict_plan(CLI::App& predict, CommandResult& result);
void add_predict_checkpoint(CLI::App& predict, CommandResult& result);
void add_predict_serve(CLI::App& predict, CommandResult& result);
void add_predict_fleet(CLI::App& predict, CommandResult& result);

}  // namespace bench
