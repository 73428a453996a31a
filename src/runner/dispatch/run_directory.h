// The folder of one run: plan.json, records.jsonl, log/. Its name is the run's ID.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace bench {

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
