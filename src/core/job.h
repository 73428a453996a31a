// A job of a rank: one probe with concrete parameters. JSON form: schemas/job.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/record.h"

namespace bench {

// The environment variables that tell a rank which part of its host is meant. They are our own, and
// the rank turns them into what its libraries read: CUDA_VISIBLE_DEVICES is Slurm's to set in a
// step with gres, and cards may have other names on other hosts.

/// "cuda:3", "numa:1"; several GPUs, one for each rank of a host, with commas: "cuda:3,cuda:5".
inline constexpr const char* kDeviceVariable = "BENCH_DEVICE";
/// "mlx5_2" for all hosts, or "n1=mlx5_2,n2=mlx5_3".
inline constexpr const char* kCardsVariable = "BENCH_NETWORK_CARDS";

// The environment variable that marks every rank of a run, whichever launcher started it: what a
// run left behind on a host is found by it (bench-rank --sweep).

inline constexpr const char* kRunVariable = "BENCHCTL_RUN";
/// The folder of the run on the machine that benchctl runs on; other hosts may not have it.
inline constexpr const char* kRunFolderVariable = "BENCHCTL_RUN_FOLDER";

/// When to stop repeating; the defaults are the measuring rules, a suite may tighten or loosen
/// them.
struct MeasureSettings {
  int min_clean = 20;           // clean samples before the interval is looked at
  double interval = 0.01;       // half-width of the 95 % interval of the median, relative
  int max_samples = 2000;       // per series
  double min_time_s = 0.05;     // per series: long enough to meet a few scheduler ticks
  double max_time_s = 2.0;      // per series, warm-up not counted
  double warm_up_max_s = 1.0;   // per series
  double min_sample_s = 0.001;  // shorter work is repeated inside one sample
};

/// Whether counters of the host and its GPUs are read while the job runs, and how often.
struct TelemetrySettings {
  bool enabled = false;
  double period_s = 0.1;
  bool counters = false;  // of errors, of every host, read when the job begins and ends
};

/// A limit the dispatcher knows before launch: it applies to the series of `metric` whose
/// parameters contain all of `params`.
struct KnownLimit {
  std::string metric;
  Json params = Json::object();
  Limit limit;
};

/// What an exact result was found to be before, as the text of its hash: it applies to the result
/// whose key is exactly this one.
struct KnownResult {
  Json key = Json::object();  // {"chip": ..., "library": ..., "dtype": ...}
  std::string hash;           // 16 hexadecimal digits
  std::string source;         // the file it stands in
};

struct Job {
  std::string id;         // unique in its run: "03.gemm.2"
  std::string case_name;  // the suite's case it comes from
  std::string probe;
  std::string device = "host";   // host, cuda
  Json params = Json::object();  // concrete and complete: defaults are filled in
  std::vector<std::string> hosts;
  /// Which part of its hosts it is on: {"device": "cuda:3"}, {"rail": 2, "card": "mlx5_2"} (no card
  /// where its name differs from host to host); empty for whole hosts. A part of the identity of
  /// what it measures; how it reaches the ranks stands in env.
  Json part = Json::object();
  int ranks = 1;                 // over all hosts; a rank that finds another world size refuses
  std::string binding = "core";  // none, core, socket, share: where the launcher pins each rank
  std::map<std::string, std::string> env;
  std::uint64_t seed = 1;
  int repeat = 0;  // which repeat of the case this is
  double timeout_s = 60.0;
  MeasureSettings measure;
  TelemetrySettings telemetry;
  std::vector<KnownLimit> limits;
  std::vector<KnownResult> golden;
};

/// Whether the text is one a KnownResult may have: 16 digits of 0-9 and a-f.
bool is_result_hash(const std::string& text);

Json to_json(const Job& job);
/// Throws Error(input) for what schemas/job.json does not allow.
Job job_from_json(const Json& json);

Json to_json(const MeasureSettings& settings);
MeasureSettings measure_settings_from_json(const Json& json);
Json to_json(const TelemetrySettings& settings);
TelemetrySettings telemetry_settings_from_json(const Json& json);

}  // namespace bench
