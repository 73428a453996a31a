// The measuring rules, in one place. A procedure prepares its data and passes State a Measurement;
// State warms up until steady, synchronises the ranks, measures, verifies the output and writes the
// records (docs/measuring.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/job.h"
#include "core/record.h"
#include "devices/crowding.h"
#include "devices/device.h"
#include "devices/group.h"
#include "probes/probe.h"
#include "probes/sampler.h"
#include "probes/work_watch.h"

namespace bench {

/// Where records go: stdout in a rank, a vector in a test.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void write(Record record) = 0;
};

/// Writes a record of this job, stamped with rank and time; at rank 0 only.
void write_record(RecordSink& sink, const Group& group, const std::string& job,
                  decltype(Record::body) body);

struct Measured {
  Status outcome = Status::ok;  // of its worst report
  Seconds median;               // per call, of the clean samples (of all if none is clean)
  std::size_t clean = 0;
  std::vector<unsigned> flags = {};  // SampleFlag sets, one for each sample
  std::optional<Hertz> clock;        // median during the series
  /// Core cycles per call, median over the clean samples; computed for each sample, because the
  /// clock changes between samples.
  std::optional<double> cycles;
  /// Of the median: one sample, which is clean if any was.
  Conditions conditions = {};
};

class State;

/// Writes values that measure() did not take, but that load on the machine can change.
class JudgedSeries {
 public:
  JudgedSeries(State& state, const Conditions& conditions)
      : state_(state), conditions_(conditions) {}

  /// Of all samples of the conditions together.
  void value(const std::string& metric, double value, const Json& params = Json::object(),
             std::optional<Limit> limit = {}, std::optional<Check> check = {}) const;
  /// One for each sample of the conditions, or parts of all of them.
  void values(const std::string& metric, std::vector<double> values,
              const Json& params = Json::object(), const std::string& over = "rank") const;

 private:
  State& state_;
  const Conditions& conditions_;
};

/// When a part of the job ran, on the device's clock.
struct Span {
  std::string phase;  // "warm_up", "measure", "verify"
  Json params;        // of the series
  Seconds begin;
  Seconds end;
};

class State {
 public:
  State(const Job& job, const Probe& probe, Device& device, Group& group, RecordSink& sink);

  const Job& job() const { return job_; }
  Device& device() { return device_; }
  Group& group() { return group_; }

  // Parameters; the schema has already filled in defaults and checked types and ranges.
  std::string text(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  bool flag(const std::string& name) const;
  bool has(const std::string& name) const;  // present and not null
  const Json& param(const std::string& name) const;
  /// Whether the list `name` has this value.
  bool lists(const std::string& name, std::string_view value) const;
  template <class T>
  std::vector<T> list(const std::string& name) const {
    return param(name).get<std::vector<T>>();
  }

  /// Measures one series and writes its records. Every rank of the group must make the same call.
  Measured measure(const Measurement& measurement);

  /// Values that measure() did not take: under the conditions found by a WorkWatch. The series
  /// must not outlive them.
  JudgedSeries under(const Conditions& conditions) { return {*this, conditions}; }

  /// A single value that no load on the machine changes: a count, a size. It is clean.
  void value(const std::string& metric, double value, const Json& params = Json::object(),
             std::optional<Limit> limit = {}, std::optional<Check> check = {});

  /// Such values: each one is a sample, in base units of the metric; `over` is Samples::over.
  void values(const std::string& metric, std::vector<double> values,
              const Json& params = Json::object(), const std::string& over = "rank");

  /// This series cannot be measured here; the job continues.
  void skip_series(const std::string& metric, const Json& params, const std::string& reason);

  /// The whole job cannot be measured here: the machine or this build lacks something. Call and
  /// return.
  void skip(const std::string& reason);
  /// The state of the machine prevents the whole job, which counts as not run (kPreventedEvent).
  /// Call and return.
  void prevent(const std::string& reason);
  /// The results are invalid. Call and return; the records are kept.
  void invalid(const std::string& reason);
  /// The job ended with another status. Call and return; the records are kept.
  void conclude(Status status, const std::string& reason);

  void facts(const std::string& topic, const Json& facts);
  void chunk(const std::string& name, const Json& columns);
  /// Something that happens now.
  void event(const std::string& key, const Json& value);

  /// The dispatcher's limit for this metric and these parameters.
  std::optional<Limit> known_limit(const std::string& metric, const Json& params) const;

  /// The dispatcher's golden result for exactly this key.
  std::optional<KnownResult> known_result(const Json& key) const;

  /// The phases of each measured series so far, in order.
  const std::vector<Span>& spans() const { return spans_; }

  /// The outcome of the job. Called once, after the procedure returned.
  Outcome finish();

 private:
  friend class JudgedSeries;
  void write(decltype(Record::body) body) { write_record(sink_, group_, job_.id, std::move(body)); }
  Samples blank(const std::string& metric, const Json& params) const;
  /// `highest_clock`: the highest reading, relative to the clock of the limit.
  Status emit(Samples samples, double highest_clock = 1.0);
  const MetricInfo& metric_info(const std::string& name) const;

  const Job& job_;
  const Probe& probe_;
  Device& device_;
  Group& group_;
  RecordSink& sink_;
  Crowding crowding_;
  Status status_ = Status::ok;
  std::string reason_;
  std::map<std::string, double> phases_;
  std::vector<Span> spans_;
  Seconds started_;
  std::size_t measured_ = 0;  // series with a value
  std::size_t skipped_ = 0;
};

/// Why a value is impossible given its limit: more than 2 % above a proven bound at the highest
/// clock.
/// "" if it is possible.
std::string above_limit(double value, Better better, const Limit& limit,
                        double highest_clock = 1.0);

}  // namespace bench
