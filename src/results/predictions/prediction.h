// An answer of `benchctl predict`: a number with its range, what it was computed from, and how.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
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

/// The measurements that answer the same question.
struct MeasuredAs {
  std::string metric = {};       // "collective.latency"; "": none by itself
  Json params = Json::object();  // that the series must have
  int ranks = 0;                 // of the series; 0: any number
  bool fastest = false;          // of several series the fastest, else there may be only one
};

/// A measurement that the answer is held against, in the answer's unit.
struct PredictionCheck {
  std::string source = {};  // the side's name
  std::string metric = {};
  Json params = Json::object();
  std::size_t values = 0;
  double measured = std::numeric_limits<double>::quiet_NaN();  // their median
  double least = std::numeric_limits<double>::quiet_NaN();
  double most = std::numeric_limits<double>::quiet_NaN();
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
  MeasuredAs measured_as = {};
  std::optional<PredictionCheck> check = {};

  void input(std::string name, Json given, std::string source,
             PredictedUnit of = PredictedUnit::count) {
    inputs.push_back({std::move(name), std::move(given), std::move(source), of});
  }
  void part(std::string name, double amount, PredictedUnit of = PredictedUnit::bytes) {
    parts.push_back({std::move(name), amount, of});
  }
};

}  // namespace bench
