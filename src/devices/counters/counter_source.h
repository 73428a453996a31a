// Something that can be asked again and again while a job runs: the host's counters, a GPU's. A
// gauge is a value of the moment (power, memory used); a counter only grows, and its differences
// are what happened in between.
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

#include "core/units.h"

namespace bench {

struct CounterColumn {
  enum Kind { gauge, counter };
  std::string name;  // "read_bytes"
  std::string unit;  // in base units: "byte", "second", "watt"
  Kind kind = gauge;
  double wraps_at = 0.0;  // a counter that starts over at this value; 0: not known
  /// The names of a gauge's bits, the lowest first; empty for one that is a quantity.
  std::vector<std::string> bits = {};
};

class CounterSource {
 public:
  virtual ~CounterSource() = default;
  /// What its chunk is called: "host.disk".
  virtual std::string name() const = 0;
  /// The same at every call.
  virtual std::vector<CounterColumn> columns() const = 0;
  /// Asking more often tells nothing new, or costs too much.
  virtual Seconds least_period() const { return {0.0}; }
  /// One value a column; NaN for what cannot be read just now.
  virtual void read(std::span<double> values) = 0;
};

using CounterSources = std::vector<std::unique_ptr<CounterSource>>;
/// Finds the sources of a host; they are found anew for each job.
using SourceFactory = std::function<CounterSources()>;

// A source made of a few functions: most counters of a host are a file and a way to read it.

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

/// A whole number as a value; NaN for none and for what no counter can be.
inline double value_of(const std::optional<std::int64_t>& number) {
  return number && *number >= 0 ? static_cast<double>(*number) : kUnread;
}

/// The words of a line, split at blanks and at colons; they are parts of the line, which must last.
std::vector<std::string_view> words_of(std::string_view line);
std::vector<std::string_view> words_of(std::string&& line) = delete;
/// The word at `index` as a number; NaN where there is none.
double number_at(const std::vector<std::string_view>& words, std::size_t index);

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
