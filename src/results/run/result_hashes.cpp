#include "results/run/result_hashes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/job.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "results/run/job_results.h"

namespace bench {
namespace {

constexpr const char* kTopic = "result_hash";

using Group = std::vector<const ResultHash*>;

std::map<std::string, Group> by_key(const std::vector<ResultHash>& hashes) {
  std::map<std::string, Group> groups;
  for (const ResultHash& one : hashes) groups[one.probe + dump(one.key)].push_back(&one);
  return groups;
}

std::string place(const ResultHash& one) {
  return fmt::format("{} on {}, rank {} ({})", one.device, one.host, one.rank, one.job);
}

/// Who has which hash, the fewest first.
std::vector<HashGroup> hash_groups(const Group& group) {
  std::map<std::string, Group> by_hash;
  for (const ResultHash* one : group) by_hash[one->hash].push_back(one);
  std::vector<HashGroup> sorted;
  for (auto& [hash, members] : by_hash) sorted.push_back({hash, std::move(members)});
  std::ranges::stable_sort(sorted, {}, [](const HashGroup& one) { return one.members.size(); });
  return sorted;
}

std::string kind_of(const ResultHash& one) {
  const std::string chip = text_field(one.key, "chip");
  return fmt::format("{}, {} {}", chip.empty() ? "unknown chip" : chip,
                     text_field(one.key, "library", "?"), text_field(one.key, "version"));
}

}  // namespace

std::vector<ResultHash> result_hashes(const RunRecords& run) {
  std::map<std::string, std::string> probes;
  for (const PlannedJob& job : run.jobs) probes[job.id] = job.probe;
  std::vector<ResultHash> found;
  for (const Record& record : run.records) {
    const auto* body = std::get_if<Facts>(&record.body);
    if (body == nullptr || body->topic != kTopic) continue;
    const Json& facts = body->facts;
    ResultHash one{record.job,
                   probes[record.job],
                   record.host,
                   text_field(facts, "device"),
                   static_cast<int>(integer_field(facts, "rank")),
                   object_field(facts, "key"),
                   text_field(facts, "hash"),
                   text_field(facts, "golden"),
                   text_field(facts, "source")};
    if (is_result_hash(one.hash) && !one.key.empty()) found.push_back(std::move(one));
  }
  return found;
}

std::vector<std::vector<HashGroup>> unequal_results(const std::vector<ResultHash>& hashes) {
  std::vector<std::vector<HashGroup>> unequal;
  for (const auto& [key, group] : by_key(hashes))
    if (auto sorted = hash_groups(group); sorted.size() > 1) unequal.push_back(std::move(sorted));
  return unequal;
}

std::string describe_key(const Json& key) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : key.items()) parts.push_back(name + " " + text_of(value));
  return join(parts, ", ");
}

std::vector<std::string> disagreements(const std::vector<ResultHash>& hashes) {
  std::vector<std::string> found;
  for (const auto& sorted : unequal_results(hashes)) {
    std::vector<std::string> parts;
    for (const HashGroup& group : sorted) {
      std::vector<std::string> places;
      for (const ResultHash* one : group.members) places.push_back(place(*one));
      parts.push_back(fmt::format("{}: {}", group.hash, join(places, "; ")));
    }
    found.push_back(fmt::format("identical devices gave different results: {} ({})",
                                join(parts, ", but "),
                                describe_key(sorted.front().members.front()->key)));
  }
  return found;
}

std::vector<std::string> unlike_golden(const std::vector<ResultHash>& hashes) {
  std::vector<std::string> found;
  for (const ResultHash& one : hashes)
    if (!one.golden.empty() && one.golden != one.hash)
      found.push_back(fmt::format("{}: hash {}, but {} expects {} ({})", place(one), one.hash,
                                  one.source, one.golden, describe_key(one.key)));
  return found;
}

std::vector<std::string> without_golden(const std::vector<ResultHash>& hashes) {
  std::map<std::string, std::size_t> counts;
  for (const ResultHash& one : hashes)
    if (one.golden.empty()) ++counts[kind_of(one)];
  std::vector<std::string> found;
  for (const auto& [kind, count] : counts)
    found.push_back(fmt::format("no golden value for {} of {}",
                                count == 1 ? "1 result" : fmt::format("{} results", count), kind));
  return found;
}

Json hashes_json(const std::vector<ResultHash>& hashes) {
  const auto agree = [](const ResultHash& one) { return one.golden == one.hash; };
  return {{"results", hashes.size()},
          {"golden", std::ranges::count_if(hashes, agree)},
          {"different", unlike_golden(hashes)},
          {"without_golden", without_golden(hashes)},
          {"disagreements", disagreements(hashes)}};
}

Json golden_document(const RunRecords& run) {
  std::set<std::string> believed;
  for (const JobResult& job : job_results(run))
    if (job.outcome == Status::ok) believed.insert(job.job.id);
  Json values = Json::array();
  const std::vector<ResultHash> hashes = result_hashes(run);
  for (const auto& [key, group] : by_key(hashes)) {
    const ResultHash& one = *group.front();
    const bool all_ok = std::ranges::all_of(
        group, [&](const ResultHash* hash) { return believed.contains(hash->job); });
    if (hash_groups(group).size() > 1 || !all_ok || text_field(one.key, "chip").empty()) continue;
    values.push_back({{"probe", one.probe}, {"key", one.key}, {"hash", one.hash}});
  }
  return {{"run", run.run}, {"values", std::move(values)}};
}

}  // namespace bench
