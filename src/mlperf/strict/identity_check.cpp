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

}  // namespace

void check_identity(const Subject& subject, std::vector<Finding>& findings) {
  check_organisation(subject, findings);
  check_benchmark(subject, findings);
}

}  // namespace bench::mlperf
