// Counters that say what a test wants, or never answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/telemetry/counter_source.h"

namespace bench {

class FakeCounters final : public CounterSource {
 public:
  using Read = std::function<void(std::span<double>)>;
  FakeCounters(std::string name, std::vector<CounterColumn> columns, Read read, double period = 0.0)
      : name_(std::move(name)),
        columns_(std::move(columns)),
        read_(std::move(read)),
        period_{period} {}

  std::string name() const override { return name_; }
  std::vector<CounterColumn> columns() const override { return columns_; }
  Seconds least_period() const override { return period_; }
  void read(std::span<double> values) override { read_(values); }

 private:
  std::string name_;
  std::vector<CounterColumn> columns_;
  Read read_;
  Seconds period_;
};

}  // namespace bench
