#include "results/mlperf/rules/collection.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/mlperf/rules/failures.h"
#include "results/mlperf/rules/operand.h"

namespace bench::mlperf {
namespace {

[[noreturn]] void refuse_line(const LogEntry& line, const Collection& collection,
                              const std::string& why) {
  throw OfficialCrash(
      {.rule = "crash." + collection.into,
       .line = line.line,
       .column = line.column,
       .key = line.key,
       .expected = fmt::format("{} and {} in the metadata", collection.name, collection.by),
       .found = line.metadata.excerpt(),
       .text = fmt::format("The official checker crashes on this line: {}.", why)});
}

/// A Python dict key, which cannot be mutable.
const PythonValue& hashable_member(const LogEntry& line, const Collection& collection,
                                   const std::string& name) {
  const PythonValue* found = line.metadata.find(name);
  if (found == nullptr)
    refuse_line(line, collection, fmt::format("its metadata lacks '{}'", name));
  if (found->is_list() || found->is_dict())
    refuse_line(line, collection, fmt::format("'{}' is a {}", name, found->type_name()));
  return *found;
}

bool has_name(const LogEntry& line, const Collection& collection) try {
  return contains(Operand(line.metadata), Operand(std::string_view(collection.name)));
} catch (const EvaluationError&) {
  refuse_line(line, collection, fmt::format("its metadata is a {}", line.metadata.type_name()));
}

void set_member(PythonValue::Dict& dict, std::string_view key, const PythonValue& value) {
  for (auto& [name, known] : dict)
    if (name == key) {
      known = value;
      return;
    }
  dict.emplace_back(key, value);
}

/// The values collected for one value of `by`.
struct Collected {
  PythonValue by;
  LogEntry line;
  PythonValue::Dict values;
};

}  // namespace

std::vector<LogEntry> collected_lines(const std::vector<LogEntry>& lines,
                                      const Collection& collection) {
  std::vector<Collected> all;
  for (const LogEntry& line : lines) {
    if (line.key != collection.from || !has_name(line, collection)) continue;
    const PythonValue& by = hashable_member(line, collection, collection.by);
    auto known = std::find_if(all.begin(), all.end(),
                              [&](const Collected& one) { return same(one.by, by); });
    if (known == all.end()) {
      all.push_back({by, line, {}});
      known = std::prev(all.end());
      set_member(known->values, collection.by, by);
    }
    known->line.time_ms = std::max(known->line.time_ms, line.time_ms);
    const PythonValue& name = hashable_member(line, collection, collection.name);
    if (name.is_string()) set_member(known->values, name.text(), line.value);
  }
  std::vector<LogEntry> collected;
  for (Collected& one : all) {
    one.line.key = collection.into;
    one.line.value = PythonValue(std::move(one.values));
    one.line.metadata = PythonValue(PythonValue::Dict{});
    collected.push_back(std::move(one.line));
  }
  return collected;
}

}  // namespace bench::mlperf
