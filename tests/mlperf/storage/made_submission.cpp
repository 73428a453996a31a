#include "tests/mlperf/storage/made_submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "core/whole_file.h"

namespace bench::mlperf::storage {

namespace fs = std::filesystem;

namespace {

void put(const fs::path& file, const Json& json) { write_file(file, json.dump()); }

constexpr int kRound2 = 2025, kRound3 = 2026;  // when they were measured

/// "20260701_0H0M00"
std::string stamp(int hour, int minute, int year = kRound3) {
  return fmt::format("{}0701_{:02}{:02}00", year, hour, minute);
}
std::string iso(int hour, int minute, int second, int year = kRound3) {
  return fmt::format("{}-07-01T{:02}:{:02}:{:02}.000000", year, hour, minute, second);
}

void put_dlio(const fs::path& leaf, const std::string& log, int ranks, const Json& epochs) {
  for (const std::string& name :
       {log + ".stdout.log", log + ".stderr.log", std::string("dlio.log")})
    write_file(leaf / name, "");
  for (const char* name : {"config.yaml", "hydra.yaml", "overrides.yaml"})
    write_file(leaf / "dlio_config" / name, "");
  for (int rank = 0; rank < ranks; ++rank) {
    put(leaf / fmt::format("{}_output.json", rank),
        {{"hostname", "client1"}, {"host_memory_GB", 1.0}});
    put(leaf / fmt::format("{}_per_epoch_stats.json", rank), epochs);
  }
}

void put_separation(const fs::path& leaf) {
  put(leaf / "fs_separation.json", {{"version", 1}, {"same_filesystem", false}});
}

Json list_of(double value, std::size_t count) { return std::vector<double>(count, value); }

constexpr double kSizeGiB = 104.70452117919922;

}  // namespace

std::string description(const std::string& name, int clients) {
  // Two kinds of clients, so that memory is not compared. An anchor, as submitters use them.
  return fmt::format(R"(system_under_test:
  solution:
    submission_name: {}
    friendly_description: "made for tests"
    architecture: {{storage_location: remote, benchmark_API: file, product_API: file, client_footprint: n/a, client_installation: n/a}}
    capabilities: {{multi_host: true, simultaneous_write: true, simultaneous_read: true, remap_time_in_seconds: 0}}
    usable_capacity_tib: 168
    availability: preview
  deployment: onprem
  product_nodes:
    - quantity: 3
      operating_system: &os {{name: some, version: 1}}
      chassis:
        {{rack_units: 2, model_name: some, cpu_model: some, cpu_qty: 1, cpu_cores: 8, memory_capacity: 256,
         power: {{min_psus_active: 1, psus_configured: [{{unit_count: 2, inlet_voltage: 240, nameplate_power_watts: 1400, efficiency: Gold}}]}}}}
  total_rack_units: 6
  clients:
    - quantity: {}
      operating_system: *os
      chassis: &client
        {{rack_units: 1, model_name: some, cpu_model: some, cpu_qty: 1, cpu_cores: 8, memory_capacity: 1,
         power: {{min_psus_active: 1, psus_configured: [{{unit_count: 2, inlet_voltage: 240, nameplate_power_watts: 800, efficiency: Gold}}]}}}}
    - {{quantity: 0, operating_system: *os, chassis: *client}}
)",
                     name, clients);
}

void MadeSubmission::describe(int clients) {
  write_file(root() / "closed/Acme/systems/sys1.yaml", description("sys1", clients));
}

MadeSubmission::MadeSubmission() {
  describe(1);
  write_file(root() / "closed/Acme/systems/sys1.pdf", "%PDF");
}

fs::path MadeSubmission::results(const std::string& below) const {
  return root() / "closed/Acme/results/sys1" / below;
}

std::vector<fs::path> MadeSubmission::runs(const std::string& workload) const {
  std::vector<fs::path> found;
  for (const auto& one : fs::directory_iterator(results(workload)))
    if (one.is_directory()) found.push_back(one.path());
  std::ranges::sort(found);
  return found;
}

fs::path MadeSubmission::metadata(const fs::path& leaf) const {
  for (const auto& one : fs::directory_iterator(leaf))
    if (one.path().native().ends_with("_metadata.json")) return one.path();
  return {};
}

namespace {

/// Six runs on one host with four accelerators of 1 GiB, the first one slower.
struct MadeTraining {
  int year = kRound3;
  std::string accelerator = "b200";
  int files = 48000;
  double record_bytes = 322957;
  double samples_per_second = 500.0;
};

/// As mlpstorage 2.0 left an invocation: parameters under their old name, and no word on file
/// systems.
void make_older(const fs::path& leaf) {
  fs::remove(leaf / "fs_separation.json");
  for (const auto& one : fs::directory_iterator(leaf))
    if (one.path().native().ends_with("_metadata.json"))
      change(one.path(), [](Json& json) {
        json["combined_params"] = json["parameters"];
        json.erase("parameters");
      });
}

void put_training(const fs::path& model, const MadeTraining& training) {
  const std::string files = std::to_string(training.files);
  const Json dataset = {{"num_files_train", files}, {"num_subfolders_train", 0}};
  const auto about = [&](const char* command) -> Json {
    return {
        {"benchmark_type", "training"},
        {"command", command},
        {"parameters", {{"dataset", dataset}}},
        {"override_parameters", {{"dataset.num_files_train", files}, {"reader.read_threads", "8"}}},
        {"args",
         {{"data_dir", "/mnt/data"},
          {"results_dir", "/root/results"},
          {"accelerator_type", training.accelerator},
          {"hosts", {"client1"}}}}};
  };
  if (training.year == kRound3)
    put(model / "datasize" / stamp(0, 0) / "training_a_metadata.json", about("datasize"));
  const fs::path made = model / "datagen" / stamp(0, 1, training.year);
  put(made / "training_b_metadata.json", about("datagen"));
  put_dlio(made, "training_datagen", 0, {});
  write_file(model / "run/results.json", "[]");
  for (int run = 0; run < 6; ++run) {
    const fs::path leaf = model / "run" / stamp(1, 10 * run, training.year);
    const double samples = training.samples_per_second * (run == 0 ? 0.8 : 1.0);
    put_dlio(leaf, "training_run", 4, {{"1", {{"duration", "60.00"}}}});
    put_separation(leaf);
    put(leaf / "training_c_metadata.json", about("run"));
    put(leaf / "summary.json",
        {{"start", iso(1, 10 * run, 5, training.year)},
         {"end", iso(1, 10 * run + 9, 0, training.year)},
         {"num_accelerators", 4},
         {"num_hosts", 1},
         {"num_files_train", training.files},
         {"host_memory_GB", {1.0}},
         {"epochs", 8},
         {"metric",
          {{"train_au_percentage", list_of(90.0, 8)},
           {"train_au_mean_percentage", 90.0},
           {"train_au_meet_expectation", "success"},
           {"train_throughput_samples_per_second", list_of(samples, 8)},
           {"train_throughput_mean_samples_per_second", samples},
           {"train_io_mean_MB_per_second", samples * training.record_bytes / 1048576}}}});
    if (training.year == kRound2) make_older(leaf);
  }
  if (training.year == kRound2) make_older(made);
}

}  // namespace

void MadeSubmission::add_training() { put_training(results("training/retinanet"), {}); }

void MadeSubmission::add_training_of_round_2() {
  put_training(results("training/resnet50"), {.year = kRound2,
                                              .accelerator = "h100",
                                              .files = 640,
                                              .record_bytes = 114660.07,
                                              .samples_per_second = 4000.0});
}

namespace {

/// An invocation that writes and reads so many checkpoints, of a second each.
void put_checkpoints(const fs::path& leaf, int writes, int reads, int minute, int seconds,
                     int year = kRound3) {
  Json epoch = Json::object();
  Json metric = {{"checkpoint_size_GB", kSizeGiB}};
  const auto add = [&](const std::string& kind, int count) {
    for (int i = 1; i <= count; ++i)
      epoch[fmt::format("{}_ckpt{}", kind, i)] = {{"duration", 1.0}, {"throughput", kSizeGiB}};
    if (count == 0) return;
    metric[kind + "_checkpoint_io_mean_GB_per_second"] = kSizeGiB;
    metric[kind + "_checkpoint_duration_mean_seconds"] = 1.0;
  };
  add("save", writes);
  add("load", reads);
  put_dlio(leaf, "checkpointing_run", 8, {{"1", epoch}});
  put_separation(leaf);
  const std::string start = iso(2, minute, 2, year), end = iso(2, minute, 2 + seconds, year);
  put(leaf / "checkpointing_d_metadata.json", {{"invocation_start_time", start},
                                               {"invocation_end_time", end},
                                               {"parameters", {{"checkpoint", {{"fsync", true}}}}},
                                               {"args",
                                                {{"num_processes", 8},
                                                 {"num_checkpoints_write", writes},
                                                 {"num_checkpoints_read", reads},
                                                 {"checkpoint_folder", "/mnt/checkpoints"},
                                                 {"results_dir", "/root/results"}}}});
  put(leaf / "summary.json", {{"start", start},
                              {"end", end},
                              {"num_accelerators", 8},
                              {"num_hosts", 1},
                              {"host_memory_GB", {10.0}},
                              {"metric", metric}});
}

}  // namespace

void MadeSubmission::add_checkpointing() {
  const fs::path model = results("checkpointing/llama3-8b");
  write_file(model / "results.json", "[]");
  put_checkpoints(model / stamp(2, 0), 10, 10, 0, 40);
}

void MadeSubmission::add_checkpointing_of_round_2() {
  const fs::path model = results("checkpointing/llama3-70b");
  write_file(model / "results.json", "[]");
  const fs::path leaf = model / stamp(2, 0, kRound2);
  put_checkpoints(leaf, 10, 10, 0, 40, kRound2);
  make_older(leaf);
  change(metadata(leaf),
         [](Json& json) { json["combined_params"]["checkpoint"]["mode"] = "subset"; });
}

void MadeSubmission::add_split_checkpointing() {
  const fs::path model = results("checkpointing/llama3-8b");
  write_file(model / "results.json", "[]");
  put_checkpoints(model / stamp(2, 0), 10, 0, 0, 50);
  put_checkpoints(model / stamp(2, 1), 0, 10, 1, 40);
}

void MadeSubmission::add_kv_cache() {
  const fs::path leaf = results("kv_cache/llama3.1-8b/run") / stamp(3, 0);
  put(leaf / "kv_cache_e_metadata.json",
      {{"args", {{"seed", 42}, {"trials", 3}, {"inter_option_delay", 90}, {"num_processes", 2}}}});
  Json options = Json::object();
  for (int option = 1; option <= 3; ++option) {
    options[std::to_string(option)] = {{"aggregated_read_bandwidth_gbps", 2.0},
                                       {"aggregated_write_bandwidth_gbps", 1.0},
                                       {"missing_files", Json::array()}};
    for (int trial = 0; trial < 3; ++trial)
      for (int rank = 0; rank < 2; ++rank)
        put(leaf / fmt::format("option_{}/trial_{}/rank_{}/kvcache_results_x.json", option, trial,
                               rank),
            {{"summary",
              {{"cache_stats",
                {{"storage_entries", 1},
                 {"tier_storage_read_bandwidth_gbps", 1.0},
                 {"tier_storage_write_bandwidth_gbps", 0.5},
                 {"storage_read_p95_ms", 2.0 + rank}}}}}});
  }
  put(leaf / "summary.json", {{"total_ranks", 2},
                              {"host_count", 1},
                              {"trials_per_option", 3},
                              {"options", options},
                              {"partial_failure", false},
                              {"trial_failures", Json::object()}});
}

void MadeSubmission::add_vector_database() {
  const fs::path index = results("vector_database/milvus/HNSW");
  const Json loaded = {{"num_vectors", 1000},
                       {"dimension", 8},
                       {"inserted_vectors", 1000},
                       {"index_type", "HNSW"},
                       {"database", {{"database", "milvus"}}}};
  const Json args = {{"args", {{"storage_root", "/mnt/db"}, {"results_dir", "/root/results"}}}};
  put(index / "datagen" / stamp(4, 0) / "summary.json", loaded);
  put(index / "datagen" / stamp(4, 0) / "vector_database_f_metadata.json", args);
  for (int run = 1; run <= 5; ++run) {
    const fs::path leaf = index / "run" / stamp(4, run);
    Json summary = loaded;
    summary.update({{"throughput_qps", 1000.0},
                    {"query_count", 60000},
                    {"total_time_seconds", 60.0},
                    {"mean_latency_ms", 1.0},
                    {"p95_latency_ms", 2.0},
                    {"p99_latency_ms", 3.0},
                    {"p999_latency_ms", 4.0},
                    {"recall", 0.9}});
    put(leaf / "summary.json", summary);
    put(leaf / "vector_database_g_metadata.json", args);
    put(leaf / "result_verdict.json", {{"flat_setup", {{"ok", true}, {"coverage", 1.0}}}});
    put_separation(leaf);
  }
}

StorageReport MadeSubmission::report(Edition edition) const {
  return check_storage(find_tree(root()), {}, edition);
}

std::string MadeSubmission::broken(Edition edition) const {
  std::set<std::string> rules;
  const StorageReport found = report(edition);
  const auto add = [&](const std::vector<LocatedFinding>& findings) {
    for (const LocatedFinding& one : findings)
      if (one.finding.severity != Severity::note) rules.insert(one.finding.rule);
  };
  add(found.findings);
  for (const WorkloadReport& one : found.workloads) add(one.findings);
  return join({rules.begin(), rules.end()}, " ");
}

void change(const fs::path& file, const std::function<void(Json&)>& how) {
  Json json = read_json(file);
  how(json);
  write_file(file, json.dump());
}

}  // namespace bench::mlperf::storage
