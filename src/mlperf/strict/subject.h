// The input of a strict check of one log, and helpers to build findings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mlperf/finding.h"
#include "mlperf/log/log.h"
#include "mlperf/log/run_facts.h"
#include "mlperf/rules/rule_set.h"

namespace bench::mlperf {

struct Subject {
  const Log& log;
  const RunFacts& facts;
  const RuleSet& rules;
  std::string submitter = {}, folder = {};        // folder names; "" if unknown
  std::optional<std::int64_t> accelerators = {};  // from the system description
  std::string division = {};                      // likewise; "" if unknown

  bool closed() const { return facts.division == "closed"; }
  /// The rule set's entry for the logged benchmark; nullptr if it has none.
  const Benchmark* benchmark() const;
};

/// What a finding says: as in Finding.
struct Statement {
  std::string_view expected, found, text, where = {};
};
/// Adds a finding at the entry's line, with its key; for nullptr, of the log as a whole.
void add_finding(std::vector<Finding>& findings, const LogEntry* entry, std::string_view rule,
                 Severity severity, const Statement& statement);

/// "27648", or with a fraction's shortest digits.
std::string number_text(double number);

/// Each adds its findings.
void check_run(const Subject& subject, std::vector<Finding>& findings);       // status, times
void check_stop(const Subject& subject, std::vector<Finding>& findings);      // target and stop
void check_schedule(const Subject& subject, std::vector<Finding>& findings);  // of evaluations
void check_values(const Subject& subject, std::vector<Finding>& findings);    // types, finite
void check_identity(const Subject& subject, std::vector<Finding>& findings);  // whose run it is
void check_batch(const Subject& subject, std::vector<Finding>& findings);     // and its factors
void check_hyperparameters(const Subject& subject, std::vector<Finding>& findings);
void check_run_seeds(const Subject& subject, std::vector<Finding>& findings);

}  // namespace bench::mlperf
