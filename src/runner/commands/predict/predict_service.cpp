// benchctl predict checkpoint, serve and fleet.
#include "results/predictions/checkpoint_time.h"
#include "results/predictions/serving.h"
#include "runner/commands/predict/predict_command.h"

namespace bench {
namespace {

struct CheckpointOptions : PredictOptions {
  double bytes_per_parameter = 14.0, mtbf_hours = 0.0;
  CheckpointQuestion question = {};
};

Prediction checkpoint_of(CheckpointOptions& options) {
  CheckpointQuestion& question = options.question;
  if (question.bytes == 0.0 && options.model.empty())
    throw Error(ErrorKind::usage, "the size of a checkpoint is unknown",
                "give --bytes, or --model for parameters x --bytes-per-parameter");
  if (question.bytes == 0.0) {
    const ModelShape model = options.shape();
    question.model = model.name;
    question.bytes = model.parameters() * options.bytes_per_parameter;
  }
  question.rate_source = "given";
  question.device_mtbf_s = options.mtbf_hours * kSecondsOfHour;
  return predict_checkpoint(question);
}

}  // namespace

void add_predict_checkpoint(CLI::App& predict, CommandResult& result) {
  CLI::App* command = predict.add_subcommand(
      "checkpoint", "Predict the best interval between checkpoints, and the goodput");
  command->footer(
      "Example: benchctl predict checkpoint --model llama3-405b --bandwidth 2e12 --devices 16384 "
      "--mtbf 45600 --restart 600\n"
      "The probe checkpoint measures --bandwidth and --stall.");
  auto options = std::make_shared<CheckpointOptions>();
  CheckpointQuestion& question = options->question;
  add_model_option(*command, *options);
  command->get_option("--model")->required(false);
  add_number(*command, "--bytes", question.bytes, "N",
             "Set the bytes of a checkpoint (default: parameters x --bytes-per-parameter)");
  add_number(*command, "--bytes-per-parameter", options->bytes_per_parameter, "N",
             "Set the bytes per parameter (default: 14, weights in 16 bit and Adam in f32)");
  add_number(*command, "--bandwidth", question.bytes_per_second, "RATE",
             "Set the write rate of all devices together, in B/s")
      ->required();
  add_number(*command, "--stall", question.stall_s, "SECONDS",
             "Set the time that the training waits for one (default: until it is written)");
  add_number(*command, "--devices", question.devices, "N", "Train on so many devices (default: 1)")
      ->check(CLI::PositiveNumber);
  add_number(*command, "--mtbf", options->mtbf_hours, "HOURS",
             "Set the mean time between failures of one device that stop the training, in hours")
      ->required();
  add_number(*command, "--restart", question.restart_s, "SECONDS",
             "Set the time from a failure to the first new step (default: 0)");
  add_number(*command, "--interval", question.interval_s, "SECONDS",
             "Predict the goodput of this interval (default: of the best one)");
  add_answer_options(*command, *options);
  command->callback([options, &result] {
    print_prediction(checkpoint_of(*options), *options);
    result.code = ExitCode::ok;
  });
}

namespace {

struct ServeOptions : PredictOptions {
  ServeQuestion question = {};
};

Prediction serve_of(ServeOptions& options) {
  ServeQuestion& question = options.question;
  question.model = options.shape();
  const HardwareEntry device = options.hardware();
  question.device_memory_bytes = device.memory.bytes;
  question.device_bytes_per_second = device.memory.bytes_per_second.value_or(0.0);
  question.device_source = device.name;
  if (const HardwarePeak* peak = device.peak(options.dtype))
    question.device_flops = peak->operations_per_second;
  if (!(question.device_bytes_per_second > 0.0))
    throw Error(ErrorKind::input, device.name + " has no known memory bandwidth",
                "name another --device");
  return predict_serve(question);
}

}  // namespace

void add_predict_serve(CLI::App& predict, CommandResult& result) {
  CLI::App* command = predict.add_subcommand(
      "serve", "Predict the least time of a token, and how many sequences fit");
  command->footer(
      "Example: benchctl predict serve --model llama3-70b --device h100-sxm5-80gb --devices 8 "
      "--batch "
      "64 --context 8192 --bound 0.03");
  auto options = std::make_shared<ServeOptions>();
  ServeQuestion& question = options->question;
  add_model_option(*command, *options);
  add_device_option(*command, *options, "Serve on this product");
  command->get_option("--device")->required();
  add_number(*command, "--devices", question.devices, "N",
             "Split the model over so many devices (default: 1)")
      ->check(CLI::PositiveNumber);
  add_number(*command, "--context", question.context, "TOKENS",
             "Set the tokens of each sequence (default: 4096)");
  add_number(*command, "--batch", question.batch, "N",
             "Serve so many sequences at once (default: 1)");
  add_number(*command, "--bound", question.bound_s, "SECONDS",
             "Also predict the largest batch whose tokens take no longer");
  add_number(*command, "--weight-bytes", question.weight_bytes, "N",
             "Set the bytes of a weight (default: 2)");
  add_number(*command, "--cache-bytes", question.cache_bytes, "N",
             "Set the bytes of a number in the KV cache (default: 2)");
  add_dtype_option(*command, *options);
  add_number(*command, "--draft", question.drafted, "TOKENS",
             "Predict the gain of speculative decoding with so many drafted tokens");
  add_number(*command, "--accept", question.accepted, "CHANCE",
             "Set the chance that a drafted token is accepted")
      ->check(CLI::Range(0.0, 1.0));
  add_number(*command, "--draft-cost", question.draft_cost, "SHARE",
             "Set the time to draft a token, relative to a step of the model");
  add_answer_options(*command, *options);
  command->callback([options, &result] {
    print_prediction(serve_of(*options), *options);
    result.code = ExitCode::ok;
  });
}

namespace {

struct FleetDemand : PredictOptions {
  double mtbf_hours = 0.0, repair_hours = 0.0;
  FleetQuestion question = {};
};

}  // namespace

void add_predict_fleet(CLI::App& predict, CommandResult& result) {
  CLI::App* command =
      predict.add_subcommand("fleet", "Predict how many devices a load needs, with failures");
  command->footer(
      "Example: benchctl predict fleet --load 2e6 --replica-rate 9000 --replica-devices 8 --mtbf "
      "45600 --repair 24");
  auto options = std::make_shared<FleetDemand>();
  FleetQuestion& question = options->question;
  add_number(*command, "--load", question.tokens_per_second, "RATE",
             "Serve so many tokens per second in all")
      ->required();
  add_number(*command, "--replica-rate", question.replica_tokens_per_second, "RATE",
             "Set the tokens per second of one replica of the model")
      ->required();
  add_number(*command, "--replica-devices", question.replica_devices, "N",
             "Set the devices of a replica (default: 1)")
      ->check(CLI::PositiveNumber);
  add_number(*command, "--use", question.use, "SHARE",
             "Load a replica to at most this share (default: 0.7)")
      ->check(CLI::Range(0.01, 1.0));
  add_number(*command, "--mtbf", options->mtbf_hours, "HOURS",
             "Set the mean time between failures of a device, in hours (default: none fails)");
  add_number(*command, "--repair", options->repair_hours, "HOURS",
             "Set the time until a replica serves again, in hours (default: 0)");
  add_number(*command, "--shortfall", question.shortfall, "SHARE",
             "Allow too few replicas for this share of the time (default: 0.001)")
      ->check(CLI::Range(1e-9, 0.5));
  add_answer_options(*command, *options);
  command->callback([options, &result] {
    options->question.device_mtbf_s = options->mtbf_hours * kSecondsOfHour;
    options->question.repair_s = options->repair_hours * kSecondsOfHour;
    print_prediction(predict_fleet(options->question), *options);
    result.code = ExitCode::ok;
  });
}

}  // namespace bench
