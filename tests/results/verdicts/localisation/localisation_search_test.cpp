#include <bit>
#include <functional>
#include <random>
#include <set>

#include "results/verdicts/localisation/search.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

using Fault = std::function<bool(const Hosts&)>;

Hosts fleet(std::size_t size) {
  Hosts hosts;
  for (std::size_t i = 0; i < size; ++i) hosts.push_back("n" + std::to_string(1000 + i));
  return hosts;
}

bool has(const Hosts& hosts, const std::string& host) {
  return std::ranges::find(hosts, host) != hosts.end();
}

Fault bad_hosts(const Hosts& bad) {
  return [bad](const Hosts& hosts) {
    return std::ranges::any_of(bad, [&](const auto& host) { return has(hosts, host); });
  };
}

Fault bad_link(const std::string& a, const std::string& b) {
  return [a, b](const Hosts& hosts) { return has(hosts, a) && has(hosts, b); };
}

struct Searched {
  std::vector<Trial> trials;
  SearchStep last;
  std::size_t jobs = 0, rounds = 0;

  Hosts named(SearchFindingKind kind) const {
    Hosts found;
    for (const SearchFinding& finding : last.findings)
      if (finding.kind == kind)
        found.insert(found.end(), finding.hosts.begin(), finding.hosts.end());
    std::ranges::sort(found);
    return found;
  }
  bool concludes(SearchFindingKind kind) const {
    return last.findings.size() == 1 && last.findings.front().kind == kind;
  }
};

/// Answers every job until the search ends.
Searched search(const Hosts& order, const Fault& fault, std::vector<Trial> trials) {
  Searched result;
  result.trials = std::move(trials);
  for (;;) {
    result.last = search_step(order, result.trials);
    if (result.last.next.empty()) return result;
    std::set<std::string> busy;
    for (const Hosts& hosts : result.last.next) {
      REQUIRE(hosts.size() >= 2);
      for (const std::string& host : hosts) REQUIRE(busy.insert(host).second);
      result.trials.push_back({hosts, fault(hosts) ? Symptom::present : Symptom::absent});
    }
    result.jobs += result.last.next.size();
    ++result.rounds;
    REQUIRE(result.rounds < 200);
  }
}

Searched search(const Hosts& order, const Fault& fault) {
  return search(order, fault, {{order, Symptom::present}});
}

std::size_t log2_up(std::size_t n) { return static_cast<std::size_t>(std::bit_width(n - 1)); }

}  // namespace

TEST_CASE("any one bad host is isolated after 2 log2 N jobs in log2 N rounds") {
  for (const std::size_t size : {3, 4, 5, 7, 8, 16, 33, 64, 100, 256}) {
    const Hosts hosts = fleet(size);
    for (std::size_t bad = 0; bad < size; bad += std::max<std::size_t>(1, size / 16)) {
      const Searched found = search(hosts, bad_hosts({hosts[bad]}));
      INFO(size << " hosts, number " << bad << ": " << found.jobs << " jobs");
      CHECK(found.named(SearchFindingKind::host) == Hosts{hosts[bad]});
      CHECK(found.last.findings.size() == 1);
      CHECK(found.last.open.empty());
      CHECK(found.jobs <= 2 * log2_up(size));
      CHECK(found.rounds <= log2_up(size) + 1);
    }
  }
}

TEST_CASE("exactly the two bad hosts are isolated") {
  std::mt19937 random(7);
  for (const std::size_t size : {4, 5, 6, 8, 16, 64, 256})
    for (int repeat = 0; repeat < 40; ++repeat) {
      const Hosts hosts = fleet(size);
      const std::size_t a = random() % size;
      const std::size_t b = (a + 1 + random() % (size - 1)) % size;
      const Searched found = search(hosts, bad_hosts({hosts[a], hosts[b]}));
      INFO(size << " hosts, numbers " << a << " and " << b << ": " << found.jobs << " jobs");
      CHECK(found.named(SearchFindingKind::host) ==
            Hosts{hosts[std::min(a, b)], hosts[std::max(a, b)]});
      CHECK(found.last.findings.size() == 2);
      CHECK(found.jobs <= 4 * log2_up(size) + 2);
    }
}

TEST_CASE("a bad link between two good hosts is reported as a link") {
  std::mt19937 random(11);
  for (const std::size_t size : {3, 4, 5, 8, 16, 64, 256})
    for (int repeat = 0; repeat < 40; ++repeat) {
      const Hosts hosts = fleet(size);
      std::size_t a = random() % size;
      std::size_t b = (a + 1 + random() % (size - 1)) % size;
      if (a > b) std::swap(a, b);
      const Searched found = search(hosts, bad_link(hosts[a], hosts[b]));
      INFO(size << " hosts, numbers " << a << " and " << b << ": " << found.jobs << " jobs");
      CHECK(found.named(SearchFindingKind::link) == Hosts{hosts[a], hosts[b]});
      CHECK(found.named(SearchFindingKind::host).empty());
      CHECK(found.jobs <= 4 * log2_up(size));
    }
}

TEST_CASE("a symptom of all hosts together is attributed to no subset") {
  for (const std::size_t size : {3, 4, 8, 64}) {
    const Hosts hosts = fleet(size);
    const Searched found = search(hosts, [&](const Hosts& some) { return some.size() == size; });
    CHECK(found.concludes(SearchFindingKind::together));
    CHECK(found.jobs <= 7);
  }
}

TEST_CASE("a symptom not reproduced by halves or the same job is flaky") {
  for (const std::size_t size : {3, 8, 256}) {
    const Searched found = search(fleet(size), [](const Hosts&) { return false; });
    CHECK(found.concludes(SearchFindingKind::flaky));
    CHECK(found.jobs <= 4);
  }
}

TEST_CASE("a symptom of every subset isolates no host") {
  for (const std::size_t size : {3, 4, 8, 12, 64, 256}) {
    const Searched found = search(fleet(size), [](const Hosts&) { return true; });
    INFO(size << " hosts: " << found.jobs << " jobs");
    CHECK(found.concludes(SearchFindingKind::everywhere));
    CHECK(found.jobs <= 32);
    CHECK(found.last.open.empty());
  }
}

TEST_CASE("two hosts are separated only with a third one outside the job") {
  const Searched alone = search(fleet(2), bad_hosts({"n1001"}));
  CHECK(alone.concludes(SearchFindingKind::undecided));
  CHECK(alone.jobs == 1);
  const Hosts hosts = fleet(5);
  const Searched found =
      search(hosts, bad_hosts({"n1001"}), {{{"n1000", "n1001"}, Symptom::present}});
  CHECK(found.named(SearchFindingKind::host) == Hosts{"n1001"});
}

TEST_CASE("existing jobs on every pair need no further one") {
  const Hosts hosts = fleet(6);
  const auto every_pair = [&](const Fault& fault) {
    std::vector<Trial> trials;
    for (std::size_t a = 0; a < hosts.size(); ++a)
      for (std::size_t b = a + 1; b < hosts.size(); ++b)
        trials.push_back({{hosts[a], hosts[b]},
                          fault({hosts[a], hosts[b]}) ? Symptom::present : Symptom::absent});
    return search(hosts, fault, trials);
  };
  const Searched host = every_pair(bad_hosts({hosts[2], hosts[5]}));
  CHECK(host.named(SearchFindingKind::host) == Hosts{hosts[2], hosts[5]});
  CHECK(host.jobs == 0);
  const Searched link = every_pair(bad_link(hosts[1], hosts[4]));
  CHECK(link.named(SearchFindingKind::link) == Hosts{hosts[1], hosts[4]});
  CHECK(link.jobs == 1);  // one repeat on the same pair
}

TEST_CASE("an intermittent host never causes another one to be isolated") {
  std::mt19937 random(3);
  int named = 0;
  for (int repeat = 0; repeat < 500; ++repeat) {
    const Hosts hosts = fleet(16);
    const std::string bad = hosts[random() % 16];
    const double chance = 0.1 * static_cast<double>(1 + random() % 9);
    std::bernoulli_distribution fails(chance);
    const Searched found =
        search(hosts, [&](const Hosts& some) { return has(some, bad) && fails(random); });
    for (const std::string& host : found.named(SearchFindingKind::host)) {
      CHECK(host == bad);
      ++named;
    }
    for (const SearchFinding& finding : found.last.findings) CHECK(has(finding.hosts, bad));
  }
  CHECK(named > 50);
}

TEST_CASE("a job without a result ends that search without a finding") {
  const Hosts hosts = fleet(4);
  const SearchStep step = search_step(hosts, {{hosts, Symptom::present},
                                              {{hosts[0], hosts[1]}, Symptom::unknown},
                                              {{hosts[2], hosts[3]}, Symptom::absent}});
  CHECK(step.next.empty());
  REQUIRE(step.findings.size() == 1);
  CHECK(step.findings[0].kind == SearchFindingKind::undecided);
}

TEST_CASE("without the symptom there is nothing to search") {
  CHECK(search_step(fleet(4), {{fleet(4), Symptom::absent}}).next.empty());
  CHECK(search_step(fleet(4), {}).findings.empty());
}

TEST_CASE("the evidence for a host is its pairs with two partners, and theirs without it") {
  const Hosts hosts = fleet(4);
  const Searched found = search(hosts, bad_hosts({hosts[3]}));
  REQUIRE(found.last.findings.size() == 1);
  std::size_t shown = 0, fine = 0;
  for (const std::size_t i : found.last.findings[0].evidence) {
    const Trial& trial = found.trials.at(i);
    CHECK(trial.hosts.size() == 2);
    CHECK(has(trial.hosts, hosts[3]) == (trial.symptom == Symptom::present));
    ++(trial.symptom == Symptom::present ? shown : fine);
  }
  CHECK(shown == 2);
  CHECK(fine >= 1);
}
