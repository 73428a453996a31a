#include "results/verdicts/localisation/straggler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "results/run/dimensions.h"
#include "results/verdicts/localisation/device_search.h"
#include "results/verdicts/localisation/job_family.h"

namespace bench {
namespace {

constexpr std::size_t kFewestRanks = 3, kFewestSamples = 10;
constexpr double kLeastShare = 0.1, kLeastSeconds = 1e-4;
constexpr double kChance = 1e-3;
const std::string kName = "rank_times ";

struct Standing {
  std::vector<double> shares, seconds;  // against the median rank, sample by sample
  std::size_t shortest = 0, longest = 0;
};

std::vector<Standing> standings(const std::vector<std::vector<double>>& seconds) {
  std::vector<Standing> all(seconds.size());
  for (std::size_t i = 0; i < seconds[0].size(); ++i) {
    std::vector<double> of_all;
    for (const auto& rank : seconds) of_all.push_back(rank[i]);
    const auto [low, high] = std::ranges::minmax_element(of_all);
    ++all[static_cast<std::size_t>(low - of_all.begin())].shortest;
    ++all[static_cast<std::size_t>(high - of_all.begin())].longest;
    const double middle = median(of_all);
    for (std::size_t rank = 0; rank < of_all.size(); ++rank) {
      all[rank].shares.push_back(of_all[rank] / middle - 1.0);
      all[rank].seconds.push_back(of_all[rank] - middle);
    }
  }
  return all;
}

bool fit(const std::vector<std::vector<double>>& seconds) {
  if (seconds.size() < kFewestRanks || seconds[0].size() < kFewestSamples) return false;
  return std::ranges::all_of(seconds, [&](const auto& rank) {
    return rank.size() == seconds[0].size() &&
           std::ranges::all_of(rank, [](double s) { return std::isfinite(s) && s > 0.0; });
  });
}

std::vector<double> numbers(const Json& column) {
  std::vector<double> values;
  for (const Json& value : column)
    values.push_back(value.is_number() ? value.get<double>() : kNoValue);
  return values;
}

/// Parameters after the prefix of the chunk name; empty if malformed.
Json params_in(const std::string& name) try {
  const Json params = parse_json(name.substr(kName.size()), "rank_times");
  return params.is_object() ? params : Json::object();
} catch (const Error&) {
  return Json::object();
}

/// Launchers fill hosts one by one, in job order.
std::string host_of(const PlannedJob& job, std::size_t rank) {
  const auto ranks = static_cast<std::size_t>(job.ranks);
  if (job.hosts.empty() || ranks % job.hosts.size() != 0) return "";
  const std::size_t place = rank / (ranks / job.hosts.size());
  return place < job.hosts.size() ? job.hosts[place] : "";
}

/// Ranks of a host use its GPUs in order: ", cuda:5"; "" for none or unknown.
std::string gpu_of(const PlannedJob& job, std::size_t rank) {
  const int ranks = ranks_on_each_host(job);
  if (job.device != "cuda" || ranks == 0) return "";
  const Devices named = devices_in(job.part);
  const Devices gpus = named.empty() ? first_gpus(ranks) : named;
  const std::size_t place = rank % static_cast<std::size_t>(ranks);
  return place < gpus.size() ? ", " + gpus[place] : "";
}

std::string describe_straggler(const FoundStraggler& found, const PlannedJob& job) {
  const Straggler& one = found.straggler;
  const std::string who =
      fmt::format("rank {}{}", one.rank,
                  found.host.empty() ? "" : " (" + found.host + gpu_of(job, one.rank) + ")");
  const std::string how =
      one.comes_last
          ? fmt::format(
                "spends {:.0f} % less time in a call than the median rank: it "
                "arrives last and the others wait for it",
                -100.0 * one.share)
          : fmt::format("takes {:.0f} % longer for a call than the median rank", 100.0 * one.share);
  return fmt::format("{} ({}): {} {}; extreme in {} of {} samples", found.case_name,
                     dimension_list(found.params), who, how, one.outermost, one.samples);
}

}  // namespace

double binomial_tail(std::size_t hits, std::size_t n, double chance) {
  double sum = 0.0;
  const auto count = static_cast<double>(n);
  for (std::size_t k = hits; k <= n; ++k) {
    const auto x = static_cast<double>(k);
    sum += std::exp(std::lgamma(count + 1) - std::lgamma(x + 1) - std::lgamma(count - x + 1) +
                    x * std::log(chance) + (count - x) * std::log1p(-chance));
  }
  return std::min(1.0, sum);
}

std::optional<Straggler> find_straggler(const std::vector<std::vector<double>>& seconds) {
  if (!fit(seconds)) return {};
  const std::vector<Standing> all = standings(seconds);
  const auto ranks = static_cast<double>(seconds.size());
  std::optional<Straggler> found;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    Straggler one{rank, false, median(all[rank].shares), 0, seconds[0].size(), 1.0};
    one.comes_last = one.share < 0.0;
    one.outermost = one.comes_last ? all[rank].shortest : all[rank].longest;
    one.chance =
        std::min(1.0, 2.0 * ranks * binomial_tail(one.outermost, one.samples, 1.0 / ranks));
    const bool matters =
        std::abs(one.share) >= kLeastShare && std::abs(median(all[rank].seconds)) >= kLeastSeconds;
    if (!matters || one.chance > kChance) continue;
    if (!found || std::abs(one.share) > std::abs(found->share)) found = one;
  }
  return found;
}

std::vector<FoundStraggler> stragglers(const RunRecords& run) {
  std::map<std::string, const PlannedJob*> jobs;
  for (const PlannedJob& job : run.jobs) jobs[job.id] = &job;
  std::vector<FoundStraggler> list;
  for (const Record& record : run.records) {
    const auto* chunk = std::get_if<Chunk>(&record.body);
    const auto job = jobs.find(record.job);
    if (chunk == nullptr || !chunk->name.starts_with(kName) || job == jobs.end()) continue;
    if (chunk->columns.size() != static_cast<std::size_t>(job->second->ranks) + 1) continue;
    std::vector<std::vector<double>> seconds;
    for (int rank = 0; rank < job->second->ranks; ++rank)
      seconds.push_back(
          numbers(array_field(chunk->columns, ("rank" + std::to_string(rank)).c_str())));
    const auto found = find_straggler(seconds);
    if (!found) continue;
    FoundStraggler one{record.job,
                       job->second->case_name,
                       params_in(chunk->name),
                       host_of(*job->second, found->rank),
                       *found,
                       ""};
    one.text = describe_straggler(one, *job->second);
    list.push_back(std::move(one));
  }
  return list;
}

Json stragglers_json(const std::vector<FoundStraggler>& list) {
  Json json = Json::array();
  for (const FoundStraggler& one : list)
    json.push_back({{"job", one.job},
                    {"case", one.case_name},
                    {"params", one.params},
                    {"rank", one.straggler.rank},
                    {"host", text_or_null(one.host)},
                    {"comes_last", one.straggler.comes_last},
                    {"share", one.straggler.share},
                    {"outermost", one.straggler.outermost},
                    {"samples", one.straggler.samples},
                    {"chance", one.straggler.chance},
                    {"text", one.text}});
  return json;
}

}  // namespace bench
