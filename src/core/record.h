// Records: the output of a rank for a job, one per line (core/wire.h), stored unchanged in
// runs/<id>/records.jsonl; all results are derived from them. JSON form: schemas/record.json.
// kRecordVersion changes with their meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/json.h"
#include "core/units.h"

namespace bench {

inline constexpr int kRecordVersion = 1;

/// Event of a job that the state of the machine prevented (value {"why"}): a busy core, a missing
/// folder. Its outcome is `skipped`, but it counts as not run, unlike a job that cannot run here.
inline constexpr const char* kPreventedEvent = "prevented";

/// Result of a job or series. `ok` means measured and verified.
enum class Status { ok, skipped, invalid, failed, timed_out };

/// Origin of a limit. Only a proven bound makes a result above it invalid.
enum class LimitKind { proven, datasheet, measured };

/// Reasons why a sample is not clean, and notes; bits of Samples::flags.
enum SampleFlag : unsigned {
  kClean = 0,
  kStolen = 1,       // a measuring thread lost 0.1 % or more of the sample to other processes
  kClockMoved = 2,   // the clock was more than 2 % away from its running median
  kThermal = 4,      // a thermal or hardware slowdown was reported
  kPowerCapped = 8,  // noted, never filtered
  kCrowded = 16,     // other processes used more than a tenth of the machine during the series
  kCoreShared = 32   // a measuring thread shared its core, as under a hypervisor
};
/// Flags of samples that are not clean.
inline constexpr unsigned kUnclean = kStolen | kClockMoved | kThermal | kCrowded | kCoreShared;

struct Limit {
  double value = 0.0;  // in the unit of the metric
  LimitKind kind = LimitKind::datasheet;
  std::string source;  // derivation, e.g. "2 FMA pipes x 16 lanes x 3.7 GHz"
  /// The device clock of a value that scales with it.
  std::optional<double> clock_hz = {};
};

/// Verification of the output of the timed code.
struct Check {
  std::string method;      // e.g. "exact integers", "Freivalds"
  double error = 0.0;      // largest deviation found; may be NaN, which fails
  double tolerance = 0.0;  // passes when !(error > tolerance) and error is a number
  bool passed() const { return error <= tolerance; }
};

/// Conditions of a series, which the clean filter must not hide.
struct Quality {
  std::optional<double> cpu_share;     // CPU time / (wall time x threads) over the whole series
  std::optional<double> steal_share;   // CPU time taken by the hypervisor
  std::optional<double> throttled_s;   // throttled by the CPU quota of the cgroup
  std::optional<double> clock_hz;      // median core clock during the series
  std::optional<double> others_share;  // CPU time of other processes
  std::optional<double> wall_s = {};   // duration of the series without warm-up
};

/// One metric at one set of parameters: all repetitions in order.
struct Samples {
  std::string metric;  // without the probe's name: "throughput"
  Unit unit = Unit::second;
  Better better = Better::lower;
  Json params = Json::object();  // what varies inside the job, e.g. {"dtype": "f32", "m": 512}
  std::vector<double> values;    // in base units of `unit`
  std::vector<unsigned> flags;   // one SampleFlag set per value
  std::string over = "rank";  // "rank": this rank's own; "max", "mean": over all ranks, per value
  std::string stop;           // stopping rule: interval, max_samples, max_time, fixed
  std::int64_t repeats = 1;   // calls per sample
  std::optional<Limit> limit;
  std::optional<Check> check;
  Quality quality;
  /// Choices of a library for this series ({"algorithm": "NVLS", ...}); null if not reported. Not
  /// part of the identity of the series: a changed choice must not hide a slower result.
  Json chosen = nullptr;
  Status outcome = Status::ok;
  std::string reason;
};

/// Bulk data: telemetry, traces, curves. Columns of equal length.
struct Chunk {
  std::string name;
  Json columns = Json::object();  // {"time_s": [...], "power_w": [...]}
};

/// Duration of a part of a job: launch, prepare, warm_up, measure, verify.
struct Phase {
  std::string name;
  double seconds = 0.0;
};

/// An event in time (log lines of training, faults).
struct Event {
  std::string key;
  Json value;
};

/// Facts about a host, device or program, by topic.
struct Facts {
  std::string topic;  // "program", "host", "topology"
  Json facts = Json::object();
};

/// The end of a job. Of several in a file the last one counts, because the dispatcher may overrule
/// a rank.
struct Outcome {
  Status status = Status::ok;
  std::string reason;
  double seconds = 0.0;  // wall time of the job
};

struct Record {
  std::string job;   // the job's id; empty for facts about a program or host
  std::string host;  // where it was made
  int rank = 0;
  std::int64_t time_ns = 0;  // UTC, since 1970
  std::variant<Samples, Chunk, Phase, Event, Facts, Outcome> body;
};

std::string_view to_string(Status status);
Status status_from(std::string_view name);
std::string_view to_string(LimitKind kind);
LimitKind limit_kind_from(std::string_view name);

/// ok < skipped < invalid < failed < timed_out.
Status worse(Status a, Status b);

Json to_json(const Limit& limit);
Limit limit_from_json(const Json& json);

Json to_json(const Record& record);
/// Throws Error(input) for anything schemas/record.json forbids.
Record record_from_json(const Json& json);

}  // namespace bench
