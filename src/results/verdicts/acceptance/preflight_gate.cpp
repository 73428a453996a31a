#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/order_statistics.h"
#include "core/text.h"
#include "results/verdicts/acceptance/gate_context.h"

namespace bench {
namespace {

bool is_set(const Json& value) {
  return value == true || (value.is_number() && value.get<double>() > 0.0);
}

void judge_gpu(const GateContext& context, const std::string& host, const Json& gpu) {
  const std::string name = fmt::format("GPU {}", integer_field(gpu, "index", -1));
  if (const auto problem = text_field(gpu, "problem"); !problem.empty())
    context.add_reason(host, Verdict::fail, "preflight", "gpu", name + ": " + problem,
                       "reset or replace the GPU");
  for (const char* bad : {"ecc_uncorrected_volatile", "remapped_rows_failed"})
    if (is_set(field(gpu, bad)))
      context.add_reason(host, Verdict::fail, "preflight", bad,
                         fmt::format("{}: {} is {}", name, bad, dump(field(gpu, bad))),
                         "replace it: its memory lost data");
  if (is_set(field(gpu, "remapped_rows_pending")))
    context.add_reason(host, Verdict::inconclusive, "preflight", "remapped_rows_pending",
                       name + ": memory rows are pending remap", "reset the GPU and rerun");
  if (field(gpu, "ecc") == false)
    context.add_reason(host, Verdict::inconclusive, "preflight", "ecc", name + ": ECC is off",
                       "run `nvidia-smi -e 1` and reboot");
}

void judge_gpus(const GateContext& context, const std::string& host, const FactsByTopic& topics) {
  if (const auto gpus = topics.find("gpus"); gpus != topics.end())
    for (const Json& gpu : array_field(*gpus->second, "gpus")) judge_gpu(context, host, gpu);
  const auto preflight = topics.find("preflight");
  if (preflight == topics.end()) return;
  if (const auto count = array_field(*preflight->second, "foreign_processes").size(); count > 0)
    context.add_reason(host, Verdict::inconclusive, "preflight", "foreign_processes",
                       fmt::format("{} foreign processes on its GPUs", count),
                       "stop them and rerun");
}

/// Facts that must match for hosts to be compared as peers.
constexpr std::array<const char*, 5> kUniformFacts = {"cpu_model", "kernel", "os", "memory_bytes",
                                                      "product"};

/// Firmware reserves some memory: sizes within 1 % count as equal.
constexpr double kAlike = 0.01;

std::string in_words(const std::string& fact, const Json& value) {
  if (value.is_number() && fact.ends_with("_bytes")) return format(value.get<double>(), Unit::byte);
  return dump(value);
}

/// The typical value: the median of numbers, the most frequent of other values.
Json usual(const std::map<std::string, Json>& by_host) {
  std::vector<double> numbers;
  std::map<std::string, int> counts;
  for (const auto& [host, value] : by_host) {
    if (value.is_number()) numbers.push_back(value.get<double>());
    ++counts[dump(value)];
  }
  if (numbers.size() == by_host.size()) return median(numbers);
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return parse_json(most->first, "fact");
}

bool alike(const Json& value, const Json& usual) {
  if (!value.is_number() || !usual.is_number()) return value == usual;
  return std::abs(value.get<double>() - usual.get<double>()) <= kAlike * usual.get<double>();
}

void judge_uniformity(const GateContext& context, const FactsOfHosts& facts,
                      const std::string& fact) {
  std::map<std::string, Json> by_host;
  for (const auto& [host, topics] : facts) {
    const auto own = topics.find("host");
    if (context.host(host) == nullptr || own == topics.end()) continue;
    const Json& value = field(*own->second, fact.c_str());
    if (!value.is_null()) by_host[host] = value;
  }
  if (by_host.size() < 2) return;
  const Json most = usual(by_host);
  const auto agree =
      std::ranges::count_if(by_host, [&](const auto& entry) { return alike(entry.second, most); });
  for (const auto& [host, value] : by_host)
    if (!alike(value, most))
      context.add_reason(host, Verdict::inconclusive, "preflight", fact,
                         fmt::format("{} is {}, but {} on {} other hosts; peers must match", fact,
                                     in_words(fact, value), in_words(fact, most), agree),
                         "align it with the others, or accept it with hosts of its kind");
}

}  // namespace

FactsOfHosts facts_of(const std::vector<RunRecords>& runs) {
  FactsOfHosts facts;
  for (const RunRecords& run : runs)
    for (const Record& record : run.records)
      if (const auto* stated = std::get_if<Facts>(&record.body);
          stated != nullptr && record.job.empty())
        facts[record.host].try_emplace(stated->topic, &stated->facts);
  return facts;
}

void judge_preflight(GateContext& context) {
  const FactsOfHosts facts = facts_of(context.records);
  for (const auto& [host, topics] : facts) {
    if (context.host(host) == nullptr) continue;
    judge_gpus(context, host, topics);
  }
  judge_permissions(context, facts);
  judge_gpu_coverage(context, facts);
  for (const char* fact : kUniformFacts) judge_uniformity(context, facts, fact);
}

}  // namespace bench
