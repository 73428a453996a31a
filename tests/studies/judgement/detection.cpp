// Detection rate and delay for series of sixty nights whose last nights are three sigmas lower.
#include "tests/studies/judgement/simulation.h"

namespace bench {
namespace {

constexpr std::size_t kNights = 60, kNear = 2;
constexpr double kDrop = 3.0;

struct Seen {
  bool step = false, newest = false;
};

/// Appends values of host 0.
Seen seen(const std::vector<Member>& members, std::size_t change) {
  Seen result;
  for (const Candidate& one : judged(members)) {
    const ChangeFinding& finding = one.finding;
    if (finding.key.host != "n0" || finding.effect >= 0.0) continue;
    const auto at = static_cast<std::size_t>(finding.since.number) - 1;
    if (finding.kind == ChangeKind::newest)
      result.newest = at >= change;
    else if (at + kNear >= change && at <= change + kNear)
      result.step = true;
  }
  return result;
}

struct Count {
  std::size_t step = 0, by_now = 0;
};

}  // namespace

Json detection(std::size_t series, std::mt19937_64& random) {
  Json rows = Json::array();
  for (const Noise noise : kNoises)
    for (const std::size_t hosts : {std::size_t{1}, std::size_t{12}}) {
      std::vector<Count> counts(15);
      for (std::size_t i = 0; i < series; ++i) {
        std::vector<Member> members;
        for (std::size_t h = 0; h < hosts; ++h)
          members.push_back(noisy(noise, kNights + 14, h, random));
        for (std::size_t t = kNights; t < kNights + 14; ++t)
          members[0].values[t].value -= kDrop * kSigma * 1e9;
        bool ever = false;
        for (std::size_t k = 1; k <= 14; ++k) {
          std::vector<Member> so_far = members;
          for (Member& member : so_far)  // the last sixty nights
            member.values = {member.values.begin() + static_cast<std::ptrdiff_t>(k),
                             member.values.begin() + static_cast<std::ptrdiff_t>(kNights + k)};
          const Seen now = seen(so_far, kNights);
          ever = ever || now.newest || now.step;
          counts[k].step += now.step;
          counts[k].by_now += ever;
        }
      }
      for (const std::size_t k : {1, 3, 5, 7, 14})
        rows.push_back(
            {{"noise", name_of(noise)},
             {"beside", hosts == 1 ? "nothing" : "a fleet of 12"},
             {"drop_sigmas", kDrop},
             {"nights", k},
             {"series", series},
             {"step_share", static_cast<double>(counts[k].step) / static_cast<double>(series)},
             {"found_by_then_share",
              static_cast<double>(counts[k].by_now) / static_cast<double>(series)}});
    }
  return rows;
}

}  // namespace bench
