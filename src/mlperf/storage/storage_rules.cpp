#include "mlperf/storage/storage_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/error.h"
#include "core/text.h"

namespace bench::mlperf::storage {

const std::vector<StorageRule>& storage_rules() {
  using enum Severity;
  static const std::vector<StorageRule> rules = {
      {"2.1.5", "An organisation has results and systems, and nothing else.",
       "Folders of the organisation; code lies in a pool next to the divisions.", error, error},
      {"2.1.6", "The code that ran is part of the submission.",
       ".mlps-code-image of each invocation names a folder code-HASH of the organisation's pool, "
       "where there is a pool.",
       error, error},
      {"2.1.7", "Each system has a description and a diagram: SYSTEM.yaml and SYSTEM.pdf.",
       "The files of systems/ are paired by their names; fields of the YAML, power supplies, and "
       "the sum of its rack units.",
       error, error},
      {"2.1.8", "Each system with results is described, and each described one has results.",
       "Folders of results/ against the names of systems/, and submission_name.", error, error},
      {"2.1.9", "The hosts of a run are the clients of the description.",
       "num_hosts against the quantities of clients, host_memory_GB against memory_capacity within "
       "10 %, multi_host.",
       error, error},
      {"2.1.10", "A system's results are training, checkpointing, kv_cache and vector_database.",
       "Names of the folders below results/SYSTEM.", error, error},
      {"2.1.11", "A training's model is one of the round.",
       "unet3d, retinanet (3.0); unet3d, resnet50, cosmoflow (2.0).", error, error},
      {"2.1.12", "A training has the phases datasize (from 3.0 on), datagen and run.",
       "Folders of the model.", warning, error},
      {"2.1.13", "Data were generated once.", "Folders of datagen.", error, error},
      {"2.1.16", "The table of the runs, results.json, is there.", "results.json of run/.", error,
       error},
      {"2.1.17", "A training was run six times: once to warm up, then five times.",
       "Folders of run/ named YYYYMMDD_HHMMSS.", error, error},
      {"2.1.18", "The runs of a training follow each other.",
       "From the beginning of a run to that of the next there is less than twice the time of the "
       "shortest.",
       error, error},
      {"2.1.19", "A run has its logs, its summary and a file of each kind for its ranks.",
       "Names of the files; DLIO writes PHASE.stdout.log, PHASE.stderr.log, dlio.log, "
       "summary.json, "
       "RANK_output.json, RANK_per_epoch_stats.json.",
       error, error},
      {"2.1.20", "A run has its configuration: config.yaml, hydra.yaml, overrides.yaml.",
       "Files of dlio_config/.", error, error},
      {"2.1.21", "A checkpointing's model is one of the round.", "Llama 3 of 8b, 70b, 405b, 1t.",
       error, error},
      {"2.1.22", "The table of a checkpointing, results.json, is there.",
       "results.json of the model's folder.", error, error},
      {"2.1.23", "A checkpointing is one invocation, or one that writes and one that reads.",
       "Folders of the model.", error, error},
      {"2.1.24", "Two invocations of a checkpointing follow each other.",
       "From the end of the first to the beginning of the second there is less than the longer one "
       "took.",
       warning, error},
      {"2.1.25", "An invocation has its logs, its summary and a file of each kind for its ranks.",
       "As 2.1.19, of a checkpointing.", error, error},
      {"2.1.26", "An invocation has its configuration: config.yaml, hydra.yaml, overrides.yaml.",
       "Files of dlio_config/.", error, error},
      {"3.1.2",
       "The data set is large enough: 500 steps of all accelerators, and five times the "
       "memory of all hosts.",
       "files >= max(500 x batch x accelerators, 5 x sum of host_memory_GB x 2^30 / record) / "
       "samples of a file.",
       error, error},
      {"3.2.1", "As much data were generated as are read.",
       "num_files_train of datagen and of each run.", error, error},
      {"3.3.1", "The data set has the size that was computed for it.",
       "num_files_train of datasize <= run <= datagen, and the same number of folders.", warning,
       error},
      {"3.3.2", "The accelerators were used enough in each run.",
       "train_au_meet_expectation is success, and train_au_mean_percentage is at least that of the "
       "model: unet3d 90, retinanet 85, resnet50 90, cosmoflow 70.",
       error, error},
      {"3.3.3", "A single host has at least four accelerators.", "num_hosts and num_accelerators.",
       warning, warning},
      {"3.3.4", "All hosts that were named took part.", "num_hosts against args.hosts.", error,
       error},
      {"3.3.6", "Each host has as many accelerators as the others.",
       "num_accelerators is a multiple of num_hosts; ranks by hostname, where rank files are "
       "there.",
       error, error},
      {"3.4.1", "Data and results lie in different folders.", "args.data_dir and args.results_dir.",
       error, error},
      {"3.4.2", "Data and results lie in different file systems.",
       "same_filesystem of fs_separation.json; not of object storage. What df printed into the "
       "log, "
       "which the official checker takes instead, is not read.",
       warning, error},
      {"3.6.2", "Only parameters that the division allows were changed.",
       "Keys of override_parameters.", warning, error},
      {"accelerator.round", "The accelerator is one of the round.",
       "args.accelerator_type: a100, h100 in 2.0, b200, mi355 in 3.0.", error, error},
      {"4.3.1",
       "The page cache cannot have served the checkpoint: it has at least three times the "
       "memory, or caches were cleared.",
       "checkpoint_size_GB >= 3 x sum of host_memory_GB.", warning, warning},
      {"4.3.2", "Checkpoints were flushed to storage.", "parameters.checkpoint.fsync.", error,
       error},
      {"4.3.5", "Only the smallest model may be checkpointed in part, by eight processes (3.0).",
       "args.checkpoint_subset and checkpoint.mode.", error, error},
      {"4.4.1", "Checkpoints and results lie in different folders.",
       "args.checkpoint_folder and args.results_dir.", error, error},
      {"4.4.2", "Checkpoints and results lie in different file systems.",
       "same_filesystem of fs_separation.json.", warning, error},
      {"4.6.1", "The model is checkpointed by as many processes as its table says (closed).",
       "args.num_processes: 8, 64, 512, 1024; in 2.0 also 8.", error, error},
      {"4.6.2", "A host checkpoints for at least four accelerators (closed).",
       "num_accelerators / num_hosts. The text asks for more than four; published rows with four "
       "are disputed, so four is a warning here.",
       error, error},
      {"4.6.4", "The processes are whole data-parallel instances (open).",
       "args.num_processes is a multiple of 1, 8, 256, 512.", error, error},
      {"4.7.1", "Ten checkpoints were written, then ten read.",
       "args.num_checkpoints_write and _read of the invocations in their order.", error, error},
      {"4.7.1-gap", "Reading begins at most 30 s after writing ended.",
       "From the end of the invocation that only writes to the beginning of the one that only "
       "reads, both in the client's time zone.",
       warning, error},
      {"4.7.4", "The description says whether hosts read and write at the same time.",
       "simultaneous_write and simultaneous_read of the description: neither is false where one "
       "invocation wrote and read on several hosts.",
       warning, warning},
      {"5.1.1", "A vector database says how many vectors of which dimension it holds.",
       "num_vectors and dimension of summary.json.", error, error},
      {"5.1.2", "Vectors that are queried have the dimension of those that were loaded.",
       "dimension of the summaries of datagen and run.", error, error},
      {"5.2.1", "All vectors were inserted.", "inserted_vectors >= num_vectors.", error, error},
      {"5.3.1", "A vector database was queried five times.", "Folders of run/.", error, error},
      {"5.3.2", "Recall was measured and is above zero.",
       "recall of summary.json, else of recall_stats.json.", error, error},
      {"5.3.4", "Throughput and latencies are there.",
       "throughput_qps, mean, p95, p99 and p999 of latency.", error, error},
      {"5.3.5", "The reference for recall covers all vectors.",
       "flat_setup of result_verdict.json: ok, coverage 1.", warning, error},
      {"5.4.1", "Storage of the database and results are named and differ.",
       "args.storage_root (data_dir, vdb_data_path) and args.results_dir; not of object storage.",
       warning, error},
      {"5.4.2", "Database and results lie in different file systems.",
       "same_filesystem of fs_separation.json.", warning, error},
      {"5.6.2", "The database is Milvus (closed).", "database.database of summary.json.", error,
       error},
      {"5.6.3", "The index is DISKANN, HNSW or AISAQ, and that of the folder (closed).",
       "index_type of summary.json; the folder's name.", error, error},
      {"6.3.2", "A KV cache was run as the table says (closed).",
       "args: seed 42, trials 3, inter_option_delay 90.", warning, error},
      {"6.3.3", "Each rank of each trial of each option left its result.",
       "option_1..3/trial_T/rank_R/kvcache_results_*.json; partial_failure, missing_files and "
       "trial_failures of summary.json. The official checker has no rule for it.",
       warning, error},
      {"6.3.4", "Blocks went to storage in options 1 and 3.",
       "storage_entries of each rank. The official checker has no rule for it.", warning, error},
      {"runs.several", "A KV cache's row shows one run.",
       "Folders of run/ with a summary that tells of no failures. The newest is shown, and the "
       "others are not.",
       warning, warning},
      {"leaf.metadata", "An invocation says what it was.",
       "Exactly one *_metadata.json; without it most other rules cannot be checked.", warning,
       error},
      {"leaf.summary", "An invocation has its summary.",
       "summary.json of a KV cache's runs, and of a vector database's loads and runs.", warning,
       error},
      {"leaf.json", "Files are JSON.", "summary.json, metadata and files of ranks.", error, error},
      {"leaf.pruned", "A file was replaced before publication.",
       "It holds the words PRUNED BY STAFF.", note, note},
      {"ranks.missing", "Each rank left its files.",
       "RANK_output.json and RANK_per_epoch_stats.json from 0 to num_accelerators - 1.", warning,
       warning},
      {"ranks.checkpoints", "Each rank wrote and read as many checkpoints as asked.",
       "save_ckpt and load_ckpt entries of RANK_per_epoch_stats.json.", error, error},
      {"hosts.missing", "As many hosts took part as the summary says.",
       "hostname of each RANK_output.json against num_hosts.", error, error},
      {"mean.training", "Means are those of their lists.",
       "train_au and train_throughput over epochs, and MiB/s = samples/s x record.", error, error},
      {"mean.checkpoint", "Means are those of the checkpoints of rank 0.",
       "save and load throughput and duration of 0_per_epoch_stats.json.", error, error},
      {"mean.kv_cache", "Sums over ranks, averaged over trials, are those of the ranks' files.",
       "tier_storage_read_bandwidth_gbps, tier_storage_write_bandwidth_gbps.", error, error},
      {"mean.vector_database", "The rate is queries over time.",
       "throughput_qps against query_count / total_time_seconds of summary.json.", error, error},
      {"time.order", "Nothing ends before it begins.", "start and end of summary.json.", error,
       error},
      {"time.clock", "The client's clocks agree.",
       "start of summary.json lies at most ten minutes after the folder's stamp, and not before.",
       warning, warning},
  };
  return rules;
}

const StorageRule& storage_rule(std::string_view id) {
  const auto found = std::ranges::find(storage_rules(), id, &StorageRule::id);
  if (found == storage_rules().end())
    throw Error(ErrorKind::internal, "there is no rule " + std::string(id));
  return *found;
}

namespace {

// Workload files of mlpstorage 2.0 and 3.0 (configs/dlio/workload).
constexpr std::array kTrainingModels = {
    TrainingModel{"unet3d", "a100", 7, 146600628, 1, 0.636, 5, 0.90},
    TrainingModel{"unet3d", "h100", 7, 146600628, 1, 0.323, 5, 0.90},
    TrainingModel{"unet3d", "b200", 7, 146600628, 1, 0.162, 5, 0.90},
    TrainingModel{"resnet50", "a100", 400, 114660.07, 1251, 0.435, 5, 0.90},
    TrainingModel{"resnet50", "h100", 400, 114660.07, 1251, 0.224, 5, 0.90},
    TrainingModel{"cosmoflow", "a100", 1, 2828486, 1, 0.00551, 5, 0.70},
    TrainingModel{"cosmoflow", "h100", 1, 2828486, 1, 0.00350, 5, 0.70},
    TrainingModel{"retinanet", "b200", 24, 322957, 1, 0.04755, 8, 0.85},
    TrainingModel{"retinanet", "mi355", 32, 322957, 1, 0.0634, 8, 0.85},
};

constexpr std::array kCheckpointModels = {
    CheckpointModel{"8b", 8, 1}, CheckpointModel{"70b", 64, 8}, CheckpointModel{"405b", 512, 256},
    CheckpointModel{"1t", 1024, 512}};

}  // namespace

namespace {

/// "unet3d" of "unet3d_h100".
std::string_view without_accelerator(std::string_view name) {
  for (const std::string_view ending : {"_a100", "_h100", "_b200", "_mi355"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

}  // namespace

const TrainingModel* any_training_model(std::string_view name) {
  const auto found =
      std::ranges::find(kTrainingModels, without_accelerator(name), &TrainingModel::name);
  return found == kTrainingModels.end() ? nullptr : &*found;
}

const TrainingModel* training_model(std::string_view name, std::string_view accelerator) {
  name = without_accelerator(name);
  const auto found = std::ranges::find_if(kTrainingModels, [&](const TrainingModel& one) {
    return one.name == name && one.accelerator == accelerator;
  });
  return found == kTrainingModels.end() ? nullptr : &*found;
}

bool is_training_model(std::string_view name, int round) {
  name = without_accelerator(name);
  if (name == "unet3d") return true;
  return round == 2 ? name == "resnet50" || name == "cosmoflow" : name == "retinanet";
}

const CheckpointModel* checkpoint_model(std::string_view name) {
  const CheckpointModel* found = nullptr;
  const std::string lower = to_lower(name);
  for (const CheckpointModel& one : kCheckpointModels) {
    const std::size_t at = lower.find(one.size);
    // "8b" is no part of "128b".
    if (at == std::string::npos || (at > 0 && is_digit(lower[at - 1]))) continue;
    if (found != nullptr) return nullptr;
    found = &one;
  }
  return found;
}

}  // namespace bench::mlperf::storage
