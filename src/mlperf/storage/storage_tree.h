// The folders of an MLPerf Storage submission, of rounds 2.0 and 3.0:
//   DIVISION/ORGANISATION/results/SYSTEM/training/MODEL/{datasize,datagen,run}/STAMP/
//                                       checkpointing/MODEL/STAMP/
//                                       kv_cache/MODEL/run/STAMP/
//                                       vector_database/ENGINE/INDEX/{datasize,datagen,run}/STAMP/
//   DIVISION/ORGANISATION/systems/SYSTEM.{yaml,pdf}
// A stamp is YYYYMMDD_HHMMSS in the client's local time. A path may name any level.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::mlperf::storage {

enum class Category { training, checkpointing, kv_cache, vector_database };
std::string_view to_string(Category category);  // the name of its folder

/// What one invocation of mlpstorage left.
struct Leaf {
  std::filesystem::path folder;
  std::string stamp;                        // the folder's name, whatever it is
  std::optional<std::int64_t> time_s = {};  // of a well-formed stamp, in its own time zone
};

/// "20260724_141551" as seconds since 1970 in its own time zone; nothing for other names.
std::optional<std::int64_t> stamp_seconds(std::string_view name);

/// All invocations of one workload on one system. Names are those of folders: print them with
/// printable().
struct Workload {
  Category category = Category::training;
  std::string division = {};      // "closed", "open"; "" outside the layout
  std::string organisation = {};  // likewise
  std::string system = {};
  std::string model = {};  // of vector databases "ENGINE/INDEX"
  std::filesystem::path folder = {};
  std::vector<Leaf> datasize = {}, datagen = {}, run = {};  // by stamp
  std::vector<std::string> unknown = {};                    // other folders where phases belong

  bool closed() const { return division == "closed"; }
};

/// The description of a system.
struct SystemFiles {
  std::string division = {}, organisation = {}, system = {};
  std::filesystem::path folder = {};  // systems/
  bool yaml = false, pdf = false;
};

struct Tree {
  std::filesystem::path root = {};
  std::vector<Workload> workloads = {};  // by folder
  std::vector<SystemFiles> systems = {};
  std::vector<std::filesystem::path> unknown_categories = {};  // below results/SYSTEM
  int round = 3;                                               // 2 or 3
  std::string round_reason;                                    // why this one
};

/// Skips names that begin with a dot, links to folders, and captured code; at most 16 levels. A
/// category lies in results/SYSTEM; where there is none such, anywhere, as mlpstorage writes it.
/// Throws Error(input) if there is no workload, Error(environment) for an unreadable folder.
Tree find_tree(const std::filesystem::path& path);

}  // namespace bench::mlperf::storage
