// Counters of a host or GPU, sampled while a job runs. A gauge is a current value (power, memory
// used); a counter only grows, and only its differences are of interest.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "core/units.h"

namespace bench {

struct CounterColumn {
  enum Kind { gauge, counter };
  std::string name;  // "read_bytes"
  std::string unit;  // in base units: "byte", "second", "watt"
  Kind kind = gauge;
  double wraps_at = 0.0;  // a counter that starts over at this value; 0: unknown
  /// The names of a gauge's bits, lowest first; empty for a quantity.
  std::vector<std::string> bits = {};
};

class CounterSource {
 public:
  virtual ~CounterSource() = default;
  /// The name of its chunk: "host.disk".
  virtual std::string name() const = 0;
  /// The same at every call.
  virtual std::vector<CounterColumn> columns() const = 0;
  /// Reading more often yields nothing new, or costs too much.
  virtual Seconds least_period() const { return {0.0}; }
  /// One value per column; NaN for what cannot be read at the moment.
  virtual void read(std::span<double> values) = 0;
};

using CounterSources = std::vector<std::unique_ptr<CounterSource>>;
/// Finds the sources of a host; called for each job.
using SourceFactory = std::function<CounterSources()>;

/// A source made of a function: most counters of a host are a file and a way to read it.
class TableSource final : public CounterSource {
 public:
  using Read = std::function<void(std::span<double> values)>;
  TableSource(std::string name, std::vector<CounterColumn> columns, Read read,
              Seconds least_period = {0.0})
      : name_(std::move(name)),
        columns_(std::move(columns)),
        read_(std::move(read)),
        least_period_(least_period) {}

  std::string name() const override { return name_; }
  std::vector<CounterColumn> columns() const override { return columns_; }
  Seconds least_period() const override { return least_period_; }
  void read(std::span<double> values) override { read_(values); }

 private:
  std::string name_;
  std::vector<CounterColumn> columns_;
  Read read_;
  Seconds least_period_;
};

inline constexpr double kUnread = std::numeric_limits<double>::quiet_NaN();

/// NaN for no number and for a negative one, which no counter can be.
inline double value_of(const std::optional<std::int64_t>& number) {
  return number && *number >= 0 ? static_cast<double>(*number) : kUnread;
}

/// The word at `index` as a value; NaN if it is not a counter's.
inline double number_at(const std::vector<std::string_view>& words, std::size_t index) {
  return index < words.size() ? value_of(parse_number(words[index])) : kUnread;
}

/// Calls `use` with each line of a text.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    use(line);
  }
}

}  // namespace bench
