// Hashes of exact results known to be correct: hosts/golden/*.json of the installation, and golden/
// next to the database for this site. Each job gets those that may apply.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/job.h"

namespace bench {

class GoldenValues {
 public:
  GoldenValues() = default;
  /// Reads every *.json of these folders; missing folders are skipped. Throws Error(input)
  /// naming the file, or both files if they have different hashes for one result.
  static GoldenValues load(const std::vector<std::filesystem::path>& folders);
  /// Those of the installation and of this site.
  static GoldenValues installed(const std::filesystem::path& database);

  /// Those of the job's probe and seed, made with the libraries ({"onednn": "2.6.3"}) of the
  /// program that will run it. The rank decides which of them fits a result.
  std::vector<KnownResult> for_job(const Job& job, const Json& libraries) const;
  /// A document as `benchctl golden` writes it. Throws Error(input), naming `source`, if it
  /// contradicts a known value.
  void add(const Json& document, const std::string& source);
  std::size_t size() const { return values_.size(); }

 private:
  struct Value {
    std::string probe;
    KnownResult result;
  };
  void add(Value value);

  std::vector<Value> values_;
};

/// Stores a document for later runs on this site, in one file per run, which may be replaced.
/// Throws Error(input) if it contradicts another; nothing is changed then.
std::filesystem::path keep_golden(const Json& document, const std::filesystem::path& database);

/// The folder of this site's golden values.
std::filesystem::path golden_folder(const std::filesystem::path& database);

}  // namespace bench
