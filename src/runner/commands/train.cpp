// benchctl train WORKLOAD: trains to a quality target, once for each seed, and reports time to
// train.
#include <filesystem>

#include "runner/commands/command.h"
#include "runner/commands/plan_options.h"
#include "runner/commands/report_output.h"
#include "runner/commands/training_answer.h"
#include "runner/dispatch/execute.h"
#include "runner/plan/train_suite.h"

namespace bench {
namespace {

constexpr std::uint64_t kLargestBatch = std::uint64_t{1} << 24;       // the probe's limit
constexpr std::uint64_t kLargestSeed = (std::uint64_t{1} << 53) - 1;  // the probe's limit

struct TrainOptions : PlanOptions, TrainingAnswer {
  TrainRequest request;
  int runs_asked = 0;  // 0: one per seed
  std::string seeds, ranks, scaling, batches, split, exchange;
  std::vector<std::string> labels;
};

std::vector<std::uint64_t> seeds_of(const TrainOptions& options) {
  if (!options.seeds.empty()) {
    auto seeds = numbers_from(options.seeds, "--seeds", 1, kLargestSeed);
    if (options.runs_asked > 0 && seeds.size() != static_cast<std::size_t>(options.runs_asked))
      throw Error(ErrorKind::usage,
                  "--runs " + std::to_string(options.runs_asked) + " and " +
                      std::to_string(seeds.size()) + " seeds",
                  "remove --runs or --seeds: each seed is one run");
    return seeds;
  }
  std::vector<std::uint64_t> seeds;
  for (int i = 1; i <= std::max(1, options.runs_asked); ++i)
    seeds.push_back(static_cast<std::uint64_t>(i));
  return seeds;
}

/// Ranks start in another folder and on other hosts.
void make_absolute(std::string& path) {
  if (!path.empty()) path = std::filesystem::absolute(path).lexically_normal().string();
}

TrainRequest request_of(const TrainOptions& options) {
  TrainRequest request = options.request;
  request.seeds = seeds_of(options);
  request.hosts = !options.hosts.empty();
  make_absolute(request.data);
  make_absolute(request.evaluation_data);
  make_absolute(request.export_to);
  make_absolute(request.offload);
  if (!options.ranks.empty())
    for (const std::uint64_t ranks : numbers_from(options.ranks, "--ranks", 1, 65536))
      request.ranks.push_back(static_cast<int>(ranks));
  if (!options.batches.empty())
    for (const std::uint64_t batch : numbers_from(options.batches, "--batches", 1, kLargestBatch))
      request.batches.push_back(static_cast<std::int64_t>(batch));
  if (!options.split.empty()) request.split = split_from(options.split);
  if (!options.exchange.empty()) request.exchange = exchange_from(options.exchange);
  const SplitRequest& split = request.split;
  if (request.ranks.empty() && !request.hosts && !options.split.empty())
    request.ranks = {split.ranks()};
  if (split.divides_model() && !request.lanes) request.lanes = 1;
  if (options.scaling == "strong") request.scaling = ScalingKind::strong;
  if (options.scaling == "weak") request.scaling = ScalingKind::weak;
  const bool here = request.ranks.size() > 1 && !request.hosts && request.device == "host";
  if (here && !request.lanes)
    request.lanes = lanes_of_scaling(this_host_only().hosts.front().slots, request.ranks);
  return request;
}

ExitCode train(const TrainOptions& options) {
  const auto labels = labels_from(options.labels);
  const TrainRequest wanted = request_of(options);
  const auto database = options.database();
  PlannedRun planned = plan_from(options, database, [&](const ProbeCatalogue& catalogue) {
    return suite_from_text(dump(train_suite(wanted)), "train", catalogue, options.changes);
  });
  if (!options.split.empty())
    for (const PlanEntry& entry : planned.plan.entries)
      if (entry.job.probe == "training") check_ranks_of_split(wanted.split, entry.job.ranks);
  for (const PlanEntry& entry : planned.plan.entries)
    if (entry.job.probe == "training") check_ranks_of_exchange(wanted.exchange, entry.job.ranks);
  if (wanted.scaling == ScalingKind::weak)
    fix_batch_of_rank(planned.plan, *wanted.batch, planned.catalogue);
  RunRequest request = run_request(options, std::move(planned.plan), database);
  request.labels = Json(labels);
  const Executed run = execute(request, planned.catalogue, planned.site);
  const bool indexed = index_run(run.directory.path(), database, !run.finished).has_value();
  return answer_training({run.directory.path()}, indexed, options);
}

void add_what(CLI::App& command, TrainOptions& options) {
  TrainRequest& request = options.request;
  add_value(command, "workload", request.workload, "WORKLOAD",
            "Train this workload: llm, lora, dlrm, two_tower, hstu, moe, flow, detect, image, "
            "rgat or grpo")
      ->required();
  add_value(command, "--preset", request.preset, "PRESET",
            "Choose the model size: tiny, small, ... (default: tiny)");
  add_value(command, "--runs", options.runs_asked, "N",
            "Run this many trainings, with seeds 1, 2, ... (default: 1)")
      ->check(CLI::Range(1, 10000));
  add_value(command, "--seeds", options.seeds, "A,B,..",
            "Set the seeds of the runs (default: 1 to N)");
  add_value(command, "--steps", request.steps, "N",
            "Measure only throughput over this many steps (default: train to the target)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  add_value(
      command, "--dtype", request.dtype, "TYPE",
      "Compute in f32, bf16 or f16 (default: f32; on GPUs bf16 beyond tiny for llm, lora, hstu, "
      "flow, detect, image, rgat and grpo)");
  add_value(command, "--batch", request.batch, "N",
            "Set the global batch size, or with --scaling weak the batch size per rank "
            "(default: the preset's)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  add_value(command, "--batches", options.batches, "A,B,..",
            "Compare these batch sizes: throughput, memory, and quality after as many samples");
  add_value(command, "--samples", request.samples, "N",
            "With --batches: train each on this many samples (default: 50 steps of the largest)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 50));
  command.add_flag("--largest-batch", request.largest_batch,
                   "Find the largest batch that fits into memory and train it for --steps steps "
                   "(default: 5)");
  add_value(command, "--target", request.target, "G",
            "Train to this gap from the best attainable quality (default: the preset's)");
  add_value(
      command, "--data", request.data, "PATH",
      "Train on this file or folder: tokens of llm.c or nanoGPT, Criteo logs, or tars of JPEGs "
      "(default: generated samples)");
  add_value(command, "--evaluation-data", request.evaluation_data, "PATH",
            "Evaluate on this file or folder (default: val or test in the folder of --data)");
  add_value(command, "--vocabulary", request.vocabulary, "N",
            "Set the vocabulary size for token files without a header, such as nanoGPT's")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 24));
  add_value(command, "--export", request.export_to, "FOLDER",
            "Write the weights of llm or grpo there, as safetensors with config.json and checksum; "
            "{seed} in its name is replaced (default: keep none)");
  command.add_flag("--profile", request.profile,
                   "Record where steps spend time and memory, operator by operator");
  add_repeated(command, "--set", options.changes.set,
               "Set a probe parameter, e.g. train.shard_optimizer=true (with --scaling: "
               "ranks_2.shard_optimizer=true); may be repeated")
      ->type_name("CASE.PARAM=VALUE");
}

void add_where(CLI::App& command, TrainOptions& options) {
  TrainRequest& request = options.request;
  add_value(command, "--ranks", options.ranks, "R",
            "Start this many ranks per host; a list such as 1,2,4 measures scaling (default: 1)");
  add_value(
      command, "--split", options.split, "tp=T,pp=P,..",
      "Divide a model over ranks. ep: the experts of moe. Of llm, tp: matrices and vocabulary, "
      "sp=1: "
      "rows too, cp: the tokens of samples, pp: layers, vp: those of a stage into chunks that "
      "interleave, zb=1: a zero-bubble schedule, zero=1, 2 or 3: what copies share. dp: copies "
      "(default: over all ranks)");
  add_value(
      command, "--exchange", options.exchange, "topk=S|powersgd=R|local=H",
      "Exchange less between ranks: a share S of each gradient's elements, factors of rank R, or "
      "parameters every H steps, e.g. --ranks 2 --exchange local=32 (default: full)");
  add_value(
      command, "--offload", request.offload, "FOLDER",
      "Keep optimizer state in files in this folder of each host, on a disk, instead of memory "
      "(default: in memory)");
  add_value(command, "--hosts", options.hosts, "FILE",
            "Train on all hosts in this hosts file together (default: this host)");
  command.add_option("--device", request.device, "Train on host or cuda (default: host)")
      ->check(CLI::IsMember({"host", "cuda"}));
  add_value(
      command, "--lanes", request.lanes, "T",
      "Use this many threads per rank (default: all its CPUs; for scaling over ranks on this "
      "host, each rank's share at the largest number of ranks, rounded down to a power of two)")
      ->check(CLI::Range(1, 65536));
  command
      .add_option("--scaling", options.scaling,
                  "Measure strong (fixed global batch) or weak (fixed batch per rank) scaling over "
                  "the numbers in --ranks, or with --hosts over 1, 2, 4, ... hosts")
      ->check(CLI::IsMember({"strong", "weak"}));
  add_value(command, "--timeout", request.timeout_s, "SECONDS",
            "Stop a run that takes longer (default: one day)")
      ->check(CLI::Range(1.0, 1e7));
  add_repeated(command, "--label", options.labels, "Label the run; may be repeated")
      ->type_name("KEY=VALUE");
  command.add_flag("!--no-telemetry", request.telemetry, "Disable power and temperature telemetry");
}

}  // namespace

void add_train(CLI::App& app, CommandResult& result) {
  CLI::App* command =
      app.add_subcommand("train", "Train a model to a quality target and report time to train");
  command->footer(
      "Example: benchctl train llm --preset tiny --runs 5 --html training.html\n"
      "Exit codes: 0 all runs reached their target; 1 one did not, or another check failed; 3 one "
      "could not be measured.\n"
      "Workloads resemble MLPerf benchmarks; results are not MLPerf results.");
  auto options = std::make_shared<TrainOptions>();
  add_what(*command, *options);
  add_where(*command, *options);
  add_dispatch_options(*command, *options);
  add_live_gauges(*command, *options);
  add_training_answer(*command, *options);
  command->callback([options, &result] { result.code = train(*options); });
}

}  // namespace bench
