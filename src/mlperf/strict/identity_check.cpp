// identity.*: the log belongs to its folder.
#include <fmt/format.h>

#include <cctype>
#include <string>

#include "core/text.h"
#include "mlperf/strict/subject.h"

namespace bench::mlperf {
namespace {

/// Ignores case, spaces and punctuation: "Giga Computing" equals "GigaComputing".
std::string normalised_name(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (const auto byte = static_cast<unsigned char>(c); std::isalnum(byte) != 0 || byte >= 0x80)
      result += static_cast<char>(std::tolower(byte));
  return result;
}

/// One name may contain the other: "Acme", "Acme Inc.", "Acme_Partner".
bool similar_names(std::string_view a, std::string_view b) {
  const std::string x = normalised_name(a), y = normalised_name(b);
  return x.find(y) != std::string::npos || y.find(x) != std::string::npos;
}

void check_organisation(const Subject& subject, std::vector<Finding>& findings) {
  const LogEntry* entry = first_entry(subject.log, "submission_org");
  if (entry == nullptr || subject.submitter.empty() || subject.facts.org.empty()) return;
  if (similar_names(subject.facts.org, subject.submitter)) return;
  for (const Finding& other : findings)
    if (other.rule == "value.placeholder" && other.key == entry->key) return;
  add_finding(findings, entry, "identity.organisation", Severity::warning,
              {printable(subject.submitter), entry->value.excerpt(),
               "the log names a different organisation than its folder: set "
               "submission_org, or check that the log is yours"});
}

void check_benchmark(const Subject& subject, std::vector<Finding>& findings) {
  const LogEntry* entry = first_entry(subject.log, "submission_benchmark");
  if (entry == nullptr || !subject.rules.benchmarks.contains(subject.folder) ||
      !entry->value.is_string() || subject.facts.benchmark == subject.folder)
    return;
  add_finding(findings, entry, "identity.benchmark", Severity::error,
              {printable(subject.folder), entry->value.excerpt(),
               "the log's benchmark differs from its folder's name"});
}

void check_division(const Subject& subject, std::vector<Finding>& findings) {
  const LogEntry* entry = first_entry(subject.log, "submission_division");
  if (entry == nullptr || subject.division.empty() || subject.facts.division.empty() ||
      subject.facts.division == subject.division)
    return;
  add_finding(findings, entry, "identity.division", Severity::warning,
              {printable(subject.division), entry->value.excerpt(),
               "the log's division differs from that of the system description: change the one "
               "that is wrong"});
}

/// The official convergence test takes evaluations above the benchmark's name for those of a
/// benchmark that counts epochs, and ends with a traceback where they count samples.
void check_order(const Subject& subject, std::vector<Finding>& findings) {
  if (!subject.facts.evaluated_before_named) return;
  const LogEntry* named = first_entry(subject.log, "submission_benchmark");
  const LogEntry* evaluation = first_entry(subject.log, "eval_accuracy");
  if (subject.benchmark() == nullptr || subject.benchmark()->progress == "epoch_num") return;
  add_finding(findings, named, "identity.order", Severity::warning,
              {fmt::format("before line {}, the first evaluation", evaluation->line),
               fmt::format("line {}", named->line),
               "the official convergence test ends with a traceback at an evaluation above "
               "submission_benchmark: log the benchmark first"});
}

}  // namespace

void check_identity(const Subject& subject, std::vector<Finding>& findings) {
  check_organisation(subject, findings);
  check_benchmark(subject, findings);
  check_division(subject, findings);
  check_order(subject, findings);
}

}  // namespace bench::mlperf
