// Hashes of exact results of a run (facts of topic "result_hash"): whether identical devices agree,
// and whether each matches its golden value. Derived from records only; a record holds the golden
// value it was compared with.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/run/run_records.h"

namespace bench {

struct ResultHash {
  std::string job;
  std::string probe;
  std::string host;
  std::string device;
  int rank = 0;
  Json key = Json::object();  // equal keys must have equal hashes
  std::string hash;
  std::string golden;  // empty for none
  std::string source;  // source of the golden value
};

/// In arrival order; corrupt entries are skipped.
std::vector<ResultHash> result_hashes(const RunRecords& run);

/// The results with one hash.
struct HashGroup {
  std::string hash;
  std::vector<const ResultHash*> members;
};

/// For each key with differing hashes the groups of equal hash, smallest first: where most agree,
/// the others are suspect. Points into `hashes`.
std::vector<std::vector<HashGroup>> unequal_results(const std::vector<ResultHash>& hashes);

/// "chip NVIDIA H200, dtype bf16, k 8192, ...".
std::string describe_key(const Json& key);

/// One sentence per key with differing hashes, listing the devices of each hash. The minority comes
/// first, as the suspects.
std::vector<std::string> disagreements(const std::vector<ResultHash>& hashes);

/// One sentence for each result that is unlike its golden value, with both hashes and the device.
std::vector<std::string> unlike_golden(const std::vector<ResultHash>& hashes);

/// "no golden value for 3 results of NVIDIA H200, cublaslt 13.1.0": one sentence for each kind of
/// chip and library.
std::vector<std::string> without_golden(const std::vector<ResultHash>& hashes);

/// {"results", "golden", "different": [...], "without_golden": [...], "disagreements": [...]}.
Json hashes_json(const std::vector<ResultHash>& hashes);

/// The document of `benchctl golden` (schemas/golden.json): each key once, from ok jobs on known
/// chips, without devices that disagree.
Json golden_document(const RunRecords& run);

}  // namespace bench
