// Error rates of the regression report on this fleet, measured on its own history: false alarms
// without a change compared with the nominal rate, and which losses are detected after how many
// nights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "results/verdicts/regression/peer_group.h"

namespace bench {

struct CalibrationRate {
  std::string what;      // of which test
  double nominal = 0.0;  // nominal share of false alarms
  std::size_t tests = 0, alarms = 0;
  double observed() const {
    return tests > 0 ? static_cast<double>(alarms) / static_cast<double>(tests) : kNoValue;
  }
  /// 95 % interval of the observed share (Wilson 1927); NaN without a test.
  double low() const;
  double high() const;
};

struct CalibrationPower {
  double loss = 0.0;       // share of the value that is lost
  std::size_t nights = 0;  // measured since
  std::size_t tests = 0, found = 0;
};

struct Calibration {
  std::vector<CalibrationRate> rates = {};
  std::vector<CalibrationPower> power = {};
  std::size_t series = 0;                     // with one level of twenty nights or more
  std::size_t constant = 0;                   // further ones, whose values are all equal
  double sigma = kNoValue;                    // their median noise, as a share of the value
  double correlation = kNoValue;              // ... of neighbouring nights
  std::size_t called_noise = 0, decided = 0;  // reviewed findings
};

/// Collects from group to group. `most`: series of a group, drawn by `seed`.
class Calibrator {
 public:
  Calibrator(const RegressionOptions& options, std::uint64_t seed, std::size_t most = 20);
  void add(const std::vector<Member>& members);
  Calibration result() const;

 private:
  void rate(const LevelHistory& history, const SettledGroup& group, const Thresholds& thresholds);
  void split(std::span<const double> level, const Thresholds& thresholds);
  void find_losses(std::vector<double> level, const LevelHistory& history,
                   const SettledGroup& group, const Thresholds& thresholds);

  RegressionOptions options_;
  std::mt19937_64 random_;
  std::size_t most_;
  L1Segmentation steps_;
  Calibration result_;
  std::vector<double> sigmas_, correlations_;
};

/// Over all histories. Throws Error as Histories does.
Calibration calibration_report(const Histories& histories, const RegressionOptions& options,
                               std::uint64_t seed);

}  // namespace bench
