#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/order_statistics.h"
#include "core/text.h"
#include "results/acceptance/hearing.h"

namespace bench {
namespace {

/// host -> topic -> facts; the first that a host said of a topic: before numbers.
using FactsOfHosts = std::map<std::string, std::map<std::string, Json>>;

FactsOfHosts facts_of(const std::vector<RunRecords>& runs) {
  FactsOfHosts facts;
  for (const RunRecords& run : runs)
    for (const Record& record : run.records)
      if (const auto* stated = std::get_if<Facts>(&record.body))
        facts[record.host].try_emplace(stated->topic, stated->facts);
  return facts;
}

void add(const Hearing& hearing, const std::string& host, Verdict verdict, const std::string& fact,
         const std::string& text, const std::string& settle) {
  Reason reason{verdict, "preflight", "", fact};
  reason.text = text;
  reason.settle = settle;
  hearing.blame(host, std::move(reason));
}

bool needs_rights(const std::string& why) {
  return why.find("ermission") != std::string::npos || why.find("rights") != std::string::npos;
}

/// Every {"unreadable": why} below `facts` whose reason is a missing right, by its path.
void find_forbidden(const Json& facts, const std::string& path, std::vector<std::string>& found) {
  if (facts.is_object() && facts.size() == 1 && field(facts, "unreadable").is_string()) {
    const auto why = text_field(facts, "unreadable");
    if (needs_rights(why)) found.push_back(path + " (" + why + ")");
    return;
  }
  if (facts.is_object())
    for (const auto& [key, value] : facts.items())
      find_forbidden(value, path.empty() ? key : path + "." + key, found);
  if (facts.is_array())
    for (std::size_t i = 0; i < facts.size(); ++i)
      find_forbidden(facts[i], fmt::format("{}[{}]", path, i), found);
}

void judge_rights(const Hearing& hearing, const std::string& host,
                  const std::map<std::string, Json>& topics) {
  std::vector<std::string> forbidden;
  for (const char* topic : {"gpus", "preflight", "host"})
    if (const auto facts = topics.find(topic); facts != topics.end())
      find_forbidden(facts->second, topic, forbidden);
  if (forbidden.empty()) return;
  const std::string all = join(forbidden, ", ");
  add(hearing, host, Verdict::inconclusive, "rights", "not readable without more rights: " + all,
      "run as a user who may read these (root, or the group of the device files)");
}

bool is_positive(const Json& value) { return value.is_number() && value.get<double>() > 0.0; }

void judge_gpu(const Hearing& hearing, const std::string& host, const Json& gpu) {
  const std::string name = fmt::format("GPU {}", integer_field(gpu, "index", -1));
  if (const auto problem = text_field(gpu, "problem"); !problem.empty())
    add(hearing, host, Verdict::fail, "gpu", name + ": " + problem, "reset or replace it");
  for (const char* bad : {"ecc_uncorrected_volatile", "remapped_rows_failed"})
    if (is_positive(field(gpu, bad)) || field(gpu, bad) == true)
      add(hearing, host, Verdict::fail, bad,
          fmt::format("{}: {} is {}", name, bad, dump(field(gpu, bad))),
          "replace it: memory that lost data");
  if (is_positive(field(gpu, "remapped_rows_pending")) ||
      field(gpu, "remapped_rows_pending") == true)
    add(hearing, host, Verdict::inconclusive, "remapped_rows_pending",
        name + ": rows of its memory wait to be remapped", "reset the GPU, then run again");
  if (field(gpu, "ecc") == false)
    add(hearing, host, Verdict::inconclusive, "ecc", name + ": ECC is off",
        "nvidia-smi -e 1, reboot");
}

void judge_gpus(const Hearing& hearing, const std::string& host,
                const std::map<std::string, Json>& topics) {
  if (const auto gpus = topics.find("gpus"); gpus != topics.end())
    for (const Json& gpu : array_field(gpus->second, "gpus")) judge_gpu(hearing, host, gpu);
  const auto preflight = topics.find("preflight");
  if (preflight == topics.end()) return;
  if (const auto count = array_field(preflight->second, "foreign_processes").size(); count > 0)
    add(hearing, host, Verdict::inconclusive, "foreign_processes",
        fmt::format("{} foreign processes are on its GPUs", count), "end them, then run again");
}

/// Hosts are compared as one kind: these must be equal.
constexpr std::array<const char*, 5> kSame = {"cpu_model", "kernel", "os", "memory_bytes",
                                              "product"};

/// Memory differs by what firmware reserves: to 1 % of the others' the same.
constexpr double kAlike = 0.01;

std::string in_words(const std::string& fact, const Json& value) {
  if (value.is_number() && fact.ends_with("_bytes")) return format(value.get<double>(), Unit::byte);
  return dump(value);
}

/// What most have: the median of numbers, the most frequent of other values.
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
  return Json::parse(most->first);
}

bool alike(const Json& value, const Json& usual) {
  if (!value.is_number() || !usual.is_number()) return value == usual;
  return std::abs(value.get<double>() - usual.get<double>()) <= kAlike * usual.get<double>();
}

void judge_likeness(const Hearing& hearing, const FactsOfHosts& facts, const std::string& fact) {
  std::map<std::string, Json> by_host;
  for (const auto& [host, topics] : facts) {
    const auto own = topics.find("host");
    if (hearing.host(host) == nullptr || own == topics.end()) continue;
    const Json& value = field(own->second, fact.c_str());
    if (!value.is_null()) by_host[host] = value;
  }
  if (by_host.size() < 2) return;
  const Json most = usual(by_host);
  const auto agree =
      std::ranges::count_if(by_host, [&](const auto& entry) { return alike(entry.second, most); });
  for (const auto& [host, value] : by_host)
    if (!alike(value, most))
      add(hearing, host, Verdict::inconclusive, fact,
          fmt::format("{} is {}, that of {} others {}: peers must be alike", fact,
                      in_words(fact, value), agree, in_words(fact, most)),
          "make it as the others, or accept it among hosts of its kind");
}

}  // namespace

void judge_preflight(Hearing& hearing) {
  const FactsOfHosts facts = facts_of(hearing.records);
  for (const auto& [host, topics] : facts) {
    if (hearing.host(host) == nullptr) continue;
    judge_rights(hearing, host, topics);
    judge_gpus(hearing, host, topics);
  }
  for (const char* fact : kSame) judge_likeness(hearing, facts, fact);
}

}  // namespace bench
