#include "mlperf/storage/storage_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/text.h"

namespace bench::mlperf::storage {

namespace fs = std::filesystem;

void Subject::add(std::string_view rule, const fs::path& path, const std::string& text,
                  const std::string& expected, const std::string& seen) {
  add_as(storage_rule(rule).severity(edition), rule, path, text, expected, seen);
}

void Subject::add_as(Severity severity, std::string_view rule, const fs::path& path,
                     const std::string& text, const std::string& expected,
                     const std::string& seen) {
  found.push_back(
      {path,
       {.rule = std::string(rule),
        .severity = severity,
        .expected = expected,
        .found = seen,
        .text = text,
        .where = is_digit(rule.front()) ? "Rules.md " + std::string(rule.substr(0, rule.find('-')))
                                        : ""}});
}

Subject load_subject(const Workload& workload, int round, Edition edition) {
  Subject subject{.workload = workload, .round = round, .edition = edition};
  const auto load = [](const std::vector<Leaf>& leaves) {
    std::vector<LoadedLeaf> loaded;
    for (const Leaf& leaf : leaves) loaded.push_back({leaf, read_leaf(leaf)});
    return loaded;
  };
  subject.datasize = load(workload.datasize);
  subject.datagen = load(workload.datagen);
  subject.run = load(workload.run);
  return subject;
}

std::string shown(double number) { return fmt::format("{:.10g}", number); }

bool differ(double a, double b, double tolerance) {
  return !(std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b)));
}

double mean_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

std::string accelerator_of(const LoadedLeaf& one) {
  for (const auto& found : {text_at(one.metadata(), {"args", "accelerator_type"}),
                            text_at(one.metadata(), {"accelerator"})})
    if (found) return to_lower(*found);
  return "";
}

fs::path without_last_slash(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path();
}

void check_json(Subject& subject, const JsonFile& file) {
  if (file.state == FileState::wrong)
    subject.add("leaf.json", file.path, "the file is no JSON: " + brief(file.problem));
  if (file.state == FileState::pruned)
    subject.add("leaf.pruned", file.path, "the file was replaced before publication");
}

namespace {

/// The word in the names of an invocation's logs: "training_run", "checkpointing_run".
std::string log_name(const Subject& subject, bool datagen) {
  return std::string(to_string(subject.workload.category)) + (datagen ? "_datagen" : "_run");
}

bool of_dlio(const Subject& subject) {
  return subject.workload.category == Category::training ||
         subject.workload.category == Category::checkpointing;
}

void check_names(Subject& subject, const LoadedLeaf& one, bool datagen) {
  std::vector<std::string> missing;
  const std::string log = log_name(subject, datagen);
  for (const std::string& name :
       {log + ".stdout.log", log + ".stderr.log", std::string("dlio.log")})
    if (!has(one.files, name)) missing.push_back(name);
  if (!datagen) {
    if (one.files.summary.state == FileState::absent) missing.emplace_back("summary.json");
    if (one.files.outputs.empty()) missing.emplace_back("RANK_output.json");
    if (one.files.epochs.empty()) missing.emplace_back("RANK_per_epoch_stats.json");
  }
  const bool training = subject.workload.category == Category::training;
  if (!missing.empty())
    subject.add(training ? "2.1.19" : "2.1.25", one.leaf.folder,
                "files are missing: " + join(missing, ", "));
  missing.clear();
  for (const char* name : {"config.yaml", "hydra.yaml", "overrides.yaml"})
    if (!is_there(one.leaf.folder / "dlio_config" / name)) missing.emplace_back(name);
  if (!missing.empty())
    subject.add(training ? "2.1.20" : "2.1.26", one.leaf.folder / "dlio_config",
                "files of the configuration are missing: " + join(missing, ", "));
}

void check_summary(Subject& subject, const LoadedLeaf& one) {
  if (one.files.summary.state != FileState::absent) return;
  const std::string other = one.files.other_summaries.empty()
                                ? ""
                                : "; " + printable(one.files.other_summaries.front()) +
                                      " is there instead, which the tables do not read: rename it";
  subject.add("leaf.summary", one.leaf.folder, "there is no summary.json" + other);
}

void check_times(Subject& subject, const LoadedLeaf& one) {
  const auto start = time_at(one.summary(), {"start"}), end = time_at(one.summary(), {"end"});
  if (!start || !end) return;
  if (end->seconds < start->seconds)
    subject.add("time.order", one.files.summary.path, "the run ends before it begins",
                "end after start", fmt::format("{:.3f} s before", start->seconds - end->seconds));
  constexpr double kLongest = 600;
  if (!one.leaf.time_s || start->is_utc) return;
  const double after = start->seconds - static_cast<double>(*one.leaf.time_s);
  if (after < -1.0 || after > kLongest)
    subject.add("time.clock", one.files.summary.path,
                "the run begins at another time than its folder's name says: another clock or time "
                "zone",
                "0 to 600 s later", fmt::format("{:.0f} s later", after));
}

}  // namespace

void check_leaves(Subject& subject) {
  const bool dlio = of_dlio(subject);
  for (const auto* phase : {&subject.datasize, &subject.datagen, &subject.run})
    for (const LoadedLeaf& one : *phase) {
      if (dlio && phase != &subject.datasize) check_names(subject, one, phase == &subject.datagen);
      check_json(subject, one.files.summary);
      check_json(subject, one.files.metadata);
      if (!dlio && phase != &subject.datasize) check_summary(subject, one);
      // Where nothing else says what the leaf is, one was asked for later.
      if (one.files.metadata_files != 1)
        subject.add_as(
            dlio ? Severity::warning : storage_rule("leaf.metadata").severity(subject.edition),
            "leaf.metadata", one.leaf.folder,
            one.files.metadata_files == 0
                ? "there is no *_metadata.json, so rules on arguments and parameters cannot "
                  "be checked"
                : "there are several *_metadata.json",
            "one", std::to_string(one.files.metadata_files));
      check_times(subject, one);
    }
}

namespace {

/// "3 of 16: 2, 7, 9"
std::string missing_ranks(const RankFiles& files, int ranks) {
  std::vector<std::string> missing;
  for (int rank = 0; rank < ranks; ++rank)
    if (!files.contains(rank)) missing.push_back(std::to_string(rank));
  if (missing.empty()) return "";
  constexpr std::size_t kMost = 8;
  const std::size_t count = missing.size();
  if (count > kMost) {
    missing.resize(kMost);
    missing.emplace_back("...");
  }
  return fmt::format("{} of {}: {}", count, ranks, join(missing, ", "));
}

/// Hosts by name with the number of their ranks; empty if any rank's file says none.
std::map<std::string, int> hosts_of(Subject& subject, const LoadedLeaf& one) {
  std::map<std::string, int> hosts;
  for (const auto& [rank, path] : one.files.outputs) {
    const JsonFile file = read_json_file(path);
    if (file.state == FileState::wrong) {
      check_json(subject, file);
      return {};
    }
    const auto host = text_at(file.value, {"hostname"});
    if (!host) return {};
    ++hosts[*host];
  }
  return hosts;
}

void check_hosts(Subject& subject, const LoadedLeaf& one, int ranks) {
  const auto told = number_at(one.summary(), {"num_hosts"});
  if (!told || static_cast<int>(one.files.outputs.size()) != ranks) return;
  const auto hosts = hosts_of(subject, one);
  if (hosts.empty()) return;
  if (static_cast<double>(hosts.size()) != *told)
    return subject.add("hosts.missing", one.leaf.folder,
                       "files of ranks name another number of hosts than the summary", shown(*told),
                       std::to_string(hosts.size()));
  // Checkpoints are of models that need not divide evenly; what cannot is found by the summary.
  if (subject.workload.category != Category::training || std::fmod(ranks, *told) != 0.0) return;
  const auto by_ranks = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fewest, most] = std::minmax_element(hosts.begin(), hosts.end(), by_ranks);
  if (fewest->second != most->second)
    subject.add("3.3.6", one.leaf.folder,
                "hosts have different numbers of accelerators: " + printable(fewest->first) + " " +
                    std::to_string(fewest->second) + ", " + printable(most->first) + " " +
                    std::to_string(most->second));
}

}  // namespace

void check_ranks(Subject& subject) {
  constexpr int kMostRanks = 1 << 20;
  for (const LoadedLeaf& one : subject.run) {
    const auto told = number_at(one.summary(), {"num_accelerators"});
    if (!told || !(*told >= 1) || *told > kMostRanks) continue;
    const int ranks = static_cast<int>(*told);
    const std::string outputs = missing_ranks(one.files.outputs, ranks);
    const std::string epochs = missing_ranks(one.files.epochs, ranks);
    if (!outputs.empty())
      subject.add("ranks.missing", one.leaf.folder, "RANK_output.json of ranks is missing",
                  std::to_string(ranks), outputs);
    if (!epochs.empty())
      subject.add("ranks.missing", one.leaf.folder, "RANK_per_epoch_stats.json of ranks is missing",
                  std::to_string(ranks), epochs);
    check_hosts(subject, one, ranks);
  }
}

namespace {

/// Objects lie in no file system.
bool uses_objects(const LoadedLeaf& one) {
  const auto is = [&](const std::optional<std::string>& text, std::string_view wanted) {
    return text && to_lower(*text) == wanted;
  };
  const Json& parameters = parameters_of(one.metadata());
  return is(text_at(one.metadata(), {"args", "data_access_protocol"}), "object") ||
         is(text_at(parameters, {"storage", "storage_type"}), "s3") ||
         is(text_at(one.metadata(), {"override_parameters", "storage.storage_type"}), "s3");
}

}  // namespace

void check_separation(Subject& subject, std::string_view rule) {
  for (const LoadedLeaf& one : subject.run) {
    if (uses_objects(one)) continue;
    const fs::path path = one.leaf.folder / "fs_separation.json";
    const JsonFile file = read_json_file(path);
    check_json(subject, file);
    const auto same = flag_at(file.value, {"same_filesystem"});
    if (file.state == FileState::absent) {
      if (subject.round >= 3)
        subject.add(rule, one.leaf.folder,
                    "fs_separation.json is missing: nothing says that data and results lie in "
                    "different file systems");
    } else if (file.ok() && same.value_or(true)) {
      subject.add(rule, path,
                  same ? "data and results lie in the same file system"
                       : "the file does not say whether data and results lie in one file system");
    }
  }
}

void check_folders(Subject& subject, std::string_view rule,
                   std::initializer_list<const char*> data_keys) {
  const bool database = subject.workload.category == Category::vector_database;
  for (const LoadedLeaf& one : subject.run) {
    if (!one.files.metadata.ok()) continue;
    // Others name a bucket; the objects of a database are its own matter.
    if (database && uses_objects(one)) continue;
    std::optional<std::string> data;
    for (const char* key : data_keys)
      if (!data) data = text_at(one.metadata(), {"args", key});
    const auto results = text_at(one.metadata(), {"args", "results_dir"});
    if (!data || data->empty() || !results || results->empty())
      subject.add(rule, one.files.metadata.path,
                  "the arguments do not name the folders of data and of results");
    else if (without_last_slash(*data) == without_last_slash(*results))
      subject.add(rule, one.files.metadata.path, "data and results lie in the same folder", "",
                  printable(*data));
  }
}

}  // namespace bench::mlperf::storage
