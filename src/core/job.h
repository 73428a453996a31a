// A job: one probe with concrete parameters. JSON form: schemas/job.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/record.h"
#include "core/shared_json.h"

namespace bench {

// Environment variables that select the part of a host a rank uses. The rank translates them for
// its libraries: Slurm may set CUDA_VISIBLE_DEVICES itself in steps with gres, and NIC names differ
// between hosts.

/// "cuda:3", "numa:1"; "cuda:3,cuda:5" for one GPU per rank of a host.
inline constexpr const char* kDeviceVariable = "BENCH_DEVICE";
/// "mlx5_2" for all hosts, or "n1=mlx5_2,n2=mlx5_3".
inline constexpr const char* kCardsVariable = "BENCH_NETWORK_CARDS";

/// Marks every rank of a run under any launcher, to find leftover processes (bench-rank --sweep).
inline constexpr const char* kRunVariable = "BENCHCTL_RUN";
/// The run folder on the machine of benchctl; other hosts may lack it.
inline constexpr const char* kRunFolderVariable = "BENCHCTL_RUN_FOLDER";

/// When to stop repeating; a suite may override the defaults.
struct MeasureSettings {
  int min_clean = 20;           // clean samples before the interval counts
  double interval = 0.01;       // half-width of the 95 % interval of the median, relative
  int max_samples = 2000;       // per series
  double min_time_s = 0.05;     // per series: covers a few scheduler ticks
  double max_time_s = 2.0;      // per series, without warm-up
  double warm_up_max_s = 1.0;   // per series
  double min_sample_s = 0.001;  // shorter work is repeated within a sample
};

/// Sampling of host and GPU counters during the job.
struct TelemetrySettings {
  bool enabled = false;
  double period_s = 0.1;
  bool counters = false;  // error counters of every host, read at the beginning and end
};

/// A limit known before launch, for the series of `metric` with all of `params`.
struct KnownLimit {
  std::string metric;
  Json params = Json::object();
  Limit limit;
};

/// The hash of an exact result found earlier, for the result with exactly this key.
struct KnownResult {
  Json key = Json::object();  // {"chip": ..., "library": ..., "dtype": ...}
  std::string hash;           // 16 hexadecimal digits
  std::string source;         // the file that contains it
};

struct Job {
  std::string id;         // unique in its run: "03.gemm.2"
  std::string case_name;  // its case in the suite
  std::string probe;
  std::string device = "host";  // host, cuda
  SharedJson params;            // complete, with defaults filled in
  std::vector<std::string> hosts;
  /// The part of its hosts it uses: {"device": "cuda:3"}, {"rail": 2, "card": "mlx5_2"} (no card if
  /// its name differs between hosts); empty for whole hosts. Identifies the measurement; env passes
  /// it to the ranks.
  Json part = Json::object();
  int ranks = 1;                 // over all hosts; ranks verify the world size
  std::string binding = "core";  // none, core, socket, share: how the launcher pins ranks
  std::map<std::string, std::string> env;
  std::uint64_t seed = 1;
  int repeat = 0;  // index of the repeat of the case
  double timeout_s = 60.0;
  MeasureSettings measure;
  TelemetrySettings telemetry;
  std::vector<KnownLimit> limits;
  std::vector<KnownResult> golden;
};

/// Whether the text is a valid KnownResult hash: 16 digits of 0-9 and a-f.
bool is_result_hash(const std::string& text);

Json to_json(const Job& job);
/// Throws Error(input) for anything schemas/job.json forbids.
Job job_from_json(const Json& json);

Json to_json(const MeasureSettings& settings);
MeasureSettings measure_settings_from_json(const Json& json);
Json to_json(const TelemetrySettings& settings);
TelemetrySettings telemetry_settings_from_json(const Json& json);

}  // namespace bench
