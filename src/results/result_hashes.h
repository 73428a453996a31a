// The hashes of exact results that a run kept (facts of topic "result_hash"): do equal devices
// agree, and does each agree with the golden value its job brought along? Derived from the records
// alone: the golden value a result was compared with stands in its record.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/run_records.h"

namespace bench {

struct ResultHash {
  std::string job;
  std::string probe;
  std::string host;
  std::string device;
  int rank = 0;
  Json key = Json::object();  // equal keys must have equal hashes
  std::string hash;
  std::string golden;  // what it was compared with; empty for none
  std::string source;  // where that came from
};

/// In the order of arrival; what is damaged is left out.
std::vector<ResultHash> result_hashes(const RunRecords& run);

/// Those with one hash.
struct HashCamp {
  std::string hash;
  std::vector<const ResultHash*> members;
};

/// For each key whose hashes differ its camps, the smallest first: where most agree, the others are
/// the suspects. Points into `hashes`.
std::vector<std::vector<HashCamp>> unequal_results(const std::vector<ResultHash>& hashes);

/// "chip NVIDIA H200, dtype bf16, k 8192, ...".
std::string describe_key(const Json& key);

/// One sentence for each key whose hashes differ: which devices have which. Where most agree, the
/// others are named first: they are the suspects.
std::vector<std::string> disagreements(const std::vector<ResultHash>& hashes);

/// One sentence for each result that is unlike its golden value, with both hashes and the device.
std::vector<std::string> unlike_golden(const std::vector<ResultHash>& hashes);

/// "no golden value for 3 results of NVIDIA H200, cublaslt 13.1.0": one sentence for each kind of
/// chip and library.
std::vector<std::string> without_golden(const std::vector<ResultHash>& hashes);

/// {"results", "golden", "different": [...], "without_golden": [...], "disagreements": [...]}.
Json hashes_json(const std::vector<ResultHash>& hashes);

/// The document that benchctl golden writes (schemas/golden.json): each key once, of the jobs that
/// ended ok, of chips that are known, and not of devices that disagree.
Json golden_document(const RunRecords& run);

}  // namespace bench
