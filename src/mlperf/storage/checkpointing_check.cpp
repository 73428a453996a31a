// Checkpointing: ten checkpoints of a Llama 3 written, then read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "mlperf/storage/storage_subject.h"

namespace bench::mlperf::storage {
namespace {

constexpr double kAskedFor = 10;

/// Checkpoints asked for by an invocation.
struct Asked {
  double writes = 0, reads = 0;
};

std::optional<Asked> asked_of(const LoadedLeaf& one) {
  const auto count = [&](const char* key) {
    const auto argument = number_at(one.metadata(), {"args", key});
    return argument ? argument : number_at(parameters_of(one.metadata()), {"checkpoint", key});
  };
  const auto writes = count("num_checkpoints_write"), reads = count("num_checkpoints_read");
  if (!writes || !reads) return {};
  return Asked{std::max(0.0, *writes), std::max(0.0, *reads)};  // -1: none, in 2.0
}

/// Once for invocations of the same checkpoint on the same hosts.
void check_cache(Subject& subject) {
  constexpr double kSame = 1e-3;
  double known_size = 0.0, known_memory = 0.0;
  for (const LoadedLeaf& one : subject.run) {
    const auto size = number_at(one.summary(), {"metric", "checkpoint_size_GB"});
    const auto memory = numbers_at(one.summary(), {"host_memory_GB"});
    if (!size || !memory || memory->empty()) continue;
    const double all = mean_of(*memory) * static_cast<double>(memory->size());
    if (!differ(*size, known_size, kSame) && !differ(all, known_memory, kSame)) continue;
    if (*size >= 3.0 * all) continue;
    known_size = *size;
    known_memory = all;
    subject.add("4.3.1", one.files.summary.path,
                "the checkpoint fits the page caches: the caches must have been cleared between "
                "writing and reading",
                "3 x " + shown(all) + " GiB of memory", shown(*size) + " GiB");
  }
}

/// Whether only a part of the model was checkpointed.
bool is_subset(const LoadedLeaf& one) {
  const auto argument = flag_at(one.metadata(), {"args", "checkpoint_subset"});
  const auto changed = text_at(one.metadata(), {"override_parameters", "checkpoint.mode"});
  const auto mode = text_at(parameters_of(one.metadata()), {"checkpoint", "mode"});
  return argument.value_or(false) || changed.value_or("") == "subset" ||
         mode.value_or("") == "subset";
}

void check_processes(Subject& subject, const LoadedLeaf& one) {
  const CheckpointModel* model = checkpoint_model(subject.workload.model);
  auto processes = number_at(one.metadata(), {"args", "num_processes"});
  if (!processes) processes = number_at(one.metadata(), {"num_processes"});
  if (model == nullptr || !processes) return;
  constexpr double kSubset = 8;
  const bool subset = is_subset(one);
  if (subject.round >= 3 && subset && (model->size != "8b" || *processes != kSubset))
    subject.add("4.3.5", one.files.metadata.path, "only a part of the model was checkpointed",
                "the whole model, but of 8b by eight processes", shown(*processes) + " processes");
  if (subject.workload.closed()) {
    const bool allowed =
        *processes == model->processes || (subject.round == 2 && *processes == kSubset);
    if (!allowed)
      subject.add("4.6.1", one.files.metadata.path, "the number of processes is not the model's",
                  std::to_string(model->processes), shown(*processes));
  } else if (std::fmod(*processes, model->group) != 0.0) {
    subject.add("4.6.4", one.files.metadata.path,
                "the processes are no whole data-parallel instances",
                "a multiple of " + std::to_string(model->group), shown(*processes));
  }
}

void check_each_host(Subject& subject, const LoadedLeaf& one) {
  const auto hosts = number_at(one.summary(), {"num_hosts"});
  const auto accelerators = number_at(one.summary(), {"num_accelerators"});
  if (!subject.workload.closed() || !hosts || !accelerators || !(*hosts >= 1.0)) return;
  const double each = *accelerators / *hosts;
  if (each > 4.0) return;
  subject.add_as(each == 4.0 ? Severity::warning : Severity::error, "4.6.2", one.files.summary.path,
                 each == 4.0 ? "four accelerators a host: the text of the rule asks for more than "
                               "four, which is disputed"
                             : "too few accelerators a host",
                 "more than 4", shown(each));
}

/// Throughputs and durations of the checkpoints of a rank.
struct OwnCheckpoints {
  std::vector<double> rates, seconds;
};

OwnCheckpoints own_checkpoints(const Json& epochs, const std::string& prefix) {
  OwnCheckpoints own;
  if (!epochs.is_object()) return own;
  for (const auto& epoch : epochs)
    if (epoch.is_object())
      for (const auto& [name, one] : epoch.items()) {
        if (!name.starts_with(prefix)) continue;
        const auto rate = number_at(one, {"throughput"}), seconds = number_at(one, {"duration"});
        if (!rate || !seconds) continue;
        own.rates.push_back(*rate);
        own.seconds.push_back(*seconds);
      }
  return own;
}

void check_checkpoint_mean(Subject& subject, const LoadedLeaf& one,
                           const std::vector<double>& values, const std::string& metric) {
  const auto told = number_at(one.summary(), {"metric", metric.c_str()});
  if (!told || values.empty()) return;
  constexpr double kRounding = 1e-5;
  const double computed = mean_of(values);
  if (differ(computed, *told, kRounding))
    subject.add("mean.checkpoint", one.files.summary.path,
                metric + " is not the mean of the checkpoints of rank 0", shown(computed),
                shown(*told));
}

void check_means(Subject& subject, const LoadedLeaf& one) {
  const auto first = one.files.epochs.find(0);
  if (first == one.files.epochs.end()) return;
  const JsonFile file = read_json_file(first->second);
  for (const std::string kind : {"save", "load"}) {
    const OwnCheckpoints own = own_checkpoints(file.value, kind + "_ckpt");
    check_checkpoint_mean(subject, one, own.rates, kind + "_checkpoint_io_mean_GB_per_second");
    check_checkpoint_mean(subject, one, own.seconds, kind + "_checkpoint_duration_mean_seconds");
  }
}

/// Every rank's own count; many ranks with the same fault are one finding.
void check_counts(Subject& subject, const LoadedLeaf& one, const Asked& asked) {
  std::vector<std::string> wrong;
  for (const auto& [rank, path] : one.files.epochs) {
    const JsonFile file = read_json_file(path);
    check_json(subject, file);
    if (!file.ok()) continue;
    const auto writes = own_checkpoints(file.value, "save_ckpt").rates.size();
    const auto reads = own_checkpoints(file.value, "load_ckpt").rates.size();
    if (static_cast<double>(writes) != asked.writes || static_cast<double>(reads) != asked.reads)
      wrong.push_back(fmt::format("rank {}: {} and {}", rank, writes, reads));
  }
  if (wrong.empty()) return;
  constexpr std::size_t kMost = 4;
  const std::size_t count = wrong.size();
  wrong.resize(std::min(count, kMost));
  subject.add("ranks.checkpoints", one.leaf.folder,
              fmt::format("{} of {} ranks wrote or read another number of checkpoints than asked",
                          count, one.files.epochs.size()),
              fmt::format("{} written, {} read", asked.writes, asked.reads), join(wrong, "; "));
}

void check_sync(Subject& subject, const LoadedLeaf& one) {
  const auto sync = flag_at(parameters_of(one.metadata()), {"checkpoint", "fsync"});
  if (sync && !*sync)
    subject.add("4.3.2", one.files.metadata.path, "checkpoints were not flushed to storage",
                "fsync", "no fsync");
}

std::optional<double> begin_of(const LoadedLeaf& one) {
  for (const auto& time :
       {time_at(one.metadata(), {"invocation_start_time"}), time_at(one.summary(), {"start"})})
    if (time && !time->is_utc) return time->seconds;
  return {};
}

std::optional<double> end_of(const LoadedLeaf& one) {
  for (const auto& time :
       {time_at(one.metadata(), {"invocation_end_time"}), time_at(one.summary(), {"end"})})
    if (time && !time->is_utc) return time->seconds;
  return {};
}

void check_order(Subject& subject, const Asked& first, const Asked& second) {
  const bool right = first.writes == kAskedFor && first.reads == 0 && second.writes == 0 &&
                     second.reads == kAskedFor;
  if (!right)
    subject.add("4.7.1", subject.workload.folder,
                "the invocations are not ten writes, then ten reads", "10 and 0, then 0 and 10",
                fmt::format("{} and {}, then {} and {}", first.writes, first.reads, second.writes,
                            second.reads));
}

/// From the end of writing to the beginning of reading.
void check_gap(Subject& subject, const LoadedLeaf& written, const LoadedLeaf& read) {
  const auto end = end_of(written), begin = begin_of(read);
  if (!end || !begin) return;
  const double gap = *begin - *end;
  constexpr double kMost = 30;
  if (gap < 0.0)
    subject.add_as(Severity::warning, "4.7.1-gap", read.leaf.folder,
                   "reading begins before writing ends: another clock or time zone",
                   "0 to 30 s later", shown(gap) + " s");
  else if (gap > kMost)
    subject.add("4.7.1-gap", read.leaf.folder, "reading begins too long after writing ended",
                "at most 30 s", shown(gap) + " s");
}

void check_succession(Subject& subject, const LoadedLeaf& first, const LoadedLeaf& second) {
  const auto begin = begin_of(first), end = end_of(first), next = begin_of(second),
             last = end_of(second);
  if (!begin || !end || !next || !last) return;
  const double gap = *next - *end, longer = std::max(*end - *begin, *last - *next);
  if (gap >= longer && longer > 0.0)
    subject.add("2.1.24", second.leaf.folder, "the invocations do not follow each other",
                "less than " + shown(longer) + " s", shown(gap) + " s");
}

void check_invocations(Subject& subject) {
  const auto& runs = subject.run;
  if (runs.empty() || runs.size() > 2)
    subject.add("2.1.23", subject.workload.folder,
                "a checkpointing is one invocation, or two of which one writes and one reads",
                "1 or 2", std::to_string(runs.size()));
  if (runs.size() == 1) {
    const auto asked = asked_of(runs.front());
    if (asked && subject.workload.closed() &&
        (asked->writes != kAskedFor || asked->reads != kAskedFor))
      subject.add("4.7.1", runs.front().leaf.folder, "ten checkpoints must be written and ten read",
                  "10 and 10", fmt::format("{} and {}", asked->writes, asked->reads));
  }
  if (runs.size() != 2) return;
  const auto first = asked_of(runs[0]), second = asked_of(runs[1]);
  if (first && second && subject.workload.closed()) check_order(subject, *first, *second);
  // Nothing is handed over between invocations that write and read.
  if (first && second && !(first->reads > 0 && second->writes > 0))
    check_gap(subject, runs[0], runs[1]);
  check_succession(subject, runs[0], runs[1]);
}

}  // namespace

void check_checkpointing(Subject& subject) {
  const Workload& workload = subject.workload;
  if (checkpoint_model(workload.model) == nullptr)
    subject.add("2.1.21", workload.folder, "the model is not one of the round",
                "8b, 70b, 405b or 1t in its name", printable(workload.model));
  if (!is_there(workload.folder / "results.json"))
    subject.add("2.1.22", workload.folder, "results.json is missing");
  check_invocations(subject);
  check_cache(subject);
  for (const LoadedLeaf& one : subject.run) {
    check_processes(subject, one);
    check_each_host(subject, one);
    check_sync(subject, one);
    check_means(subject, one);
    if (const auto asked = asked_of(one)) check_counts(subject, one, *asked);
  }
  check_folders(subject, "4.4.1", {"checkpoint_folder"});
  check_separation(subject, "4.4.2");
}

}  // namespace bench::mlperf::storage
