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
  /// Reads every *.json of these folders; one that does not exist has none. Throws Error(input)
  /// naming the file, and both files where two give one result different hashes.
  static GoldenValues load(const std::vector<std::filesystem::path>& folders);
  /// What comes with the program, and what this site kept.
  static GoldenValues installed(const std::filesystem::path& database);

  /// Those of the job's probe and seed, made with the libraries ({"onednn": "2.6.3"}) of the
  /// program that will run it. Which of them fits a result is the rank's to say.
  std::vector<KnownResult> for_job(const Job& job, const Json& libraries) const;
  /// A document as `benchctl golden` writes it. Throws Error(input) where it contradicts what is
  /// known; `source` names it there.
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

/// Keeps a document for later runs on this site, in a file of its run; the same run again replaces
/// its own. Throws Error(input) where it contradicts another, and changes nothing then.
std::filesystem::path keep_golden(const Json& document, const std::filesystem::path& database);

/// Where this site's own lie.
std::filesystem::path golden_folder(const std::filesystem::path& database);

}  // namespace bench
