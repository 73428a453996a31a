// An answer of `benchctl predict`: a number with its range, what it was computed from, and how.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

inline constexpr double kSecondsOfHour = 3'600.0;
inline constexpr double kSecondsOfDay = 86'400.0;

enum class PredictedUnit {
  bytes,
  seconds,
  bytes_per_second,
  flops,
  flops_per_second,
  tokens_per_second,
  ratio,
  count
};

struct PredictionInput {
  std::string name;  // a key of the JSON: "bytes_per_parameter"
  Json value;
  std::string source;  // "given", "default", "llama3-8b", "datasheet", "run 20261127T..."
  PredictedUnit unit = PredictedUnit::count;  // of a number; a text has none
};

struct PredictionPart {
  std::string name;  // a key of the JSON, with its unit: "weights_bytes"
  double value = 0.0;
  PredictedUnit unit = PredictedUnit::bytes;
};

/// One way among several, best first.
struct PredictedChoice {
  std::string text;  // "tp=8,pp=4,dp=2,zero=1"
  double seconds = 0.0;
  double memory_bytes = 0.0;
  double tokens_per_second = 0.0;
};

struct Prediction {
  std::string question = {};  // "memory"
  std::string model = {};     // "" for questions without one
  std::vector<PredictionInput> inputs = {};
  std::string what = {};  // of the value, in words: "memory of the fullest device"
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  PredictedUnit unit = PredictedUnit::bytes;
  std::vector<PredictionPart> parts = {};
  std::vector<PredictedChoice> choices = {};
  std::string formula = {};
  std::vector<std::string> sources = {};  // of formulas and constants
  std::vector<std::string> notes = {};    // what is left out, what would change it

  void input(std::string name, Json given, std::string source,
             PredictedUnit of = PredictedUnit::count) {
    inputs.push_back({std::move(name), std::move(given), std::move(source), of});
  }
  void part(std::string name, double amount, PredictedUnit of = PredictedUnit::bytes) {
    parts.push_back({std::move(name), amount, of});
  }
};

}  // namespace bench
