// One workload under check: its files, read once, and what was found.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mlperf/finding.h"
#include "mlperf/storage/leaf_files.h"
#include "mlperf/storage/storage_rules.h"
#include "mlperf/storage/storage_tree.h"

namespace bench::mlperf::storage {

struct LocatedFinding {
  std::filesystem::path path = {};  // a file or folder
  Finding finding = {};
};

struct LoadedLeaf {
  Leaf leaf;
  LeafFiles files;

  const Json& summary() const { return files.summary.value; }
  const Json& metadata() const { return files.metadata.value; }
};

struct Subject {
  const Workload& workload;
  int round = 3;
  Edition edition = Edition::closed_round;
  std::vector<LoadedLeaf> datasize = {}, datagen = {}, run = {};
  std::vector<LocatedFinding> found = {};

  /// Adds a finding with the rule's severity.
  void add(std::string_view rule, const std::filesystem::path& path, const std::string& text,
           const std::string& expected = {}, const std::string& seen = {});
  /// With another severity than the rule's.
  void add_as(Severity severity, std::string_view rule, const std::filesystem::path& path,
              const std::string& text, const std::string& expected = {},
              const std::string& seen = {});
};

/// Reads all files of the workload. Throws Error(environment) for unreadable folders.
Subject load_subject(const Workload& workload, int round, Edition edition);

/// A number in a text: "0.9", "147597".
std::string shown(double number);
/// Whether two numbers differ by more than this share of the larger.
bool differ(double a, double b, double tolerance);
double mean_of(const std::vector<double>& numbers);
/// The accelerator of a training's arguments, in lower case; "" if unknown.
std::string accelerator_of(const LoadedLeaf& one);
/// A folder's path without "." and without a slash at its end.
std::filesystem::path without_last_slash(const std::filesystem::path& path);

// Checks. Each adds its findings.

/// A finding for a file that is no JSON, a note for one that was replaced.
void check_json(Subject& subject, const JsonFile& file);
/// Files that every leaf must have, JSON that cannot be read, and the order of times.
void check_leaves(Subject& subject);
/// Files of ranks and hosts of training and checkpointing.
void check_ranks(Subject& subject);
void check_training(Subject& subject);
void check_checkpointing(Subject& subject);
void check_kv_cache(Subject& subject);
void check_vector_database(Subject& subject);

/// fs_separation.json of the runs; `rule` is that of the category.
void check_separation(Subject& subject, std::string_view rule);
/// Two folders of the arguments that must be given and differ.
void check_folders(Subject& subject, std::string_view rule,
                   std::initializer_list<const char*> data_keys);

}  // namespace bench::mlperf::storage
