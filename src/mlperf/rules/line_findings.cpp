#include "mlperf/rules/line_findings.h"

#include <fmt/format.h>

namespace bench::mlperf {
namespace {

Finding finding_at(const LogEntry& line) {
  return {.line = line.line, .column = line.column, .key = line.key};
}

std::string line_count_text(std::size_t count) {
  return count == 0 ? "none" : fmt::format("{} line{}", count, count == 1 ? "" : "s");
}

}  // namespace

Finding failed_test(const LineTest& test, const Scope& scope, const LogEntry& line,
                    const std::string& reason) {
  Finding finding = finding_at(line);
  finding.expected =
      test.expected.empty() ? expected_words(test.test, scope) : test.expected.fill(scope);
  finding.found = test.found.empty() ? found_words(test.test, scope) : test.found.fill(scope);
  finding.text =
      fmt::format("{}: expected {}, found {}.", line.key, finding.expected, finding.found);
  if (!reason.empty())
    finding.text = fmt::format("{}: expected {}, found {}; cannot evaluate '{}': {}.", line.key,
                               finding.expected, finding.found, test.test.text(), reason);
  return finding;
}

Finding failed_assignment(const Expression& value, const std::string& name,
                          const std::string& where, const LogEntry& line,
                          const std::string& reason) {
  Finding finding = finding_at(line);
  finding.rule = "derive." + line.key;
  finding.expected = fmt::format("a value from which {} can be computed: {}", name, value.text());
  finding.found = line.value.excerpt();
  finding.text = fmt::format("{}: cannot compute {} from its value: {}.", line.key, name, reason);
  finding.where = where;
  return finding;
}

Finding missing_lines(const std::string& key, std::size_t wanted, std::size_t seen,
                      const std::string& where) {
  return {.rule = "required." + key,
          .key = key,
          .expected = fmt::format("at least {}", line_count_text(wanted)),
          .found = line_count_text(seen),
          .text = seen == 0 ? fmt::format("{} is not logged; log it.", key)
                            : fmt::format("{} is logged too few times.", key),
          .where = where};
}

Finding repeated_lines(const std::vector<const LogEntry*>& lines, const std::string& where,
                       const LogEntry* other) {
  Finding finding = finding_at(other == nullptr ? *lines[1] : *other);
  finding.rule = "required." + finding.key;
  finding.expected = fmt::format("exactly one line, such as line {}: {}", lines[0]->line,
                                 lines[0]->value.excerpt());
  finding.found =
      line_count_text(lines.size()) +
      (other == nullptr ? " with equal values" : ", this one: " + other->value.excerpt());
  finding.text = fmt::format("{} is logged {} times{}; log it once, on one rank.", finding.key,
                             lines.size(), other == nullptr ? "" : " with different values");
  finding.where = where;
  return finding;
}

Finding missing_either(const std::string& key, const std::string& other, const std::string& where) {
  return {.rule = fmt::format("required.{}_or_{}", key, other),
          .key = key,
          .expected = fmt::format("at least one line with {} or {}", key, other),
          .found = "none",
          .text = fmt::format("Neither {} nor {} is logged; log one of them.", key, other),
          .where = where};
}

Finding no_line_satisfies(const LineTest& test, const std::string& where,
                          const std::vector<const LogEntry*>& lines, const Scope& scope) {
  Finding finding = finding_at(*lines.back());
  finding.rule = "target." + finding.key;
  finding.expected = expected_words(test.test, scope) + ", at least once";
  finding.found =
      fmt::format("{}, the last: {}", line_count_text(lines.size()), lines.back()->value.excerpt());
  finding.text = fmt::format("{}: no value is {}; the last is {}.", finding.key,
                             expected_words(test.test, scope), lines.back()->value.excerpt());
  finding.where = where;
  return finding;
}

Finding crash_at(const LogEntry& line, const std::string& expected, std::string_view why) {
  Finding finding = finding_at(line);
  finding.rule = "crash." + line.key;
  finding.expected = expected;
  finding.found = line.value.excerpt();
  finding.text = fmt::format("The official checker crashes on this line: {}.", why);
  finding.official = true;
  return finding;
}

}  // namespace bench::mlperf
