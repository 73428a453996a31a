// The folder of one run: plan.json, records.jsonl, log/. Its name is the run's ID.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/descriptor.h"
#include "core/record.h"

namespace bench {

// The file of a run's records, one JSON document per line, from which all results are derived. Each
// record is written before it is processed, so that it survives a crash of benchctl.

/// Whether the last line of a spool is incomplete.
inline bool is_torn(std::string_view records) { return !records.empty() && records.back() != '\n'; }

class Spool {
 public:
  /// Creates the file, which must not exist. Throws Error(environment).
  explicit Spool(const std::filesystem::path& path);
  /// Opens an existing file to resume a run. Throws if another benchctl has it open.
  static Spool append_to(const std::filesystem::path& path);

  /// Ends a last line that lacks its line break, and cuts off one that a crash tore: what is
  /// appended to it would be lost with it.
  void complete_last_line();
  /// Writes one line. Throws Error(environment) if it cannot be written completely; the file then
  /// ends with the last complete line.
  void append(const std::string& json);
  void append(const Record& record);
  /// Syncs to disk at most once a second, which limits the loss in a machine crash.
  void sync_now_and_then();
  void sync();
  bool unsynced() const { return unsynced_; }

 private:
  Spool(const std::filesystem::path& path, int flags);
  std::filesystem::path path_;
  Descriptor file_;
  bool unsynced_ = false;
  std::chrono::steady_clock::time_point synced_;
};

// A record written by benchctl itself.

/// From this host, now, rank -1. `job`: "" for the run as a whole.
Record own_record(const std::string& job, decltype(Record::body) body);

class RunDirectory {
 public:
  /// Creates runs/<time>-<suite>-<4 hex>. Throws Error(environment).
  static RunDirectory create(const std::filesystem::path& runs, const std::string& suite,
                             std::int64_t time_ns);

  /// Opens an existing run to resume it.
  static RunDirectory at(const std::filesystem::path& path);

  const std::string& id() const { return id_; }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path records_path() const { return path_ / "records.jsonl"; }
  std::filesystem::path log_path(int launch) const;  // log/01.txt: one per process
  /// Number of existing logs, from an earlier part of the run.
  int logs() const;

  /// Atomic: writes a temporary file and renames it.
  void write_plan(const std::string& text) const;

 private:
  std::string id_;
  std::filesystem::path path_;
};

}  // namespace bench
