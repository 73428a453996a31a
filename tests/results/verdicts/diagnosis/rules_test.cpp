#include "results/verdicts/diagnosis/rules.h"

#include <algorithm>
#include <set>
#include <string>

#include "tests/results/made_cases.h"
#include "tests/support/catch.h"

namespace bench::diagnosis {
namespace {

constexpr double kALittle = 1e-6;

/// A value on the side of a bound where it holds, and one where it does not.
std::pair<double, double> sides(const Bound& bound) {
  const double t = bound.threshold;
  switch (bound.is) {
    case Is::above:
      return {t + kALittle, t};
    case Is::at_least:
      return {t, t - kALittle};
    case Is::below:
      return {t - kALittle, t};
    case Is::at_most:
      break;
  }
  return {t, t + kALittle};
}

bool is_compute(const Finding& finding) { return finding.cause == Cause::compute; }

}  // namespace

TEST_CASE("every diagnosis rule has a sample case and complete text") {
  std::set<std::string> made;
  for (const MadeCase& one : made_cases()) made.insert(one.rule);
  std::set<std::string> names;
  for (const Rule& rule : rules()) {
    INFO(rule.name);
    CHECK(names.insert(std::string(rule.name)).second);
    CHECK_FALSE(rule.when.empty());
    CHECK_FALSE(rule.experiment.empty());
    CHECK_FALSE(rule.fix.empty());
    CHECK_FALSE(condition_text(rule).empty());
    CHECK_FALSE(words_of(rule.cause).empty());
  }
  CHECK(names == made);
}

TEST_CASE("each sample case has its rule as the bottleneck, and no other cause but compute") {
  for (const MadeCase& one : made_cases()) {
    INFO(one.rule);
    const Diagnosis diagnosis = diagnose(one.observation);
    REQUIRE(diagnosis.bottleneck);
    CHECK(diagnosis.bottleneck->rule == one.rule);
    for (const Finding& other : diagnosis.all) {
      INFO(other.rule);
      // A GPU with only some counters has an undetermined kind of work.
      CHECK((other.rule == one.rule || is_compute(other)));
    }
  }
}

TEST_CASE("no diagnosis rule matches the sample case of another rule") {
  for (const MadeCase& made : made_cases())
    for (const MadeCase& other : made_cases()) {
      if (made.rule == other.rule) continue;
      INFO("the rule " << made.rule << " in the case " << other.rule);
      CHECK(diagnose(other.observation).bottleneck->rule != made.rule);
    }
}

TEST_CASE("each bound of each rule is decisive on both sides") {
  for (const MadeCase& made : made_cases()) {
    const Rule& rule = *find_rule(made.rule);
    for (const Bound& bound : rule.when) {
      INFO(made.rule << ": " << bound.text());
      const auto [inside, outside] = sides(bound);
      Observation changed = made.observation;
      changed.set(bound.measure, inside, "made");
      CHECK(finding_by(diagnose(changed), made.rule) != nullptr);
      changed.set(bound.measure, outside, "made");
      CHECK(finding_by(diagnose(changed), made.rule) == nullptr);
    }
  }
}

TEST_CASE("a rule with a missing measure is not evaluated, and says how to measure it") {
  for (const MadeCase& made : made_cases()) {
    const Rule& rule = *find_rule(made.rule);
    for (const Bound& bound : rule.when) {
      INFO(made.rule << " without " << words_of(bound.measure).name);
      const Diagnosis diagnosis = diagnose(without(made.observation, {bound.measure}));
      CHECK(finding_by(diagnosis, made.rule) == nullptr);
      const auto unknown = std::ranges::find(diagnosis.not_judged, made.rule, &Unknown::rule);
      REQUIRE(unknown != diagnosis.not_judged.end());
      CHECK(unknown->why.find(words_of(bound.measure).words) != std::string::npos);
      CHECK(unknown->settle.find(words_of(bound.measure).measure_by) != std::string::npos);
    }
  }
}

TEST_CASE("below a hundred steady steps only rules that need no steps are evaluated") {
  for (const MadeCase& made : made_cases()) {
    INFO(made.rule);
    Observation few = made.observation;
    few.set(Measure::steps, kSteadySteps - 1, "made");
    const Diagnosis diagnosis = diagnose(few);
    const bool found = finding_by(diagnosis, made.rule) != nullptr;
    CHECK(found != find_rule(made.rule)->needs_steps);
    if (found) continue;
    const auto unknown = std::ranges::find(diagnosis.not_judged, made.rule, &Unknown::rule);
    REQUIRE(unknown != diagnosis.not_judged.end());
    CHECK(unknown->why.find("99 steady steps") != std::string::npos);
  }
}

TEST_CASE("bounds and ceilings print as text") {
  CHECK(Bound{Measure::data_share, Is::above, 0.05}.text() == "data wait > 5 %");
  CHECK(Bound{Measure::throttled_s, Is::above, 0.0}.text() == "CPU quota throttling > 0 s");
  CHECK(condition_text(*find_rule("data_preparation")) ==
        "data wait > 5 % and steps with data ready < 95 % and loader workers on CPU >= 90 %");
  CHECK(find_rule("data_fetch")->ceiling.text() ==
        "1 / (1 - data wait x share of the data wait removed by cached samples)");
  CHECK(find_rule("no_such_rule") == nullptr);
}

}  // namespace bench::diagnosis
