#include "results/regression/tally.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json.h"
#include "core/wire.h"
#include "results/statistics/false_discovery.h"

namespace bench {
namespace {

// For single series, however few: a quarter of the permitted false alarm rate of one in a hundred.
constexpr double kMostLastingP = 0.0025;

bool is_worse(const ChangeFinding& finding) {
  return finding.key.better == Better::none ||
         (finding.effect < 0.0) == (finding.key.better == Better::higher);
}

void take_newest(ScopeTally& tally, const RegressionOptions& options, std::vector<Candidate>& out) {
  const auto worse = adjusted_bh(tally.worse_p), better = adjusted_bh(tally.better_p);
  for (Candidate& candidate : tally.newest) {
    candidate.finding.q = (is_worse(candidate.finding) ? worse : better)[candidate.test];
    if (candidate.p <= options.most_p && candidate.finding.q <= options.q)
      out.push_back(std::move(candidate));
  }
}

/// Series without a candidate count as tests with p = 1.
void take_lasting(ScopeTally& tally, const RegressionOptions& options,
                  std::vector<Candidate>& out) {
  std::vector<double> p;
  for (const Candidate& candidate : tally.lasting) p.push_back(candidate.p);
  p.resize(std::max(p.size(), tally.series), 1.0);
  const auto q = adjusted_bh(p);
  for (std::size_t i = 0; i < tally.lasting.size(); ++i) {
    tally.lasting[i].finding.q = q[i];
    if (tally.lasting[i].p <= kMostLastingP && q[i] <= options.q)
      out.push_back(std::move(tally.lasting[i]));
  }
}

}  // namespace

std::vector<Candidate> accepted(Tally tally, const RegressionOptions& options,
                                RegressionReport& report) {
  std::vector<Candidate> out;
  for (const FindingScope scope : {FindingScope::fleet, FindingScope::host}) {
    ScopeTally& part = tally.of(scope);
    const std::size_t earlier = out.size();
    take_newest(part, options, out);
    take_lasting(part, options, out);
    report.families.push_back({scope, part.series, out.size() - earlier});
    report.tested += part.series;
  }
  report.missing = tally.missing;
  report.too_short = tally.too_short;
  report.q = options.q;
  report.newest.number = tally.newest_run;
  return out;
}

std::string finding_id(const ChangeFinding& finding) {
  const std::string text =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", to_string(finding.scope),
                  finding.kind == ChangeKind::newest, finding.key.metric, dump(finding.key.params),
                  finding.key.host, finding.key.device, finding.key.ranks, finding.key.over);
  return fmt::format("{:08x}", checksum(text));
}

}  // namespace bench
