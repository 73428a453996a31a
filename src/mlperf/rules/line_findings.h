// Builds findings: the line, the requirement of the rules, the found value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mlperf/finding.h"
#include "mlperf/log/log.h"
#include "mlperf/rules/rule_set.h"

namespace bench::mlperf {

/// `reason`: why Python cannot evaluate the test; "" if it can. The result has no rule ID.
Finding failed_test(const LineTest& test, const Scope& scope, const LogEntry& line,
                    const std::string& reason);
Finding failed_assignment(const Expression& value, const std::string& name,
                          const std::string& where, const LogEntry& line,
                          const std::string& reason);
Finding missing_lines(const std::string& key, std::size_t wanted, std::size_t seen,
                      const std::string& where);
/// More lines than the one required; `other`: the first with a different value, or nullptr.
Finding repeated_lines(const std::vector<const LogEntry*>& lines, const std::string& where,
                       const LogEntry* other);
Finding missing_either(const std::string& key, const std::string& other, const std::string& where);
/// No line satisfies `test`; `scope` is that of the last line.
Finding no_line_satisfies(const LineTest& test, const std::string& where,
                          const std::vector<const LogEntry*>& lines, const Scope& scope);
Finding crash_at(const LogEntry& line, const std::string& expected, std::string_view why);

}  // namespace bench::mlperf
