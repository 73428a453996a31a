#include "results/localisation/search.h"

#include <algorithm>
#include <bit>
#include <set>

#include "core/names.h"
#include "results/localisation/trials.h"

namespace bench {
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
    if (answer == Answer::pending) request(set);
    return answer;
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
