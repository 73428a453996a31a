// Training: unet3d, retinanet, resnet50, cosmoflow read by DLIO.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "mlperf/storage/storage_subject.h"

namespace bench::mlperf::storage {
namespace {

constexpr double kMebi = 1024.0 * 1024.0, kGibi = kMebi * 1024.0;

// Parameters of the rules' tables: section 3.6. What mlpstorage sets itself is allowed everywhere.

const std::set<std::string>& tool_parameters() {
  static const std::set<std::string> names = {"dataset.skip_listing",
                                              "dataset.listing_validation_interval",
                                              "dataset.num_files_generated",
                                              "dataset.total_disk_bytes",
                                              "dataset.data_folder",
                                              "storage.storage_type",
                                              "storage.storage_root",
                                              "storage.storage_options.storage_library",
                                              "storage.storage_options.uri_scheme",
                                              "storage.s3_force_path_style"};
  return names;
}

const std::set<std::string>& closed_parameters() {
  static const std::set<std::string> names = {"dataset.num_files_train",
                                              "dataset.num_subfolders_train",
                                              "reader.read_threads",
                                              "reader.computation_threads",
                                              "reader.transfer_size",
                                              "reader.prefetch_size",
                                              "reader.odirect",
                                              "storage.storage_options.prefetch_window",
                                              "checkpoint.checkpoint_folder"};
  return names;
}

const std::set<std::string>& open_parameters() {
  static const std::set<std::string> names = {"framework", "dataset.format",
                                              "dataset.num_samples_per_file", "reader.data_loader"};
  return names;
}

void check_parameters(Subject& subject, const LoadedLeaf& one) {
  const Json& changed = value_at(one.metadata(), {"override_parameters"});
  if (!changed.is_object()) return;
  std::vector<std::string> wrong;
  for (const auto& [name, value] : changed.items()) {
    if (tool_parameters().contains(name) || closed_parameters().contains(name)) continue;
    if (!subject.workload.closed() && open_parameters().contains(name)) continue;
    wrong.push_back(brief(name) + " = " + brief(excerpt(value)));
  }
  if (wrong.empty()) return;
  constexpr std::size_t kMost = 5;
  const std::size_t count = wrong.size();
  if (count > kMost) {
    wrong.resize(kMost);
    wrong.push_back(fmt::format("{} in all", count));
  }
  subject.add("3.6.2", one.files.metadata.path,
              fmt::format("parameters were changed that the {} division does not allow to change",
                          subject.workload.closed() ? "closed" : "open"),
              "", join(wrong, ", "));
}

struct Sizes {
  std::optional<double> files, subfolders;
};

Sizes sizes_of(const LoadedLeaf& one) {
  const Json& parameters = parameters_of(one.metadata());
  return {number_at(parameters, {"dataset", "num_files_train"}),
          number_at(parameters, {"dataset", "num_subfolders_train"})};
}

void check_size(Subject& subject, const LoadedLeaf& one) {
  const TrainingModel* model = training_model(subject.workload.model, accelerator_of(one));
  const auto files = number_at(one.summary(), {"num_files_train"});
  const auto accelerators = number_at(one.summary(), {"num_accelerators"});
  const auto memory = numbers_at(one.summary(), {"host_memory_GB"});
  if (model == nullptr || !files || !accelerators || !memory) return;
  double hosts = 0.0;
  for (const double one_host : *memory) hosts += one_host;  // only the sum means something
  const double by_steps = 500.0 * model->batch * *accelerators;
  const double by_memory = 5.0 * hosts * kGibi / model->record_bytes;
  const double least = std::ceil(std::max(by_steps, by_memory) / model->samples_a_file);
  // Tools before 3.0.43 rounded down, which the round let pass.
  const double allowed = subject.edition == Edition::closed_round ? 1.0 : 0.0;
  if (*files >= least - allowed) return;
  subject.add("3.1.2", one.files.summary.path,
              fmt::format("the data set is too small for {}",
                          by_memory > by_steps ? "the hosts' memory" : "500 steps"),
              "at least " + shown(least) + " files", shown(*files));
}

/// Whether two invocations name the same folder of data, or one of them none. mlpstorage appends
/// the model's name where it is not there.
bool same_data(const Subject& subject, const LoadedLeaf& one, const LoadedLeaf& other) {
  const auto folder = [&](const LoadedLeaf& leaf) -> std::optional<std::filesystem::path> {
    const auto text = text_at(leaf.metadata(), {"args", "data_dir"});
    if (!text || text->empty()) return {};
    std::filesystem::path path = without_last_slash(*text);
    return path.filename() == subject.workload.model ? path.parent_path() : path;
  };
  const auto first = folder(one), second = folder(other);
  return !first || !second || *first == *second;
}

void check_generated(Subject& subject, const LoadedLeaf& one) {
  const Sizes run = sizes_of(one);
  if (!run.files) return;
  for (const LoadedLeaf& made : subject.datagen) {
    if (!same_data(subject, made, one)) continue;
    const Sizes generated = sizes_of(made);
    if (generated.files && *generated.files < *run.files)
      subject.add("3.2.1", one.files.metadata.path, "more files are read than were generated",
                  "at most " + shown(*generated.files), shown(*run.files));
    if (generated.subfolders && run.subfolders && *generated.subfolders != *run.subfolders)
      subject.add("3.3.1", one.files.metadata.path,
                  "the run reads another number of folders than were generated",
                  shown(*generated.subfolders), shown(*run.subfolders));
  }
  for (const LoadedLeaf& computed : subject.datasize) {
    if (!same_data(subject, computed, one)) continue;
    const Sizes size = sizes_of(computed);
    if (size.files && *run.files < *size.files)
      subject.add("3.3.1", one.files.metadata.path,
                  "fewer files are read than were computed to be needed",
                  "at least " + shown(*size.files), shown(*run.files));
  }
}

void check_utilisation(Subject& subject, const LoadedLeaf& one) {
  const auto met = text_at(one.summary(), {"metric", "train_au_meet_expectation"});
  const auto mean = number_at(one.summary(), {"metric", "train_au_mean_percentage"});
  const TrainingModel* model = any_training_model(subject.workload.model);
  if (!met && !mean) {
    subject.add("3.3.2", one.files.summary.path, "the summary has no accelerator utilisation");
    return;
  }
  const double least = model == nullptr ? 0.0 : 100.0 * model->least_utilisation;
  if (mean && *mean < least)
    subject.add("3.3.2", one.files.summary.path, "the accelerators were not used enough",
                "at least " + shown(least) + " %", shown(*mean) + " %");
  else if (met && *met != "success")
    subject.add("3.3.2", one.files.summary.path, "the run says that it missed its utilisation",
                "success", brief(*met));
  if (mean && *mean > 100.0)
    subject.add("3.3.2", one.files.summary.path, "a utilisation above 100 % cannot be",
                "at most 100 %", shown(*mean) + " %");
}

void check_mean(Subject& subject, const LoadedLeaf& one, const char* list, const char* mean) {
  const auto values = numbers_at(one.summary(), {"metric", list});
  const auto told = number_at(one.summary(), {"metric", mean});
  if (!values || values->empty() || !told) return;
  constexpr double kRounding = 1e-6;
  const double computed = mean_of(*values);
  if (differ(computed, *told, kRounding))
    subject.add("mean.training", one.files.summary.path,
                fmt::format("{} is not the mean of {}", mean, list), shown(computed), shown(*told));
}

void check_rate(Subject& subject, const LoadedLeaf& one) {
  const auto samples =
      number_at(one.summary(), {"metric", "train_throughput_mean_samples_per_second"});
  const auto mebibytes = number_at(one.summary(), {"metric", "train_io_mean_MB_per_second"});
  const TrainingModel* model = any_training_model(subject.workload.model);
  if (!samples || !mebibytes || model == nullptr) return;
  const auto own = number_at(parameters_of(one.metadata()), {"dataset", "record_length_bytes"});
  const double computed = *samples * own.value_or(model->record_bytes) / kMebi;
  constexpr double kRounding = 1e-4;
  if (differ(computed, *mebibytes, kRounding))
    subject.add("mean.training", one.files.summary.path,
                "train_io_mean_MB_per_second is not the samples per second times their size in MiB",
                shown(computed), shown(*mebibytes));
}

/// Hosts of the arguments: a list, whose items may be joined by commas, or one such text.
std::size_t named_hosts(const LoadedLeaf& one) {
  const Json& named = value_at(one.metadata(), {"args", "hosts"});
  const auto in_text = [](const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, ',')) + 1;
  };
  if (named.is_string()) return in_text(named.get<std::string>());
  std::size_t count = 0;
  if (named.is_array())
    for (const Json& host : named) count += host.is_string() ? in_text(host.get<std::string>()) : 1;
  return count;
}

void check_shape(Subject& subject, const LoadedLeaf& one) {
  const auto hosts = number_at(one.summary(), {"num_hosts"});
  const auto accelerators = number_at(one.summary(), {"num_accelerators"});
  if (!hosts || !accelerators || !(*hosts >= 1.0)) return;
  if (*hosts == 1.0 && *accelerators < 4.0)
    subject.add("3.3.3", one.files.summary.path, "a single host with fewer than four accelerators",
                "4", shown(*accelerators));
  if (std::fmod(*accelerators, *hosts) != 0.0)
    subject.add("3.3.6", one.files.summary.path,
                "accelerators cannot be divided evenly among the hosts",
                "a multiple of " + shown(*hosts), shown(*accelerators));
  const auto clients = number_at(one.metadata(), {"args", "num_client_hosts"});
  if (*hosts == 1.0 && (named_hosts(one) > 1 || clients.value_or(1.0) > 1.0))
    subject.add("3.3.4", one.files.summary.path,
                "several hosts were named and one took part: the launcher put all ranks on it");
}

void check_accelerator(Subject& subject, const LoadedLeaf& one) {
  const std::string name = accelerator_of(one);
  if (name.empty() || !subject.workload.closed()) return;
  const std::set<std::string> known = subject.round == 2 ? std::set<std::string>{"a100", "h100"}
                                                         : std::set<std::string>{"b200", "mi355"};
  if (!known.contains(name))
    subject.add("accelerator.round", one.files.metadata.path,
                "the accelerator is not one of the round", join({known.begin(), known.end()}, ", "),
                brief(name));
}

void check_phases(Subject& subject) {
  const Workload& workload = subject.workload;
  if (!is_training_model(workload.model, subject.round))
    subject.add("2.1.11", workload.folder, "the model is not one of the round", "",
                printable(workload.model));
  for (const std::string& name : workload.unknown)
    subject.add("2.1.12", workload.folder / name, "the folder is no phase of a training",
                "datasize, datagen, run");
  if (subject.round >= 3 && workload.datasize.empty())
    subject.add("2.1.12", workload.folder, "the phase datasize is missing");
  if (workload.datagen.size() != 1)
    subject.add("2.1.13", workload.folder / "datagen", "data must be generated once", "1",
                std::to_string(workload.datagen.size()));
  if (!is_there(workload.folder / "run" / "results.json"))
    subject.add("2.1.16", workload.folder / "run", "results.json is missing");
}

/// From the beginning of a run to that of the next less than twice the shortest run.
void check_gaps(Subject& subject) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const LoadedLeaf& one : subject.run) {
    const auto start = time_at(one.summary(), {"start"}), end = time_at(one.summary(), {"end"});
    if (start && end && end->seconds > start->seconds)
      shortest = std::min(shortest, end->seconds - start->seconds);
  }
  if (!std::isfinite(shortest)) return;
  for (std::size_t i = 0; i + 1 < subject.run.size(); ++i) {
    const Leaf &first = subject.run[i].leaf, &next = subject.run[i + 1].leaf;
    if (!first.time_s || !next.time_s) continue;
    const auto apart = static_cast<double>(*next.time_s - *first.time_s);
    if (apart >= 2.0 * shortest)
      subject.add("2.1.18", next.folder,
                  "the run does not follow the one before, " + printable(first.stamp),
                  "less than " + shown(2.0 * shortest) + " s later", shown(apart) + " s");
  }
}

void check_runs(Subject& subject) {
  constexpr std::size_t kRuns = 6;
  std::size_t stamped = 0;
  for (const Leaf& leaf : subject.workload.run) {
    if (leaf.time_s)
      ++stamped;
    else
      subject.add("2.1.17", leaf.folder, "the folder of a run has no time as its name",
                  "YYYYMMDD_HHMMSS", printable(leaf.stamp));
  }
  if (stamped != kRuns)
    subject.add("2.1.17", subject.workload.folder / "run",
                "there must be a run to warm up and five that count", std::to_string(kRuns),
                std::to_string(stamped));
  check_gaps(subject);
}

}  // namespace

void check_training(Subject& subject) {
  check_phases(subject);
  check_runs(subject);
  for (const LoadedLeaf& one : subject.run) {
    if (one.files.metadata.ok()) {
      check_parameters(subject, one);
      check_accelerator(subject, one);
      check_generated(subject, one);
    }
    if (!one.files.summary.ok()) continue;
    check_size(subject, one);
    check_utilisation(subject, one);
    check_mean(subject, one, "train_au_percentage", "train_au_mean_percentage");
    check_mean(subject, one, "train_throughput_samples_per_second",
               "train_throughput_mean_samples_per_second");
    check_rate(subject, one);
    check_shape(subject, one);
  }
  check_folders(subject, "3.4.1", {"data_dir"});
  check_separation(subject, "3.4.2");
}

}  // namespace bench::mlperf::storage
