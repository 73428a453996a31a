#include "results/localisation/trials.h"

#include <algorithm>
#include <numeric>

namespace bench {
namespace {

constexpr std::size_t kMostEvidence = 8;

bool has(const HostNumbers& set, std::size_t host) { return std::ranges::binary_search(set, host); }

}  // namespace

Trials::Trials(const Hosts& order, const std::vector<Trial>& trials) : order_(order) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < order_.size(); ++i) places.emplace(order_[i], i);
  for (const Trial& trial : trials) {
    Kept kept{{}, trial.symptom};
    for (const std::string& host : trial.hosts) {
      const auto [place, is_new] = places.try_emplace(host, order_.size());
      if (is_new) order_.push_back(host);
      kept.hosts.push_back(place->second);
    }
    std::ranges::sort(kept.hosts);
    Seen& seen = seen_[kept.hosts];
    seen.present += trial.symptom == Symptom::present ? 1 : 0;
    seen.absent += trial.symptom == Symptom::absent ? 1 : 0;
    seen.unknown += trial.symptom == Symptom::unknown ? 1 : 0;
    kept_.push_back(std::move(kept));
  }
  for (const auto& [hosts, seen] : seen_)
    if (seen.absent > seen.present) good_.insert(hosts.begin(), hosts.end());
}

Answer Trials::answer(const HostNumbers& set) const {
  if (const auto found = seen_.find(set); found != seen_.end()) {
    const Seen& seen = found->second;
    if (seen.present + seen.absent == 0) return Answer::unknown;
    return seen.present >= seen.absent ? Answer::present : Answer::absent;
  }
  if (!std::ranges::all_of(set, [&](std::size_t host) { return good_.contains(host); }))
    return Answer::pending;
  const bool inside = std::ranges::any_of(seen_, [&](const auto& entry) {
    return entry.second.absent > entry.second.present && std::ranges::includes(entry.first, set);
  });
  return inside ? Answer::absent : Answer::pending;
}

Answer Trials::again(const HostNumbers& set) const {
  const auto found = seen_.find(set);
  if (found == seen_.end() || found->second.present + found->second.absent < 2)
    return found != seen_.end() && found->second.unknown > 0 ? Answer::unknown : Answer::pending;
  return found->second.present >= 2 ? Answer::present : Answer::absent;
}

HostNumbers Trials::all() const {
  HostNumbers all(order_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<HostNumbers> Trials::largest_present() const {
  std::vector<HostNumbers> sets;
  for (const auto& [hosts, seen] : seen_)
    if (seen.present > 0) sets.push_back(hosts);
  std::ranges::stable_sort(sets, std::ranges::greater(), &HostNumbers::size);
  std::vector<HostNumbers> largest;
  for (HostNumbers& set : sets)
    if (std::ranges::none_of(
            largest, [&](const HostNumbers& one) { return std::ranges::includes(one, set); }))
      largest.push_back(std::move(set));
  return largest;
}

std::size_t Trials::disjoint_present() const {
  std::vector<const HostNumbers*> sets;
  for (const auto& [hosts, seen] : seen_)
    if (seen.present > 0) sets.push_back(&hosts);
  std::ranges::stable_sort(sets, {}, [](const HostNumbers* set) { return set->size(); });
  std::set<std::size_t> taken;
  std::size_t count = 0;
  for (const HostNumbers* set : sets) {
    if (std::ranges::any_of(*set, [&](std::size_t host) { return taken.contains(host); })) continue;
    taken.insert(set->begin(), set->end());
    ++count;
  }
  return count;
}

Hosts Trials::names(const HostNumbers& set) const {
  Hosts names;
  for (const std::size_t host : set) names.push_back(order_[host]);
  return names;
}

std::vector<std::size_t> Trials::pick(std::size_t most,
                                      bool (*fits)(const Kept&, const HostNumbers&),
                                      const HostNumbers& set) const {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (fits(kept_[i], set)) list.push_back(i);
  std::ranges::stable_sort(list, {}, [&](std::size_t i) { return kept_[i].hosts.size(); });
  list.resize(std::min(list.size(), most));
  return list;
}

void Trials::add_fine(std::size_t with, std::size_t without, std::vector<std::size_t>& list) const {
  const auto fits = [](const Kept& kept, const HostNumbers& pair) {
    return kept.symptom == Symptom::absent && has(kept.hosts, pair[0]) && !has(kept.hosts, pair[1]);
  };
  for (const std::size_t i : pick(1, fits, {with, without}))
    if (std::ranges::find(list, i) == list.end()) list.push_back(i);
}

/// Jobs on the host alone, and fine jobs without it.
std::vector<std::size_t> Trials::alone(const HostNumbers& one) const {
  const auto same = [](const Kept& kept, const HostNumbers& set) { return kept.hosts == set; };
  const auto fine = [](const Kept& kept, const HostNumbers& set) {
    return kept.symptom == Symptom::absent && !has(kept.hosts, set[0]);
  };
  std::vector<std::size_t> list = pick(3, same, one);
  const auto others = pick(kMostEvidence - list.size(), fine, one);
  list.insert(list.end(), others.begin(), others.end());
  return list;
}

std::vector<std::size_t> Trials::evidence(SearchFindingKind kind, const HostNumbers& set) const {
  std::vector<std::size_t> list;
  switch (kind) {
    case SearchFindingKind::host: {
      if (seen_.contains(set)) return alone(set);
      const auto pairs = [](const Kept& kept, const HostNumbers& host) {
        return kept.symptom == Symptom::present && kept.hosts.size() == 2 &&
               has(kept.hosts, host[0]);
      };
      for (const std::size_t i : pick(kMostEvidence, pairs, set)) {
        const HostNumbers& pair = kept_[i].hosts;
        if (good_.contains(pair[0] == set[0] ? pair[1] : pair[0])) list.push_back(i);
      }
      list.resize(std::min<std::size_t>(list.size(), 3));
      for (const std::size_t i : std::vector(list))
        add_fine(kept_[i].hosts[kept_[i].hosts[0] == set[0] ? 1 : 0], set[0], list);
      return list;
    }
    case SearchFindingKind::link: {
      const auto same = [](const Kept& kept, const HostNumbers& pair) {
        return kept.hosts == pair;
      };
      list = pick(kMostEvidence, same, set);
      add_fine(set[0], set[1], list);
      add_fine(set[1], set[0], list);
      return list;
    }
    case SearchFindingKind::everywhere: {
      const auto shows = [](const Kept& kept, const HostNumbers&) {
        return kept.symptom == Symptom::present;
      };
      return pick(kMostEvidence, shows, set);
    }
    case SearchFindingKind::together:
    case SearchFindingKind::flaky:
    case SearchFindingKind::undecided: {
      const auto same = [](const Kept& kept, const HostNumbers& hosts) {
        return kept.hosts == hosts;
      };
      const auto inside = [](const Kept& kept, const HostNumbers& hosts) {
        return kept.hosts.size() < hosts.size() && std::ranges::includes(hosts, kept.hosts);
      };
      list = pick(3, same, set);
      const auto parts = pick(kMostEvidence - list.size(), inside, set);
      list.insert(list.end(), parts.begin(), parts.end());
      return list;
    }
  }
  return list;
}

}  // namespace bench
