// The subcommands of `benchctl predict`, and the options that several of them have.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model_shape.h"
#include "results/predictions/prediction.h"
#include "results/predictions/training_time.h"
#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"
#include "runner/hardware/hardware_entry.h"

namespace bench {

struct PredictOptions : ReadingOptions {
  std::string model, device, dtype = "bf16";
  PageOptions pages;
  // What the answer is held against.
  std::string check, metric;
  std::vector<std::string> where = {};  // KEY=VALUE

  ModelShape shape() const { return model_shape(model); }
  /// From the catalogue. Throws Error(input) for an unknown name, or one of several products.
  HardwareEntry hardware() const;
};

/// What a device attains: `flops`, or the share `mfu` of the peak of --device.
struct RateOptions {
  double flops = 0.0, mfu = 0.5;
};
/// Throws Error(input) if the product has no known peak of the type.
ComputeRate attained_rate(const PredictOptions& options, const RateOptions& rate);

CLI::Validator not_negative();

/// A finite number of 0 or more.
template <class Value>
CLI::Option* add_number(CLI::App& command, const std::string& name, Value& value,
                        const std::string& type, const std::string& text) {
  return add_value(command, name, value, type, text)->check(not_negative());
}

void add_model_option(CLI::App& command, PredictOptions& options);
void add_dtype_option(CLI::App& command, PredictOptions& options);
void add_sequence_option(CLI::App& command, double& sequence);
void add_rate_options(CLI::App& command, PredictOptions& options, RateOptions& rate);
void add_device_option(CLI::App& command, PredictOptions& options, const std::string& text);
void add_answer_options(CLI::App& command, PredictOptions& options);
/// Also checks it against a measurement if asked to.
void print_prediction(Prediction prediction, const PredictOptions& options);

void add_predict_memory(CLI::App& predict, CommandResult& result);
void add_predict_collective(CLI::App& predict, CommandResult& result);
void add_predict_step(CLI::App& predict, CommandResult& result);
void add_predict_train(CLI::App& predict, CommandResult& result);
void add_predict_plan(CLI::App& predict, CommandResult& result);
void add_predict_checkpoint(CLI::App& predict, CommandResult& result);
void add_predict_serve(CLI::App& predict, CommandResult& result);
void add_predict_fleet(CLI::App& predict, CommandResult& result);

}  // namespace bench
