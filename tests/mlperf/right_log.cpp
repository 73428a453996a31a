#include "tests/mlperf/right_log.h"

namespace bench::mlperf {

RightLog::RightLog(std::int64_t start_ms, int seed, int evaluations) : now_(start_ms) {
  add("cache_clear", "true");
  add("init_start", "null");
  add("submission_benchmark", "\"llama31_8b\"");
  add("submission_org", "\"Acme\"");
  add("submission_division", "\"closed\"");
  add("submission_status", "\"onprem\"");
  add("submission_platform", "\"8xA1\"");
  add("seed", std::to_string(seed));
  add("global_batch_size", "32");
  add("gradient_accumulation_steps", "2");
  add("max_sequence_length", "8192");
  add("eval_samples", "1024");
  add("train_samples", "1574207408");
  add("opt_name", "\"adamw\"");
  add("opt_base_learning_rate", "0.0008");
  add("opt_end_learning_rate", "8e-05");
  add("opt_adamw_beta_1", "0.9");
  add("opt_adamw_beta_2", "0.95");
  add("opt_adamw_epsilon", "1e-05");
  add("opt_adamw_weight_decay", "0.1");
  add("opt_gradient_clip_norm", "1.0");
  add("opt_learning_rate_warmup_steps", "128");
  add("opt_learning_rate_decay_steps", "1199872");
  add("opt_learning_rate_decay_schedule", "\"cosine with linear warmup\"");
  add("max_steps", "1200000");
  add("init_checkpoint_step", "0");
  add("init_stop", "null");
  add("run_start", "null");
  train(evaluations);
  now_ += 10;
  add("run_stop", "null", R"("status": "success")");
}

void RightLog::train(int evaluations) {
  int samples = 0;
  for (int i = 0; i < evaluations; ++i) {
    const char* loss = i + 1 == evaluations ? "3.2999" : i == 0 ? "5.6" : "3.9";
    add("block_start", "null", fmt::format(R"("samples_count": {})", samples));
    samples += 12288;
    now_ += 100'000;
    const std::string at = fmt::format(R"("samples_count": {})", samples);
    add("block_stop", "null", at);
    add("eval_start", "null", at);
    now_ += 10'000;
    add("eval_accuracy", loss, at);
    add("eval_stop", "null", at);
  }
}

void RightLog::add(const std::string& key, const std::string& value, const std::string& metadata) {
  LogLine line{.key = key, .value = value, .metadata = metadata, .time = std::to_string(now_)};
  if (key.ends_with("_start")) line.event = "INTERVAL_START";
  if (key.ends_with("_stop")) line.event = "INTERVAL_END";
  lines_.push_back(line);
  now_ += 100;
}

LogLine& RightLog::line(const std::string& key) {
  return lines_.at(static_cast<std::size_t>(number(key) - 1));
}

LogLine& RightLog::evaluation(std::size_t n) {
  for (LogLine& line : lines_)
    if (line.key == "eval_accuracy" && n-- == 0) return line;
  throw std::logic_error("no such evaluation");
}

void RightLog::remove(const std::string& key) {
  std::erase_if(lines_, [&](const LogLine& line) { return line.key == key; });
}

void RightLog::insert(const std::string& key, LogLine line) {
  if (line.time.empty()) line.time = this->line(key).time;
  lines_.insert(lines_.begin() + (number(key) - 1), std::move(line));
}

std::int64_t RightLog::number(const std::string& key) const {
  const auto at = std::find_if(lines_.begin(), lines_.end(),
                               [&](const LogLine& line) { return line.key == key; });
  if (at == lines_.end()) throw std::logic_error("no line has the key " + key);
  return at - lines_.begin() + 1;
}

std::string RightLog::text() const {
  std::string text;
  for (const LogLine& line : lines_)
    text += fmt::format(
        ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {}, \"event_type\": \"{}\", \"key\": \"{}\", "
        "\"value\": {}, \"metadata\": {{\"file\": \"train.py\", \"lineno\": 7{}{}}}}}\n",
        line.time, line.event, line.key, line.value, line.metadata.empty() ? "" : ", ",
        line.metadata);
  return text;
}

}  // namespace bench::mlperf
