// Records of every kind with every field set, for the tests of their JSON form and of the wire.
#pragma once

#include <cmath>
#include <vector>

#include "core/record.h"

namespace bench {

inline Samples full_samples() {
  Samples samples;
  samples.metric = "throughput";
  samples.unit = Unit::flop_per_second;
  samples.better = Better::higher;
  samples.params = {{"dtype", "f32"}, {"m", 512}};
  samples.values = {1.5e9, 1.25e9, 0.1};
  samples.flags = {kClean, kStolen | kClockMoved, kPowerCapped | kCrowded};
  samples.over = "max";
  samples.stop = "interval";
  samples.repeats = 17;
  samples.limit = Limit{2e9, LimitKind::proven, "2 pipes x 16 lanes", 1.9e9};
  samples.check = Check{"exact integers", 0.0, 0.0};
  samples.quality = {0.99, 0.001, 0.0, 3.1e9, 0.25};
  samples.chosen = {{"algorithm", "NVLS"}, {"channels", 16}, {"protocol", nullptr}};
  samples.outcome = Status::invalid;
  samples.reason = "a reason with \"quotes\"\nand a line";
  return samples;
}

inline Samples bare_samples() {
  Samples samples;
  samples.metric = "time";
  samples.values = {1, std::nan("")};
  samples.flags = {0, 0};
  samples.check = Check{"Freivalds", std::nan(""), 1e-6};
  return samples;
}

inline std::vector<Record> one_of_each_kind() {
  const std::vector<decltype(Record::body)> bodies = {
      full_samples(),
      bare_samples(),
      Chunk{"telemetry", {{"time_s", {0.0, 0.5, 1.0}}, {"power_w", {100, nullptr, 120.5}}}},
      Chunk{"empty", Json::object()},
      Phase{"warm_up", 0.25},
      Event{"run_start", {{"seed", 1}}},
      Event{"nothing", nullptr},
      Facts{"host", {{"cores", 2}, {"governor", nullptr}}},
      Outcome{Status::timed_out, "no answer for 60 s", 60.1}};
  std::vector<Record> records;
  for (const auto& body : bodies)
    records.push_back({"03.gemm.2", "node01", 3, 1'795'199'405'123'456'789, body});
  records.push_back({"", "node01", -1, 0, Facts{"program", Json::object()}});
  return records;
}

}  // namespace bench
