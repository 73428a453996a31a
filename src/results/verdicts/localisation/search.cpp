#include "results/verdicts/localisation/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/names.h"
#include "results/stats/peers.h"

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
    seen.compared += trial.symptom == Symptom::present && trial.compared ? 1 : 0;
    seen.best = std::fmax(seen.best, trial.rate);
    kept_.push_back(std::move(kept));
  }
  for (const auto& [hosts, seen] : seen_)
    if (seen.absent > seen.present) good_.insert(hosts.begin(), hosts.end());
}

Answer Trials::answer(const HostNumbers& set) const {
  if (const auto found = seen_.find(set); found != seen_.end()) {
    const Seen& seen = found->second;
    if (seen.measured() == 0) return Answer::unknown;
    if (seen.present < seen.absent) return Answer::absent;
    if (shows(set, seen)) return Answer::present;
    const auto other = unrepeated_reference(set);
    const bool no_repeat = seen.unknown > 0 || (other && seen_.at(*other).unknown > 0);
    return no_repeat ? Answer::unknown : Answer::pending;
  }
  if (!std::ranges::all_of(set, [&](std::size_t host) { return good_.contains(host); }))
    return Answer::pending;
  const bool inside = std::ranges::any_of(seen_, [&](const auto& entry) {
    return entry.second.absent > entry.second.present && std::ranges::includes(entry.first, set);
  });
  return inside ? Answer::absent : Answer::pending;
}

/// The set of that many hosts with the highest value.
const HostNumbers* Trials::reference(std::size_t hosts) const {
  const HostNumbers* best = nullptr;
  double value = kNoValue;
  for (const auto& [set, seen] : seen_)
    if (set.size() == hosts && !(seen.best <= value) && std::isfinite(seen.best)) {
      best = &set;
      value = seen.best;
    }
  return best;
}

bool Trials::shows(const HostNumbers& set, const Seen& seen) const {
  if (seen.present == 0) return false;
  if (!only_compared(seen)) return true;
  return seen.measured() >= kFewestRepeats && !unrepeated_reference(set);
}

std::optional<HostNumbers> Trials::unrepeated_reference(const HostNumbers& set) const {
  const auto found = seen_.find(set);
  if (found == seen_.end() || found->second.present == 0 || !only_compared(found->second))
    return {};
  const HostNumbers* best = reference(set.size());
  if (best == nullptr || *best == set || seen_.at(*best).measured() >= kFewestRepeats) return {};
  return *best;
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
    if (shows(hosts, seen)) sets.push_back(hosts);
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
    if (shows(hosts, seen)) sets.push_back(&hosts);
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
      std::vector<std::size_t> repeats;
      std::set<HostNumbers> partners;
      for (const std::size_t i : pick(kept_.size(), pairs, set)) {
        const HostNumbers& pair = kept_[i].hosts;
        if (!good_.contains(pair[0] == set[0] ? pair[1] : pair[0])) continue;
        (partners.insert(pair).second ? list : repeats).push_back(i);
      }
      list.insert(list.end(), repeats.begin(), repeats.end());
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

namespace {

constexpr NameTable<SearchFindingKind, 6> kKinds{{{{SearchFindingKind::host, "host"},
                                                   {SearchFindingKind::link, "link"},
                                                   {SearchFindingKind::together, "together"},
                                                   {SearchFindingKind::everywhere, "everywhere"},
                                                   {SearchFindingKind::flaky, "flaky"},
                                                   {SearchFindingKind::undecided, "undecided"}}}};

// Good partners needed to isolate a host: with one, it could be the link.
constexpr std::size_t kPartners = 2;
// Search for a first good host: hosts to pair up, and rounds of pairs.
constexpr std::size_t kMeeting = 8, kOutsiders = 4, kRounds = 3;

HostNumbers union_of(const HostNumbers& a, const HostNumbers& b) {
  HostNumbers all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

std::pair<HostNumbers, HostNumbers> halves(const HostNumbers& set) {
  const auto middle = set.begin() + static_cast<std::ptrdiff_t>((set.size() + 1) / 2);
  return {{set.begin(), middle}, {middle, set.end()}};
}

class Search {
 public:
  Search(const Trials& trials, const SearchRules& rules) : trials_(trials), rules_(rules) {}

  SearchStep run() {
    const std::vector<HostNumbers> roots = trials_.largest_present();
    if (roots.empty()) return {};
    if (trials_.good().empty() && trials_.disjoint_present() >= rules_.everywhere_sets)
      conclude(SearchFindingKind::everywhere, united(roots));
    else
      for (const HostNumbers& root : roots)
        if (!is_explained(root)) bisect(root);
    if (wanted_.empty() && stuck_) conclude_none_good(united(roots));
    return std::move(step_);
  }

 private:
  Answer ask(const HostNumbers& set) {
    const Answer answer = trials_.answer(set);
    if (answer == Answer::pending) request_with_reference(set);
    return answer;
  }

  /// A comparison is repeated on both sides, together if they have no host in common.
  void request_with_reference(const HostNumbers& set) {
    if (const auto reference = trials_.unrepeated_reference(set)) request(*reference);
    request(set);
  }

  /// Whether the symptom repeats on the same hosts.
  Answer again(const HostNumbers& set) {
    const Answer answer = trials_.again(set);
    if (answer == Answer::pending) request(set);
    return answer;
  }

  void request(const HostNumbers& set) {
    if (!wanted_.insert(set).second) return;
    if (std::ranges::any_of(set, [&](std::size_t host) { return busy_.contains(host); })) return;
    busy_.insert(set.begin(), set.end());
    step_.next.push_back(trials_.names(set));
  }

  /// Tests one host in pairs with good partners.
  Answer test_host(std::size_t host) {
    if (trials_.good().contains(host)) return Answer::absent;
    if (rules_.alone) return test_alone({host});
    std::size_t shown = 0;
    std::vector<std::size_t> left;
    for (const std::size_t partner : trials_.good()) {
      const Answer answer = trials_.answer({std::min(host, partner), std::max(host, partner)});
      if (answer == Answer::present) ++shown;
      if (answer == Answer::pending) left.push_back(partner);
    }
    if (shown >= kPartners) return Answer::present;
    if (trials_.good().empty()) stuck_ = true;
    if (trials_.good().empty()) return Answer::pending;
    if (left.empty()) return Answer::unknown;
    const auto idle =
        std::ranges::find_if(left, [&](std::size_t partner) { return !busy_.contains(partner); });
    const std::size_t partner = idle == left.end() ? left.front() : *idle;
    return ask({std::min(host, partner), std::max(host, partner)});
  }

  /// Twice, as one occurrence may be chance.
  Answer test_alone(const HostNumbers& one) {
    const Answer answer = ask(one);
    if (answer != Answer::present) return answer;
    stuck_ |= trials_.good().empty();
    const Answer second = again(one);
    return second == Answer::absent ? Answer::unknown : second;  // intermittent
  }

  Answer test_part(const HostNumbers& set) {
    return set.size() == 1 ? test_host(set[0]) : ask(set);
  }

  void descend(const HostNumbers& set) {
    if (set.size() > 1) return bisect(set);
    if (trials_.good().empty()) return leave_open(set);  // perhaps all hosts are bad
    conclude(SearchFindingKind::host, set);
  }

  /// Halves a set with the symptom.
  void bisect(const HostNumbers& set) {
    const auto [left, right] = halves(set);
    const Answer a = test_part(left), b = test_part(right);
    if (a == Answer::present) descend(left);
    if (b == Answer::present) descend(right);
    const bool found = a == Answer::present || b == Answer::present;
    if (a == Answer::pending || b == Answer::pending)
      return leave_open(!found ? set : a == Answer::pending ? left : right);
    if (found) return;
    if (a == Answer::unknown || b == Answer::unknown)
      return conclude(SearchFindingKind::undecided, set);
    if (confirmed(set)) search_across(left, right, set);
  }

  /// Whether the symptom repeats; else concludes, or requests the next job.
  bool confirmed(const HostNumbers& set) {
    const Answer answer = again(set);
    if (answer == Answer::pending)
      leave_open(set);
    else if (answer != Answer::present)
      conclude(answer == Answer::absent ? SearchFindingKind::flaky : SearchFindingKind::undecided,
               set);
    return answer == Answer::present;
  }

  /// Both halves are fine alone: the ends of a bad link lie on either side.
  void search_across(const HostNumbers& a, const HostNumbers& b, const HostNumbers& whole) {
    if (a.size() == 1 && b.size() == 1) {
      if (confirmed(whole)) conclude(SearchFindingKind::link, whole);
      return;
    }
    const auto [a1, a2] = halves(a);
    const auto [b1, b2] = halves(b);
    // The second round runs only if the first finds nothing, as one link is searched for.
    for (const auto& round : {std::vector{std::pair{a1, b1}, std::pair{a2, b2}},
                              std::vector{std::pair{a1, b2}, std::pair{a2, b1}}}) {
      bool pending = false, found = false;
      for (const auto& [one, other] : round) {
        if (one.empty() || other.empty()) continue;
        const Answer answer = ask(union_of(one, other));
        pending |= answer == Answer::pending;
        if (answer != Answer::present) continue;
        found = true;
        search_across(one, other, union_of(one, other));
      }
      if (found) return;
      if (pending) return leave_open(whole);
    }
    if (confirmed(whole)) conclude(SearchFindingKind::together, whole);
  }

  void conclude_none_good(const HostNumbers& shown) {
    if (rules_.alone)
      conclude(SearchFindingKind::everywhere, shown);
    else
      find_good_host(shown);
  }

  /// No good host is known: tests pairs, unused hosts first.
  void find_good_host(const HostNumbers& shown) {
    HostNumbers outsiders, meeting;
    std::ranges::set_difference(trials_.all(), shown, std::back_inserter(outsiders));
    outsiders.resize(std::min(outsiders.size(), kOutsiders));
    meeting = union_of(
        outsiders, HostNumbers(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                  shown.size(), kMeeting))));
    if (meeting.size() == 2) return conclude_pair(meeting);
    const std::size_t circle = meeting.size() + meeting.size() % 2;
    for (std::size_t round = 0; round < std::min(kRounds, circle - 1); ++round)
      if (!run_round(meeting, circle, round)) return;
    conclude(unknown_ ? SearchFindingKind::undecided : SearchFindingKind::everywhere, shown);
  }

  /// One round of a tournament (Kirkman's circle); true if all pairs ran and showed the symptom.
  bool run_round(const HostNumbers& hosts, std::size_t circle, std::size_t round) {
    bool all = true;
    const std::size_t m = circle - 1;
    for (std::size_t k = 0; k < circle / 2; ++k) {
      const std::size_t a = (round + k) % m, b = k == 0 ? m : (round + m - k) % m;
      if (std::max(a, b) >= hosts.size()) continue;
      const Answer answer = ask({std::min(hosts[a], hosts[b]), std::max(hosts[a], hosts[b])});
      unknown_ |= answer == Answer::unknown;
      all &= answer == Answer::present || answer == Answer::unknown;
    }
    return all;
  }

  void conclude_pair(const HostNumbers& pair) {
    step_.open.clear();
    if (confirmed(pair)) conclude(SearchFindingKind::undecided, pair);
  }

  bool is_explained(const HostNumbers& set) const {
    return std::ranges::any_of(
        cause_, [&](const HostNumbers& one) { return std::ranges::includes(set, one); });
  }

  void conclude(SearchFindingKind kind, const HostNumbers& set) {
    if (kind == SearchFindingKind::everywhere) step_.open.clear();
    if (kind == SearchFindingKind::host || kind == SearchFindingKind::link) cause_.push_back(set);
    SearchFinding finding{kind, trials_.names(set), trials_.evidence(kind, set)};
    if (std::ranges::find(step_.findings, finding) == step_.findings.end())
      step_.findings.push_back(std::move(finding));
  }

  void leave_open(const HostNumbers& set) { step_.open.push_back(trials_.names(set)); }

  static HostNumbers united(const std::vector<HostNumbers>& sets) {
    HostNumbers all;
    for (const HostNumbers& set : sets) all = union_of(all, set);
    return all;
  }

  const Trials& trials_;
  const SearchRules rules_;
  SearchStep step_;
  std::set<HostNumbers> wanted_;
  std::set<std::size_t> busy_;      // hosts of step_.next
  std::vector<HostNumbers> cause_;  // isolated hosts and links
  bool stuck_ = false;              // a host lacks a known good partner
  bool unknown_ = false;            // a pair of that search had no result
};

}  // namespace

SearchStep search_step(const Hosts& order, const std::vector<Trial>& trials,
                       const SearchRules& rules) {
  const Trials all(order, trials);
  return Search(all, rules).run();
}

std::string_view to_string(SearchFindingKind kind) { return kKinds.name(kind); }

bool isolates_cause(const SearchFinding& finding) {
  return finding.kind == SearchFindingKind::host || finding.kind == SearchFindingKind::link;
}

}  // namespace bench
