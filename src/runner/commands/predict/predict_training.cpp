// benchctl predict memory, step, train and plan.
#include "core/text.h"
#include "results/predictions/training_memory.h"
#include "results/predictions/training_plan.h"
#include "results/predictions/training_time.h"
#include "runner/commands/predict/predict_command.h"

namespace bench {
namespace {

constexpr const char* kSplitHelp =
    "Split over devices, such as tp=8,pp=4,dp=2,cp=1,ep=8,vp=1,zero=1 (default: one device)";

struct MemoryOptions : PredictOptions {
  std::string split, recompute = "none", optimizer = "adam";
  bool unfused = false;
  TrainingMemoryQuestion question = {};
};

double optimizer_bytes(const std::string& name) {
  if (name == "adam") return 12.0;      // a master copy in f32, two moments in f32
  if (name == "adam-bf16") return 8.0;  // master in f32, moments in bf16
  if (name == "adam-8bit") return 6.0;  // master in f32, moments in 8 bit
  if (name == "adam-f32") return 8.0;   // weights are f32 themselves: two moments
  if (name == "sgd") return 4.0;        // a master copy
  throw Error(ErrorKind::usage, "unknown optimizer '" + printable(name) + "'",
              "name adam, adam-bf16, adam-8bit, adam-f32 or sgd");
}

ExitCode print_memory(MemoryOptions& options) {
  TrainingMemoryQuestion& question = options.question;
  question.model = options.shape();
  question.split = training_split(options.split);
  question.recompute = kRecomputes.value(options.recompute, "recomputation");
  question.optimizer_bytes = optimizer_bytes(options.optimizer);
  question.fused_attention = !options.unfused;
  Prediction answer = predict_training_memory(question);
  bool fits = true;
  if (!options.device.empty()) {
    const HardwareEntry device = options.hardware();
    answer.input("device_memory_bytes", device.memory.bytes, device.name, PredictedUnit::bytes);
    answer.part("share_of_device", answer.value / device.memory.bytes, PredictedUnit::ratio);
    fits = answer.value <= device.memory.bytes;
    if (!fits) answer.notes.insert(answer.notes.begin(), "does not fit into " + device.name);
  }
  print_prediction(answer, options);
  return fits ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_predict_memory(CLI::App& predict, CommandResult& result) {
  CLI::App* command =
      predict.add_subcommand("memory", "Predict the memory of a device in a training");
  command->footer(
      "Example: benchctl predict memory --model llama3-70b --split tp=8,pp=4,dp=8,zero=1 --device "
      "h100-sxm5-80gb\n"
      "Exit codes: 0; 1 it does not fit into --device; 2 bad usage or input.");
  auto options = std::make_shared<MemoryOptions>();
  add_model_option(*command, *options);
  add_value(*command, "--split", options->split, "SPLIT", kSplitHelp);
  add_number(*command, "--micro-batch", options->question.micro_batch, "N:POSITIVE",
             "Set the sequences of a micro batch (default: 1)")
      ->check(CLI::PositiveNumber);
  add_number(*command, "--micro-batches", options->question.micro_batches, "N",
             "Set the micro batches of a step and device (default: enough to fill the pipeline)");
  add_sequence_option(*command, options->question.sequence);
  add_value(*command, "--recompute", options->recompute, "none|selective|full",
            "Compute activations again: none, those inside attention, or all of a layer (default: "
            "none)");
  add_value(*command, "--optimizer", options->optimizer, "NAME",
            "Set the optimizer: adam, adam-bf16, adam-8bit, adam-f32, sgd (default: adam)");
  add_number(*command, "--weight-bytes", options->question.weight_bytes, "N",
             "Set the bytes of a weight (default: 2)");
  add_number(*command, "--gradient-bytes", options->question.gradient_bytes, "N",
             "Set the bytes of a gradient (default: 2)");
  add_number(*command, "--activation-bytes", options->question.activation_bytes, "N",
             "Set the bytes of an activation (default: 2)");
  add_number(
      *command, "--offload", options->question.offload_bytes_per_second, "RATE",
      "Keep the optimizer's state on a disk or in the host's memory, which each device reads "
      "and writes at this rate in B/s (default: on the device)")
      ->check(CLI::PositiveNumber);
  command->add_flag("--unfused-attention", options->unfused,
                    "Keep the square of attention scores (default: fused attention)");
  add_device_option(*command, *options, "Say whether it fits into this product");
  add_answer_options(*command, *options);
  command->callback([options, &result] { result.code = print_memory(*options); });
}

namespace {

struct StepOptions : PredictOptions {
  std::string split;
  RateOptions rate = {};
  StepQuestion question = {};
};

}  // namespace

void add_predict_step(CLI::App& predict, CommandResult& result) {
  CLI::App* command = predict.add_subcommand(
      "step", "Predict the time of a training step: compute, communication, bubble");
  command->footer(
      "Example: benchctl predict step --model llama3-70b --split tp=8,pp=4,dp=8 --batch 512 "
      "--device "
      "h100-sxm5-80gb --tensor-bandwidth 370e9 --data-bandwidth 48e9");
  auto options = std::make_shared<StepOptions>();
  StepQuestion& question = options->question;
  add_model_option(*command, *options);
  add_value(*command, "--split", options->split, "SPLIT", kSplitHelp);
  add_number(*command, "--batch", question.global_batch, "N",
             "Set the sequences of a step over all devices")
      ->required();
  add_number(*command, "--micro-batch", question.micro_batch, "N",
             "Set the sequences of a micro batch (default: 1)");
  add_sequence_option(*command, question.sequence);
  add_rate_options(*command, *options, options->rate);
  add_device_option(*command, *options, "Take the peak of this product");
  add_number(*command, "--tensor-bandwidth", question.tensor_bytes_per_second, "RATE",
             "Set the bandwidth of a device to its tensor-parallel group, one direction, in B/s");
  add_number(*command, "--data-bandwidth", question.data_bytes_per_second, "RATE",
             "Set the bandwidth of a device to its data-parallel group, one direction, in B/s");
  add_number(*command, "--context-bandwidth", question.context_bytes_per_second, "RATE",
             "Set the bandwidth of a device to the next of its context-parallel group, in B/s");
  add_number(*command, "--expert-bandwidth", question.expert_bytes_per_second, "RATE",
             "Set the bandwidth of a device to its expert-parallel group, one direction, in B/s");
  add_number(*command, "--overlap", question.overlap, "SHARE",
             "Set the share of the gradient exchange that the backward pass hides (default: 0)")
      ->check(CLI::Range(0.0, 1.0));
  add_number(*command, "--input-time", question.input_s, "SECONDS",
             "Set the time to load the input of a step (default: 0)");
  add_answer_options(*command, *options);
  command->callback([options, &result] {
    options->question.model = options->shape();
    options->question.split = training_split(options->split);
    options->question.compute = attained_rate(*options, options->rate);
    print_prediction(predict_step(options->question), *options);
    result.code = ExitCode::ok;
  });
}

namespace {

struct TrainingTimeOptions : PredictOptions {
  double mfu = 0.0, price = 0.0, budget = 0.0;
  TrainQuestion question = {};
};

Prediction time_to_train(TrainingTimeOptions& options) {
  TrainQuestion& question = options.question;
  if (options.budget > 0.0) return predict_optimal_split(options.budget);
  if (options.model.empty() || !(question.tokens > 0.0))
    throw Error(ErrorKind::usage, "a model and a number of tokens are needed",
                "give --model and --tokens, or --budget for the compute-optimal model");
  question.model = options.shape();
  const ComputeRate peak = attained_rate(options, {.flops = question.peak_flops, .mfu = 1.0});
  question.peak_flops = peak.flops_per_second;
  question.peak_source = peak.source;
  if (options.mfu > 0.0) {
    question.mfu = options.mfu;
    question.mfu_low = 0.9 * options.mfu;
    question.mfu_high = std::min(1.0, 1.1 * options.mfu);
    question.mfu_source = "given";
  }
  if (options.price > 0.0) question.dollars_per_device_hour = options.price;
  return predict_train(question);
}

}  // namespace

void add_predict_train(CLI::App& predict, CommandResult& result) {
  CLI::App* command =
      predict.add_subcommand("train", "Predict days and cost of a training to a number of tokens");
  command->footer(
      "Example: benchctl predict train --model llama3-8b --tokens 1e12 --device h100-sxm5-80gb "
      "--devices 256 --price 2.5\n"
      "         benchctl predict train --budget 1e23");
  auto options = std::make_shared<TrainingTimeOptions>();
  add_model_option(*command, *options);
  command->get_option("--model")->required(false);
  add_number(*command, "--tokens", options->question.tokens, "N", "Train on so many tokens");
  add_number(*command, "--budget", options->budget, "FLOP",
             "Predict the compute-optimal model for this number of operations instead");
  add_sequence_option(*command, options->question.sequence);
  add_device_option(*command, *options, "Train on this product");
  add_number(*command, "--devices", options->question.devices, "N",
             "Train on so many devices (default: 1)")
      ->check(CLI::PositiveNumber);
  add_number(*command, "--peak", options->question.peak_flops, "RATE",
             "Set the peak of a device in FLOP/s (default: that of --device)");
  add_dtype_option(*command, *options);
  add_value(
      *command, "--mfu", options->mfu, "SHARE",
      "Set the model FLOPs utilisation, such as one that was measured (default: 0.35 to 0.45)");
  add_number(*command, "--goodput", options->question.available, "SHARE",
             "Set the share of the time in which the training advances (default: 1)")
      ->check(CLI::Range(0.01, 1.0));
  add_number(*command, "--price", options->price, "DOLLARS", "Set the price of a device and hour");
  add_answer_options(*command, *options);
  command->callback([options, &result] {
    print_prediction(time_to_train(*options), *options);
    result.code = ExitCode::ok;
  });
}

namespace {

struct PlanOptions : PredictOptions {
  RateOptions rate = {};
  PlanQuestion question = {};
};

Prediction plan_of(PlanOptions& options) {
  PlanQuestion& question = options.question;
  question.model = options.shape();
  const HardwareEntry device = options.hardware();
  question.device_memory_bytes = device.memory.bytes;
  question.device = device.name;
  question.compute = attained_rate(options, options.rate);
  if (question.node_bytes_per_second == 0.0 && device.link)
    question.node_bytes_per_second = device.link->bytes_per_second;
  if (question.devices <= question.devices_per_node && question.between_bytes_per_second == 0.0)
    question.between_bytes_per_second = question.node_bytes_per_second;
  return predict_plan(question);
}

}  // namespace

void add_predict_plan(CLI::App& predict, CommandResult& result) {
  CLI::App* command = predict.add_subcommand(
      "plan", "Predict the fastest split of a training that fits into the devices");
  command->footer(
      "Example: benchctl predict plan --model llama3-70b --device h100-sxm5-80gb --devices 256 "
      "--batch 1024 --between-bandwidth 48e9 --tokens 1e12\n"
      "Measured rates (gemm.throughput, collective.busbw) make better plans than peaks.");
  auto options = std::make_shared<PlanOptions>();
  PlanQuestion& question = options->question;
  add_model_option(*command, *options);
  add_device_option(*command, *options, "Train on this product");
  command->get_option("--device")->required();
  add_number(*command, "--devices", question.devices, "N", "Train on so many devices (default: 8)")
      ->check(CLI::Range(1, 1'000'000));
  add_number(*command, "--per-node", question.devices_per_node, "N",
             "Set the devices of a node (default: 8)")
      ->check(CLI::Range(1, 1024));
  add_number(*command, "--batch", question.global_batch, "N",
             "Set the sequences of a step over all devices")
      ->required();
  add_sequence_option(*command, question.sequence);
  add_number(*command, "--tokens", question.tokens, "N", "Also predict the days to so many tokens");
  add_rate_options(*command, *options, options->rate);
  add_number(*command, "--node-bandwidth", question.node_bytes_per_second, "RATE",
             "Set the bandwidth of a device to others of its node, one direction, in B/s (default: "
             "the product's links)");
  add_number(*command, "--between-bandwidth", question.between_bytes_per_second, "RATE",
             "Set the bandwidth of a device to other nodes, one direction, in B/s");
  add_number(*command, "--overlap", question.overlap, "SHARE",
             "Set the share of the gradient exchange that the backward pass hides (default: 0.5)")
      ->check(CLI::Range(0.0, 1.0));
  add_number(*command, "--usable", question.usable, "SHARE",
             "Use at most this share of the memory (default: 0.9)")
      ->check(CLI::Range(0.01, 1.0));
  add_answer_options(*command, *options);
  command->callback([options, &result] {
    print_prediction(plan_of(*options), *options);
    result.code = ExitCode::ok;
  });
}

}  // namespace bench
