// benchctl predict: what a training or a service needs, by formulas, from datasheets or
// measurements.
#include "runner/commands/predict/predict_command.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/text.h"
#include "results/output/predictions/prediction_output.h"
#include "runner/commands/predict/prediction_check.h"
#include "runner/hardware/hardware_catalogue.h"

namespace bench {

HardwareEntry PredictOptions::hardware() const {
  if (device.empty())
    throw Error(ErrorKind::usage, "a product is needed",
                "name it by --device (`benchctl list hardware`), or give its rates");
  const auto catalogue = HardwareCatalogue::installed();
  if (const HardwareEntry* exact = catalogue.find(device)) return *exact;
  const auto like = catalogue.like(device);
  if (like.size() == 1) return *like.front();
  std::vector<std::string> names;
  for (const HardwareEntry* one : like) names.push_back(one->name);
  if (!names.empty())
    throw Error(ErrorKind::input, "'" + printable(device) + "' is " + join(names, ", "),
                "name one of them");
  throw Error(
      ErrorKind::input,
      "unknown device '" + printable(device) + "'." + did_you_mean(device, catalogue.names()),
      "`benchctl list hardware` lists them");
}

ComputeRate attained_rate(const PredictOptions& options, const RateOptions& given) {
  ComputeRate rate{.flops_per_second = given.flops, .source = "given"};
  if (!(given.flops > 0.0)) {
    const HardwareEntry device = options.hardware();
    const HardwarePeak* peak = device.peak(options.dtype);
    if (peak == nullptr)
      throw Error(ErrorKind::input, device.name + " has no peak of " + printable(options.dtype),
                  "name another --dtype, or give the rate");
    rate.flops_per_second = peak->operations_per_second * given.mfu;
    rate.source = fmt::format("{:g} % of {}'s peak", 100 * given.mfu, device.name);
  }
  rate.low = 0.9 * rate.flops_per_second;
  rate.high = 1.1 * rate.flops_per_second;
  return rate;
}

CLI::Validator not_negative() {
  return CLI::Validator(
      [](const std::string& text) {
        double number = 0.0;
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, number);
        const bool read = error == std::errc() && stop == end && std::isfinite(number);
        return read && number >= 0.0 ? std::string()
                                     : "'" + printable(text) + "' is not a number of 0 or more";
      },
      "");
}

void add_model_option(CLI::App& command, PredictOptions& options) {
  add_value(command, "--model", options.model, "NAME|FILE",
            "Predict for this model: llama3-8b, gpt2-124m, deepseek-v3, ..., or a JSON file "
            "(schemas/model.json)")
      ->required();
}

void add_dtype_option(CLI::App& command, PredictOptions& options) {
  add_value(command, "--dtype", options.dtype, "TYPE", "Set the type of products (default: bf16)");
}

void add_sequence_option(CLI::App& command, double& sequence) {
  add_number(command, "--sequence", sequence, "TOKENS",
             "Set the tokens of a sequence (default: the model's)");
}

void add_rate_options(CLI::App& command, PredictOptions& options, RateOptions& rate) {
  add_number(command, "--flops", rate.flops, "RATE",
             "Set the rate that a device attains on the model's products, in FLOP/s (default: "
             "--mfu of the peak of --device)");
  add_number(command, "--mfu", rate.mfu, "SHARE",
             "Set the share of the peak that products attain (default: 0.5)");
  add_dtype_option(command, options);
}

void add_device_option(CLI::App& command, PredictOptions& options, const std::string& text) {
  add_value(command, "--device", options.device, "NAME", text);
}

void add_answer_options(CLI::App& command, PredictOptions& options) {
  add_value(command, "--check", options.check, "SIDE",
            "Hold the answer against this measurement: a run, latest, label:NAME=VALUE, ...");
  add_value(command, "--metric", options.metric, "NAME",
            "Check against this metric (default: the question's own, such as collective.latency)");
  add_value(command, "--where", options.where, "KEY=VALUE",
            "Check against the series with this parameter (repeatable)");
  add_page_options(command, options.pages);
  add_reading_options(command, options);
}

void print_prediction(Prediction prediction, const PredictOptions& options) {
  if (!options.check.empty()) prediction.check = check_prediction(prediction, options);
  show([&] { return to_document(prediction); }, [&] { return to_json(prediction); }, options.json,
       options.pages);
}

void add_predict(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand("predict",
                                         "Predict memory, time and cost: memory, collective, step, "
                                         "train, plan, checkpoint, serve, fleet");
  command->require_subcommand(1);
  command->footer("Example: benchctl predict memory --model llama3-8b --split dp=8,zero=1");
  add_predict_memory(*command, result);
  add_predict_collective(*command, result);
  add_predict_step(*command, result);
  add_predict_train(*command, result);
  add_predict_plan(*command, result);
  add_predict_checkpoint(*command, result);
  add_predict_serve(*command, result);
  add_predict_fleet(*command, result);
}

}  // namespace bench
