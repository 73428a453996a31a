#include "mlperf/score/entry_parts.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace bench::mlperf {
namespace {

/// Files have double precision; factors from other formulas differ by more.
constexpr double kSameFactor = 1e-9;

}  // namespace

void set_factor(EntryScore& entry) {
  const double own = entry.rcp ? entry.rcp->factor : 1.0;
  entry.scaling_factor = entry.file_factor.value_or(own);
  if (!entry.file_factor || std::abs(*entry.file_factor - own) <= kSameFactor * own) return;
  entry.warnings.push_back(
      fmt::format("scaling.json has the factor {:.9g}, but these runs give {:.9g} ({:.6g} "
                  "instead of {:.6g} minutes): the file is stale, or the review committee "
                  "set another factor; the score uses the file's, as the published table does",
                  *entry.file_factor, own, entry.olympic_mean_minutes * own,
                  entry.olympic_mean_minutes * *entry.file_factor));
}

double read_scaling_factor(const std::filesystem::path& path) {
  const Json json = read_json(path);
  const double factor = number_field(json, "scaling_factor");
  if (!(factor > 0.0 && std::isfinite(factor)))
    throw Error(ErrorKind::input,
                fmt::format("{}: 'scaling_factor' is {}", path.string(),
                            excerpt(field(json, "scaling_factor"))),
                "set it to a positive number");
  return factor;
}

namespace {

/// NaN unless all runs logged the same batch; failed runs may lack one.
double common_batch(const std::vector<ScoredRun*>& runs) {
  double batch = kNoValue;
  for (const ScoredRun* run : runs) {
    const auto& own = run->read.facts.global_batch_size;
    if (!own && run->use == RunUse::failed) continue;
    if (!own || (!std::isnan(batch) && *own != batch)) return kNoValue;
    batch = *own;
  }
  return batch;
}

std::string missing_progress_text(const std::vector<ScoredRun*>& runs, std::string_view unit) {
  std::vector<std::string> files;
  for (const ScoredRun* run : runs)
    if (std::isnan(run->converged)) files.push_back(run->read.file.filename().string());
  if (files.empty()) return "";
  return fmt::format("the last evaluation has no {} in {}",
                     unit == "samples" ? "samples_count" : "epoch_num", join(files, ", "));
}

WhatIf what_if(const EntryScore& entry, const RcpSet& set, double batch,
               const std::vector<double>& converged) {
  WhatIf made{.test = rcp_test(set, batch, converged)};
  const auto& point = made.test.reference.point;
  if (point && std::isfinite(made.test.mean))
    made.minutes_at_reference = entry.olympic_mean_minutes * point->mean / made.test.mean;
  return made;
}

/// The official checker applies the allowance in all rounds, the rules only in some.
void warn_about_allowance(EntryScore& entry, const RcpSet& set) {
  const RcpTest& test = *entry.rcp;
  if (!test.pass || test.mean >= test.reference.point->minimum) return;
  entry.warnings.push_back(fmt::format(
      "the convergence test passes only because of the allowance of {:g} {}: "
      "{:.10g} is below the minimum of {:.10g} ({})",
      test.allowance, set.unit, test.mean, test.reference.point->minimum, set.allowance_where));
}

void test_points(EntryScore& entry, const RcpSet& set, const ScoreSettings& settings) {
  const std::vector<ScoredRun*> runs = chosen_runs(entry);
  std::vector<double> converged;
  for (const ScoredRun* run : runs) converged.push_back(run->converged);
  entry.rcp = rcp_test(set, common_batch(runs), converged);
  if (const std::string unknown = missing_progress_text(runs, set.unit); !unknown.empty()) {
    entry.rcp->pass = false, entry.rcp->factor = 1.0;
    entry.rcp->why = unknown;
  }
  for (const double batch : settings.batches)
    entry.what_if.push_back(what_if(entry, set, batch, converged));
  if (entry.rcp->pass) return warn_about_allowance(entry, set);
  const std::string words = "convergence: " + entry.rcp->why;
  (settings.rcp_bypass ? entry.warnings : entry.problems).push_back(words);
}

}  // namespace

void test_convergence(EntryScore& entry, const RcpSet* set, const ScoreSettings& settings) {
  if (set == nullptr) {
    entry.rcp_why = fmt::format("round {} has no reference convergence points for {}",
                                entry.ruleset, printable(entry.benchmark));
    if (entry.division == "closed")
      entry.warnings.push_back("convergence not tested: " + entry.rcp_why);
    return;
  }
  if (entry.division == "closed") return test_points(entry, *set, settings);
  entry.rcp_why = "the test applies to the closed division only";
}

}  // namespace bench::mlperf
