// A valid log of a closed-division fine-tuning that tests modify line by line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace bench::mlperf {

class TrainingLog {
 public:
  void add(std::string key, std::string value, std::string metadata = "{}") {
    lines_.push_back({std::move(key), std::move(value), std::move(metadata),
                      1'000'000 + static_cast<std::int64_t>(lines_.size())});
  }
  void add_behind(const std::string& place, std::string key, std::string value,
                  std::string metadata = "{}") {
    const auto line = find(place);
    lines_.insert(std::next(line),
                  {std::move(key), std::move(value), std::move(metadata), line->time_ms});
  }
  void remove(const std::string& key) {
    std::erase_if(lines_, [&](const Line& line) { return line.key == key; });
  }
  /// Changes all lines of a key; empty or 0 keeps the old value.
  void set(const std::string& key, const std::string& value, const std::string& metadata = {},
           std::int64_t time_ms = 0) {
    for (Line& line : lines_) {
      if (line.key != key) continue;
      line.value = value;
      if (!metadata.empty()) line.metadata = metadata;
      if (time_ms != 0) line.time_ms = time_ms;
    }
  }
  std::int64_t line_of(const std::string& key) { return find(key) - lines_.begin() + 1; }

  std::string text() const {
    std::string text;
    for (const Line& line : lines_)
      text += ":::MLLOG {\"namespace\": \"\", \"time_ms\": " + std::to_string(line.time_ms) +
              ", \"event_type\": \"POINT_IN_TIME\", \"key\": \"" + line.key +
              "\", \"value\": " + line.value + ", \"metadata\": " + line.metadata + "}\n";
    return text;
  }

 private:
  struct Line {
    std::string key, value, metadata;
    std::int64_t time_ms;
  };
  std::vector<Line>::iterator find(const std::string& key) {
    return std::find_if(lines_.begin(), lines_.end(),
                        [&](const Line& line) { return line.key == key; });
  }

  std::vector<Line> lines_;
};

/// Closed Llama 2 70B LoRA, valid for each rule set from 5.0.0 to 6.1.0. Its init_start is at
/// 1,000,001 ms.
inline TrainingLog lora_log() {
  TrainingLog log;
  log.add("cache_clear", "true");
  log.add("init_start", "null");
  log.add("submission_benchmark", "\"llama2_70b_lora\"");
  log.add("submission_org", "\"Example\"");
  log.add("submission_division", "\"closed\"");
  log.add("submission_platform", "\"8xExample\"");
  log.add("global_batch_size", "8");
  log.add("gradient_accumulation_steps", "1");
  log.add("opt_base_learning_rate", "0.0004");
  log.add("opt_learning_rate_training_steps", "1024");
  log.add("opt_gradient_clip_norm", "0.3");
  log.add("opt_adamw_weight_decay", "0.0001");
  log.add("lora_rank", "16");
  log.add("lora_alpha", "32");
  log.add("train_samples", "3901");
  log.add("eval_samples", "173");
  log.add("init_stop", "null");
  log.add("run_start", "null");
  log.add("block_start", "null", "{\"samples_count\": 0}");
  log.add("eval_start", "null", "{\"samples_count\": 1536}");
  log.add("eval_accuracy", "0.92", "{\"samples_count\": 1536}");
  log.add("eval_stop", "null", "{\"samples_count\": 1536}");
  log.add("block_stop", "null", "{\"samples_count\": 1536}");
  log.add("run_stop", "null", "{\"status\": \"success\"}");
  return log;
}

}  // namespace bench::mlperf
