// The JSON files of one invocation, as mlpstorage and DLIO write them. Numbers occur as text, "MB"
// and "GB" are binary, times are local without a zone: what reads them is here.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "mlperf/storage/storage_tree.h"

namespace bench::mlperf::storage {

/// What became of a file.
enum class FileState {
  absent,
  pruned,  // replaced by a line "PRUNED BY STAFF" before publication
  wrong,   // no JSON
  read
};

struct JsonFile {
  std::filesystem::path path = {};
  FileState state = FileState::absent;
  Json value = {};
  std::string problem = {};  // of a wrong one

  bool ok() const { return state == FileState::read; }
};

JsonFile read_json_file(const std::filesystem::path& path);

/// Whether a file's text is the placeholder of one that was replaced.
bool is_pruned(std::string_view text);

/// Whether something of this name is there; false for what cannot be looked at.
bool is_there(const std::filesystem::path& path);
/// The first bytes of a regular file; empty for what cannot be read.
std::string beginning_of(const std::filesystem::path& path, std::size_t most);
/// A text from a file for a report: printable, at most 60 characters.
std::string brief(const std::string& text);

/// The files of ranks by number: "12_output.json" is number 12.
using RankFiles = std::map<int, std::filesystem::path>;

struct LeafFiles {
  JsonFile summary = {};   // summary.json
  JsonFile metadata = {};  // *_metadata.json
  int metadata_files = 0;
  std::vector<std::string> other_summaries = {};  // kvcache_run_summary_*.json: not read by anyone
  RankFiles outputs = {}, epochs = {};            // training and checkpointing
  std::vector<std::string> names = {};            // of all files and folders, in order
};

/// Throws Error(environment) for an unreadable folder.
LeafFiles read_leaf(const Leaf& leaf);

/// Whether a file or folder of this name is there, be it a placeholder.
bool has(const LeafFiles& files, std::string_view name);

// Values. All return nothing for what is absent or of another kind.

/// A field by its path; numbers may be written as text.
std::optional<double> number_at(const Json& json, std::initializer_list<const char*> keys);
std::optional<std::string> text_at(const Json& json, std::initializer_list<const char*> keys);
std::optional<bool> flag_at(const Json& json, std::initializer_list<const char*> keys);
/// The value at a path, or null.
const Json& value_at(const Json& json, std::initializer_list<const char*> keys);
/// Numbers of a list; nothing if any element is none.
std::optional<std::vector<double>> numbers_at(const Json& json,
                                              std::initializer_list<const char*> keys);

/// "2026-07-24T14:16:13.119678" as seconds since 1970 in its own time zone. With a "Z" it is in
/// UTC, which `is_utc` says.
struct LocalTime {
  double seconds = 0.0;
  bool is_utc = false;
};
std::optional<LocalTime> time_at(const Json& json, std::initializer_list<const char*> keys);

/// The parameters of an invocation: `parameters`, in round 2.0 `combined_params`.
const Json& parameters_of(const Json& metadata);

}  // namespace bench::mlperf::storage
