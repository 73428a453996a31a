#include "mlperf/storage/storage_check.h"

#include <set>

#include "core/whole_file.h"
#include "tests/mlperf/storage/made_submission.h"
#include "tests/support/catch.h"

namespace bench::mlperf::storage {
namespace {

namespace fs = std::filesystem;

using Catch::Matchers::Contains;

struct Training : MadeSubmission {
  Training() { add_training(); }
  std::vector<fs::path> all() const { return runs("training/retinanet/run"); }
};

TEST_CASE("complete submissions of all categories break no rule") {
  MadeSubmission made;
  made.add_training();
  made.add_checkpointing();
  made.add_kv_cache();
  made.add_vector_database();
  CHECK(made.broken() == "");
  const StorageReport report = made.report();
  CHECK(report.workloads.size() == 4);
  CHECK(report.round == 3);
  CHECK(counts_of(report).clean == 4);
}

TEST_CASE("a complete submission of round 2.0 breaks none of its rules, and several of 3.0") {
  MadeSubmission made;
  made.add_training_of_round_2();
  made.add_checkpointing_of_round_2();
  write_file(made.root() / "closed/Acme/code/README.md", "");
  CHECK(made.broken() == "");
  const StorageReport report = made.report();
  CHECK(report.round == 2);
  CHECK(report.round_reason == "measured in 2025");
  CHECK(counts_of(report).clean == 2);
  std::set<std::string> rules;
  const StorageReport later = check_storage(find_tree(made.root()), 3, Edition::current);
  for (const LocatedFinding& one : later.findings) rules.insert(one.finding.rule);
  for (const WorkloadReport& workload : later.workloads)
    for (const LocatedFinding& one : workload.findings) rules.insert(one.finding.rule);
  CHECK(rules == std::set<std::string>{"2.1.11", "2.1.12", "2.1.5", "3.4.2", "4.3.5", "4.4.2",
                                       "4.6.1", "accelerator.round"});
}

TEST_CASE("a submission of round 2.0 with what only 3.0 knows, or fits neither, is found") {
  MadeSubmission made;
  made.add_training_of_round_2();
  made.add_checkpointing_of_round_2();
  const auto runs = made.runs("training/resnet50/run");
  change(made.metadata(runs[3]), [](Json& json) { json["args"]["accelerator_type"] = "b200"; });
  CHECK(made.broken() == "accelerator.round");
  change(made.metadata(runs[3]), [](Json& json) { json["args"]["accelerator_type"] = "a100"; });
  CHECK(made.broken() == "");
  const auto checkpoint = made.metadata(made.runs("checkpointing/llama3-70b")[0]);
  change(checkpoint, [](Json& json) { json["args"]["num_processes"] = 16; });
  CHECK(made.broken() == "4.6.1");  // 8 of the part or 64 of the whole
  change(checkpoint, [](Json& json) {
    json["args"]["num_processes"] = 8;
    json["combined_params"]["checkpoint"]["fsync"] = false;
  });
  CHECK(made.broken() == "4.3.2");  // of the parameters' old name
  change(checkpoint, [](Json& json) { json["combined_params"]["checkpoint"]["fsync"] = true; });
  fs::rename(made.results("training/resnet50"), made.results("training/retinanet"));
  CHECK(made.broken().starts_with("2.1.11"));
}

TEST_CASE("a training without a run, or with one too many, is found") {
  Training made;
  fs::remove_all(made.all().back());
  CHECK(made.broken() == "2.1.17");
}

TEST_CASE("a run whose folder is no time is found, and the runs that are left are too few") {
  Training made;
  fs::rename(made.all()[2], made.all()[2].parent_path() / "1nodex8ppn");
  CHECK(made.broken() == "2.1.17 2.1.18");  // a gap is left, too
}

TEST_CASE(
    "accelerators that waited too long are found in each run, whatever the run says of itself") {
  Training made;
  const auto slow = [](const char* said) {
    return [said](Json& summary) {
      summary["metric"]["train_au_percentage"] = std::vector<double>(8, 84.9);
      summary["metric"]["train_au_mean_percentage"] = 84.9;
      summary["metric"]["train_au_meet_expectation"] = said;
    };
  };
  change(made.all()[0] / "summary.json", slow("success"));
  CHECK(made.broken() == "3.3.2");
  change(made.all()[0] / "summary.json", [](Json& summary) {
    summary["metric"]["train_au_percentage"] = std::vector<double>(8, 85.0);
    summary["metric"]["train_au_mean_percentage"] = 85.0;
  });
  CHECK(made.broken() == "");
  change(made.all()[3] / "summary.json",
         [](Json& summary) { summary["metric"]["train_au_meet_expectation"] = "fail"; });
  CHECK(made.broken() == "3.3.2");
}

TEST_CASE("a data set below 500 steps or five times the memory is too small") {
  Training made;
  change(made.all()[1] / "summary.json", [](Json& summary) { summary["num_files_train"] = 47998; });
  CHECK(made.broken() == "3.1.2");
  // Positions in host_memory_GB mean nothing; the sum does.
  change(made.all()[1] / "summary.json", [](Json& summary) {
    summary["num_files_train"] = 48000;
    summary["host_memory_GB"] = {0.0, 2.0, 1.0};
  });
  CHECK(made.broken() == "3.1.2");
}

TEST_CASE("means that are not those of their lists are found") {
  Training made;
  change(made.all()[1] / "summary.json", [](Json& summary) {
    summary["metric"]["train_throughput_mean_samples_per_second"] = 505.0;
    summary["metric"]["train_io_mean_MB_per_second"] = 505.0 * 322957 / 1048576;
  });
  CHECK(made.broken() == "mean.training");
  change(made.all()[1] / "summary.json", [](Json& summary) {
    summary["metric"]["train_throughput_mean_samples_per_second"] = 500.0;
  });
  CHECK(made.broken() == "mean.training");  // MiB/s are still those of 505
}

TEST_CASE("ranks without files are named, and those replaced before publication are noted") {
  Training made;
  fs::remove(made.all()[2] / "3_output.json");
  CHECK(made.broken() == "ranks.missing");
  const StorageReport report = made.report();
  CHECK(report.workloads[0].findings.front().finding.found == "1 of 4: 3");
  Training pruned;
  write_file(pruned.all()[2] / "summary.json", "PRUNED BY STAFF\n");
  CHECK(pruned.broken() == "");
  CHECK(counts_of(pruned.report()).notes == 1);
}

TEST_CASE("hosts that did not take part, or have other numbers of ranks, are found") {
  Training made;
  const auto host = [](const char* name) {
    return [name](Json& rank) { rank["hostname"] = name; };
  };
  change(made.all()[2] / "3_output.json", host("client2"));
  CHECK(made.broken() == "hosts.missing");
  Training uneven;
  uneven.describe(2);
  for (const fs::path& run : uneven.all()) {
    change(run / "summary.json", [](Json& summary) { summary["num_hosts"] = 2; });
    for (const char* rank : {"2_output.json", "3_output.json"}) change(run / rank, host("client2"));
  }
  CHECK(uneven.broken() == "");
  change(uneven.all()[1] / "2_output.json", host("client1"));
  CHECK(uneven.broken() == "3.3.6");
}

TEST_CASE("a gap between runs, and clocks that disagree, are found") {
  Training made;
  const fs::path last = made.all().back();
  fs::rename(last, last.parent_path() / "20260701_015901");
  CHECK(made.broken() == "2.1.18 time.clock");
}

TEST_CASE("a parameter that the closed division does not allow is named") {
  Training made;
  change(made.metadata(made.all()[4]),
         [](Json& json) { json["override_parameters"]["reader.batch_size"] = "48"; });
  CHECK(made.broken() == "3.6.2");
  CHECK(made.report().workloads[0].findings.front().finding.found == "reader.batch_size = \"48\"");
  change(made.metadata(made.all()[4]), [](Json& json) {
    json["override_parameters"].erase("reader.batch_size");
    json["override_parameters"]["storage.storage_type"] = "local_fs";  // by the tool itself
    json["override_parameters"]["dataset.num_files_generated"] = 60000;
    json["override_parameters"]["dataset.total_disk_bytes"] = 19377420000;
  });
  CHECK(made.broken() == "");
}

TEST_CASE("data and results in one place are found") {
  Training made;
  change(made.all()[1] / "fs_separation.json", [](Json& json) { json["same_filesystem"] = true; });
  CHECK(made.broken() == "3.4.2");
  Training folders;
  change(folders.metadata(folders.all()[1]),
         [](Json& json) { json["args"]["results_dir"] = "/mnt/./data"; });
  CHECK(folders.broken() == "3.4.1");
  change(folders.metadata(folders.all()[1]),
         [](Json& json) { json["args"]["results_dir"] = "/mnt/data/"; });
  CHECK(folders.broken() == "3.4.1");
}

TEST_CASE("less generated data than is read, and a missing datasize, are found") {
  Training made;
  change(made.metadata(made.runs("training/retinanet/datagen")[0]),
         [](Json& json) { json["parameters"]["dataset"]["num_files_train"] = 40000; });
  CHECK(made.broken() == "3.2.1");
  for (const char* same : {"/mnt/data/", "/mnt/data/retinanet"}) {
    change(made.metadata(made.runs("training/retinanet/datagen")[0]),
           [&](Json& json) { json["args"]["data_dir"] = same; });
    CHECK(made.broken() == "3.2.1");
  }
  change(made.metadata(made.runs("training/retinanet/datagen")[0]),
         [](Json& json) { json["args"]["data_dir"] = "/mnt/other"; });
  CHECK(made.broken() == "");
  Training without;
  fs::remove_all(without.results("training/retinanet/datasize"));
  CHECK(without.broken() == "2.1.12");
  CHECK(counts_of(without.report(Edition::closed_round)).errors == 0);  // a warning at the time
  CHECK(counts_of(without.report(Edition::current)).errors == 1);
}

TEST_CASE("a checkpointing in two invocations follows its order and its times") {
  MadeSubmission made;
  made.add_split_checkpointing();
  CHECK(made.broken() == "");
  const auto both = made.runs("checkpointing/llama3-8b");
  change(made.metadata(both[1]),
         [](Json& json) { json["invocation_start_time"] = "2026-07-01T02:01:50.000000"; });
  CHECK(made.broken() == "2.1.24 4.7.1-gap");
  change(made.metadata(both[1]),
         [](Json& json) { json["invocation_start_time"] = "2026-07-01T02:00:10.000000"; });
  CHECK(made.broken() == "4.7.1-gap");
  CHECK(counts_of(made.report()).errors == 0);  // clocks, not an order
  MadeSubmission swapped;
  swapped.add_split_checkpointing();
  const auto leaves = swapped.runs("checkpointing/llama3-8b");
  for (const fs::path& leaf : leaves)
    change(swapped.metadata(leaf), [](Json& json) {
      std::swap(json["args"]["num_checkpoints_write"], json["args"]["num_checkpoints_read"]);
    });
  CHECK(swapped.broken() == "4.7.1 ranks.checkpoints");
}

TEST_CASE(
    "two invocations that each write and read hand nothing over, but must follow each other") {
  MadeSubmission made;
  made.add_split_checkpointing();
  const auto both = made.runs("checkpointing/llama3-8b");
  for (const fs::path& leaf : both) {
    for (int rank = 0; rank < 8; ++rank)
      fs::remove(leaf / (std::to_string(rank) + "_per_epoch_stats.json"));
    change(made.metadata(leaf), [](Json& json) {
      json["args"]["num_checkpoints_write"] = 10;
      json["args"]["num_checkpoints_read"] = 10;
    });
  }
  change(made.metadata(both[1]),
         [](Json& json) { json["invocation_start_time"] = "2026-07-01T02:01:32.000000"; });
  CHECK(made.broken() == "2.1.25 4.7.1 ranks.missing");  // 40 s later, no 4.7.1-gap
  fs::rename(both[1], both[1].parent_path() / "20260708_020100");
  const fs::path later = made.runs("checkpointing/llama3-8b")[1];
  change(made.metadata(later), [](Json& json) {
    json["invocation_start_time"] = "2026-07-08T02:01:02.000000";
    json["invocation_end_time"] = "2026-07-08T02:01:42.000000";
  });
  change(later / "summary.json", [](Json& json) {
    json["start"] = "2026-07-08T02:01:02.000000";
    json["end"] = "2026-07-08T02:01:42.000000";
  });
  CHECK(made.broken() == "2.1.24 2.1.25 4.7.1 ranks.missing");
}

TEST_CASE("parts of large models, wrong numbers of processes and hosts with few are found") {
  MadeSubmission made;
  made.add_checkpointing();
  fs::rename(made.results("checkpointing/llama3-8b"), made.results("checkpointing/llama3-70b"));
  CHECK(made.broken() == "4.6.1");
  const fs::path leaf = made.runs("checkpointing/llama3-70b")[0];
  change(made.metadata(leaf), [](Json& json) { json["args"]["checkpoint_subset"] = true; });
  CHECK(made.broken() == "4.3.5 4.6.1");
  MadeSubmission few;
  few.add_checkpointing();
  const fs::path own = few.runs("checkpointing/llama3-8b")[0];
  const auto hosts = [&](int count) {
    few.describe(count);
    change(own / "summary.json", [&](Json& json) { json["num_hosts"] = count; });
    for (int rank = 0; rank < 8; ++rank)
      change(own / (std::to_string(rank) + "_output.json"),
             [&](Json& json) { json["hostname"] = "client" + std::to_string(rank % count); });
  };
  hosts(2);
  CHECK(few.broken() == "4.6.2");
  CHECK(counts_of(few.report()).errors == 0);  // exactly four: disputed
  hosts(4);
  CHECK(counts_of(few.report()).errors == 1);
}

TEST_CASE("a checkpoint that fits the page cache, without fsync or with another mean, is found") {
  MadeSubmission made;
  made.add_checkpointing();
  const fs::path leaf = made.runs("checkpointing/llama3-8b")[0];
  change(leaf / "summary.json", [](Json& json) { json["host_memory_GB"] = {40.0}; });
  CHECK(made.broken() == "4.3.1");
  change(made.metadata(leaf),
         [](Json& json) { json["parameters"]["checkpoint"]["fsync"] = "False"; });
  CHECK(made.broken() == "4.3.1 4.3.2");
  MadeSubmission mean;
  mean.add_checkpointing();
  change(mean.runs("checkpointing/llama3-8b")[0] / "summary.json",
         [](Json& json) { json["metric"]["save_checkpoint_io_mean_GB_per_second"] = 106.0; });
  CHECK(mean.broken() == "mean.checkpoint");
}

TEST_CASE("two invocations on the same hosts fit the page cache once") {
  MadeSubmission made;
  made.add_split_checkpointing();
  const auto memory = [&](std::size_t leaf, std::vector<double> gib) {
    change(made.runs("checkpointing/llama3-8b")[leaf] / "summary.json",
           [&](Json& json) { json["host_memory_GB"] = gib; });
  };
  memory(0, {40.00001});
  memory(1, {40.0});
  CHECK(made.broken() == "4.3.1");
  CHECK(counts_of(made.report()).warnings == 1);
  memory(1, {80.0});
  CHECK(counts_of(made.report()).warnings == 2);
}

TEST_CASE("a KV cache whose ranks left no results, or which failed in part, is found") {
  MadeSubmission made;
  made.add_kv_cache();
  const fs::path leaf = made.runs("kv_cache/llama3.1-8b/run")[0];
  fs::remove_all(leaf / "option_2/trial_1/rank_1");
  CHECK(made.broken() == "6.3.3");  // and no sums, which lack the rank
  MadeSubmission told;
  told.add_kv_cache();
  change(told.runs("kv_cache/llama3.1-8b/run")[0] / "summary.json", [](Json& json) {
    json["partial_failure"] = true;
    json["options"]["1"]["missing_files"] = {"/a", "/b"};
  });
  CHECK(told.broken() == "6.3.3");
  CHECK(counts_of(told.report()).errors == 2);
}

TEST_CASE("a KV cache with two measured runs is found; one that left nothing is no second") {
  MadeSubmission made;
  made.add_kv_cache();
  const fs::path first = made.runs("kv_cache/llama3.1-8b/run")[0];
  fs::copy(first, first.parent_path() / "20260702_030000", fs::copy_options::recursive);
  CHECK(made.broken() == "runs.several");
  CHECK(made.report().workloads[0].findings.front().finding.found ==
        "2: 20260701_030000, 20260702_030000");
  fs::remove(first / "summary.json");
  CHECK(made.broken() == "leaf.summary");
}

TEST_CASE("a KV cache whose files were replaced before publication keeps its told figures") {
  MadeSubmission made;
  made.add_kv_cache();
  const fs::path leaf = made.runs("kv_cache/llama3.1-8b/run")[0];
  write_file(leaf / "option_2/trial_1/rank_1/kvcache_results_x.json", "PRUNED BY STAFF\n");
  CHECK(made.broken() == "");
  CHECK(made.report().workloads[0].score.problem.empty());
}

TEST_CASE("a KV cache that never touched storage, or with other arguments, is found") {
  MadeSubmission made;
  made.add_kv_cache();
  const fs::path leaf = made.runs("kv_cache/llama3.1-8b/run")[0];
  for (const char* option : {"option_1", "option_2"})
    change(leaf / option / "trial_0/rank_0/kvcache_results_x.json",
           [](Json& json) { json["summary"]["cache_stats"]["storage_entries"] = 0; });
  CHECK(made.broken() == "6.3.4");
  CHECK(counts_of(made.report()).errors == 1);  // option 2 may use memory
  change(made.metadata(leaf), [](Json& json) { json["args"]["trials"] = 1; });
  CHECK(made.broken() == "6.3.2 6.3.4");
}

TEST_CASE("a summary under another name is said") {
  MadeSubmission made;
  made.add_kv_cache();
  const fs::path leaf = made.runs("kv_cache/llama3.1-8b/run")[0];
  fs::rename(leaf / "summary.json", leaf / "kvcache_run_summary_20260701_030000.json");
  CHECK(made.broken() == "leaf.summary");
  CHECK_THAT(made.report().workloads[0].findings.front().finding.text,
             Contains("kvcache_run_summary_20260701_030000.json is there instead"));
}

TEST_CASE("a vector database whose load left no summary is found; its sizes need none") {
  MadeSubmission made;
  made.add_vector_database();
  const fs::path database = made.results("vector_database/milvus/HNSW");
  const fs::path load = made.runs("vector_database/milvus/HNSW/datagen")[0];
  fs::create_directories(database / "datasize");
  fs::copy(load, database / "datasize/20260701_035900", fs::copy_options::recursive);
  fs::remove(database / "datasize/20260701_035900/summary.json");
  CHECK(made.broken() == "");
  fs::remove(load / "summary.json");
  CHECK(made.broken() == "leaf.summary");
  CHECK(counts_of(made.report(Edition::closed_round)).errors == 0);
}

TEST_CASE("statistics of a vector database that were replaced hide what they said") {
  MadeSubmission made;
  made.add_vector_database();
  const fs::path leaf = made.runs("vector_database/milvus/HNSW/run")[0];
  fs::remove(leaf / "summary.json");
  CHECK(made.broken() == "5.3.2 5.3.4 leaf.summary");
  write_file(leaf / "statistics.json", "PRUNED BY STAFF\n");
  CHECK(made.broken() == "leaf.summary");
}

TEST_CASE("a vector database names where it lies, unless it stores objects") {
  MadeSubmission made;
  made.add_vector_database();
  const fs::path leaf = made.runs("vector_database/milvus/HNSW/run")[2];
  change(made.metadata(leaf), [](Json& json) { json["args"].erase("storage_root"); });
  CHECK(made.broken() == "5.4.1");
  change(made.metadata(leaf), [](Json& json) { json["args"]["data_access_protocol"] = "object"; });
  CHECK(made.broken() == "");
}

TEST_CASE("a vector database with few runs, no recall or a poor reference is found") {
  MadeSubmission made;
  made.add_vector_database();
  const auto all = made.runs("vector_database/milvus/HNSW/run");
  change(all[0] / "result_verdict.json", [](Json& json) { json["flat_setup"]["coverage"] = 0.9; });
  CHECK(made.broken() == "5.3.5");
  fs::remove_all(all[0]);
  CHECK(made.broken() == "5.3.1");
  change(all[1] / "summary.json", [](Json& json) { json["recall"] = 0.0; });
  CHECK(made.broken() == "5.3.1 5.3.2");
  change(all[1] / "summary.json", [](Json& json) {
    json["recall"] = {{"mean_recall", 0.5}};
    json["throughput_qps"] = 1100.0;
    json["index_type"] = "IVF_FLAT";
  });
  CHECK(made.broken() == "5.3.1 5.6.3 mean.vector_database");
}

TEST_CASE("systems without description and descriptions without results are found") {
  MadeSubmission made;
  made.add_training();
  write_file(made.root() / "closed/Acme/systems/sys2.yaml", description("sys2", 1));
  CHECK(made.broken() == "2.1.7 2.1.8");
  const fs::path all = made.root() / "closed/Acme/results";
  fs::rename(all / "sys1", all / "other");
  CHECK(counts_of(made.report()).errors == 4);
}

TEST_CASE("any single workload, system or organisation can be checked alone") {
  MadeSubmission made;
  made.add_training();
  made.add_vector_database();
  for (const std::string below : {"closed", "closed/Acme", "closed/Acme/results/sys1"})
    CHECK(find_tree(made.root() / below).workloads.size() == 2);
  for (const std::string below : {"training", "training/retinanet", "vector_database/milvus",
                                  "vector_database/milvus/HNSW/run"}) {
    const Tree tree = find_tree(made.results(below));
    REQUIRE(tree.workloads.size() == 1);
    CHECK(tree.workloads[0].organisation == "Acme");
    CHECK(tree.workloads[0].closed());
  }
  CHECK_THROWS_WITH(find_tree(made.root() / "closed/Acme/systems"),
                    Contains("there is no workload of MLPerf Storage"));
}

TEST_CASE("captured code, and folders above that are named like categories, are no workloads") {
  MadeSubmission made;
  made.add_training();
  for (const char* code : {"Acme/code-0123abcd", "code-images/code-0123abcd"})
    write_file(made.root() / code / "results/tool/checkpointing/storage_readers/a.py", "");
  CHECK(made.report().workloads.size() == 1);
  const TemporaryDirectory above;
  fs::create_directories(above.path() / "training/round");
  fs::copy(made.root(), above.path() / "training/round", fs::copy_options::recursive);
  CHECK(find_tree(above.path() / "training/round").workloads.size() == 1);
  // mlpstorage's own folder of results has no organisation.
  const TemporaryDirectory loose;
  fs::copy(made.results("training"), loose.path() / "training", fs::copy_options::recursive);
  const Tree tree = find_tree(loose.path());
  REQUIRE(tree.workloads.size() == 1);
  CHECK(tree.workloads[0].division.empty());
  CHECK(tree.workloads[0].run.size() == 6);
}

TEST_CASE("what Python writes for numbers that are none does not make a file unreadable") {
  Training made;
  const fs::path file = made.all()[0] / "summary.json";
  std::string text = read_file(file);
  text.insert(1, R"("train_au_stdev_percentage": NaN, "quoted": "a \" NaN", "b": -Infinity, )");
  write_file(file, text);
  CHECK(made.broken() == "");
}

TEST_CASE("object storage lies in no file system, and one host that was named twice is found") {
  Training made;
  const fs::path leaf = made.all()[1];
  fs::remove(leaf / "fs_separation.json");
  CHECK(made.broken() == "3.4.2");
  change(made.metadata(leaf), [](Json& json) { json["args"]["data_access_protocol"] = "object"; });
  CHECK(made.broken() == "");
  change(made.metadata(leaf), [](Json& json) { json["args"]["hosts"] = {"client1,client2:4"}; });
  CHECK(made.broken() == "3.3.4");
}

TEST_CASE("a run without summary, and an organisation without systems, are errors of the round") {
  Training made;
  fs::remove(made.all()[2] / "summary.json");
  CHECK(made.broken(Edition::closed_round) == "2.1.19");
  Training without;
  fs::remove_all(without.root() / "closed/Acme/systems");
  CHECK(without.broken(Edition::closed_round) == "2.1.5");
  CHECK(check_storage(find_tree(without.results("training")), {}, Edition::closed_round)
            .findings.empty());  // a part: nothing is said of the rest
}

TEST_CASE("links to themselves and pipes where files belong end nothing") {
  Training made;
  const fs::path leaf = made.all()[0];
  fs::remove(leaf / "summary.json");
  fs::create_symlink("summary.json", leaf / "summary.json");
  fs::remove_all(leaf / "dlio_config");
  fs::create_symlink("dlio_config", leaf / "dlio_config");
  fs::create_symlink("results", made.results("training/retinanet/run/results"));
  CHECK(made.broken().find("2.1.19 2.1.20") != std::string::npos);
}

TEST_CASE("files that are no JSON, or hold other things than expected, end nothing") {
  MadeSubmission made;
  made.add_training();
  const auto all = made.runs("training/retinanet/run");
  write_file(all[0] / "summary.json", "{\"start\": ");
  write_file(all[1] / "summary.json", "[1, 2]");
  write_file(all[2] / "summary.json", R"({"start": 7, "metric": [], "host_memory_GB": {"a": 1}})");
  write_file(made.metadata(all[3]), R"({"args": "none", "override_parameters": 3})");
  const StorageReport report = made.report();
  CHECK(counts_of(report).errors > 0);
  CHECK(made.broken().find("leaf.json") != std::string::npos);
}

}  // namespace
}  // namespace bench::mlperf::storage
