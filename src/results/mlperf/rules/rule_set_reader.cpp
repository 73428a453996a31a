#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "results/json_fields.h"
#include "results/mlperf/rules/expression_tokens.h"
#include "results/mlperf/rules/rule_set_json.h"

namespace bench::mlperf {
namespace {

/// One key's rules; `where` is that of its section.
class KeyReader {
 public:
  KeyReader(Vocabulary& vocabulary, std::string where)
      : vocabulary_(vocabulary), where_(std::move(where)) {}

  KeyRule read(const Json& json) {
    KeyRule rule;
    rule.where = where_;
    rule.exactly_one = true;
    if (json.is_string()) rule.tests = tests(json);
    if (!json.is_object()) return rule;
    count(rule, json.value("count", "exactly_one"));
    rule.or_key = json.value("or", "");
    rule.where = json.value("where", where_);
    rule.continues = json.value("continue", "");
    if (json.contains("check")) rule.tests = tests(json["check"]);
    if (json.contains("first")) rule.first = tests(json["first"]);
    if (json.contains("some")) rule.some = test(json["some"]);
    for (const Json& line : array_field(json, "after"))
      rule.after.push_back(assignment(line.get<std::string>()));
    return rule;
  }

 private:
  static void count(KeyRule& rule, const std::string& count) {
    rule.exactly_one = count == "exactly_one";
    rule.at_least = count == "at_least_one" ? 1 : count == "at_least_two" ? 2 : 0;
  }

  std::vector<LineTest> tests(const Json& json) {
    std::vector<LineTest> all;
    if (!json.is_array()) return all.push_back(test(json)), all;
    for (const Json& one : json) all.push_back(test(one));
    return all;
  }

  LineTest test(const Json& json) {
    if (json.is_string()) return {Expression(json.get<std::string>(), vocabulary_)};
    return {Expression(json["test"].get<std::string>(), vocabulary_),
            Template(json.value("expected", ""), vocabulary_),
            Template(json.value("found", ""), vocabulary_)};
  }

  /// "name = expression".
  Assignment assignment(const std::string& text) {
    Tokens tokens(text);
    if (tokens.next().kind != TokenKind::name) tokens.refuse("expected a name");
    const std::size_t slot = vocabulary_.slot(tokens.take().text);
    tokens.expect("=");
    return {slot, Expression(std::string_view(text).substr(tokens.next().place), vocabulary_)};
  }

  Vocabulary& vocabulary_;
  std::string where_;
};

Operand initial_value(const Json& json) {
  if (json.is_boolean()) return Operand(json.get<bool>());
  if (json.is_number_integer()) return Operand(json.get<std::int64_t>());
  return json.is_number() ? Operand(json.get<double>()) : Operand();
}

Section read_section(const Json& json, const std::string& name, Vocabulary vocabulary) {
  Section section;
  section.name = name;
  if (json.contains("collect")) {
    const Json& collect = json["collect"];
    const auto text = [&](const char* name_of) { return collect[name_of].get<std::string>(); };
    section.collection = {text("from"), text("by"), text("name"), text("into")};
  }
  KeyReader reader(vocabulary, json.value("where", ""));
  for (const auto& [key, rule] : object_field(json, "keys").items()) try {
      section.keys.emplace(key, reader.read(rule));
    } catch (const Error& error) {
      throw Error(ErrorKind::input, fmt::format("key '{}': {}", key, error.what()), error.hint());
    }
  const Json& begin = object_field(json, "begin");
  for (const auto& [state, value] : begin.items()) {
    const std::size_t slot = vocabulary.slot(state);
    section.begin.resize(std::max(section.begin.size(), slot + 1));
    section.begin[slot] = initial_value(value);
  }
  section.begin.resize(vocabulary.state.size());
  section.state_names = vocabulary.state;
  return section;
}

Benchmark read_benchmark(const Json& json) {
  Benchmark benchmark;
  benchmark.runs = json["runs"].get<std::size_t>();
  if (json.contains("target")) benchmark.target = json["target"].get<double>();
  benchmark.lower_is_better = json.value("better", "lower") == "lower";
  benchmark.progress = json["progress"].get<std::string>();
  if (!json.contains("evaluation")) return benchmark;
  Vocabulary vocabulary{.state = {"batch"}};
  const Json& evaluation = json["evaluation"];
  benchmark.evaluation = {Expression(evaluation["every"].get<std::string>(), vocabulary),
                          Expression(evaluation["first"].get<std::string>(), vocabulary)};
  return benchmark;
}

/// The names available to a section: the round's lists and the target of its benchmark.
Vocabulary vocabulary_of(const RuleSet& rules, const Json& lists, std::string_view section) {
  Vocabulary vocabulary;
  for (const auto& [name, list] : lists.items())
    vocabulary.lists[name] = list.get<std::vector<std::string>>();
  for (const auto& [name, benchmark] : rules.benchmarks)
    vocabulary.lists["benchmarks"].push_back(name);
  const std::size_t slash = section.find('/');
  if (slash == std::string_view::npos) return vocabulary;
  const auto benchmark = rules.benchmarks.find(section.substr(slash + 1));
  if (benchmark != rules.benchmarks.end() && benchmark->second.target)
    vocabulary.constants["target"] = *benchmark->second.target;
  return vocabulary;
}

}  // namespace

RuleSet rule_set_from_json(const Json& json, const std::string& origin) {
  RuleSet rules;
  rules.version = json.value("ruleset", "");
  rules.round = json.value("round", "");
  rules.until = json.value("until", "");
  std::string place = "/benchmarks/";
  try {
    for (const auto& [name, benchmark] : object_field(json, "benchmarks").items()) {
      place = "/benchmarks/" + name;
      rules.benchmarks.emplace(name, read_benchmark(benchmark));
    }
    const Json& lists = object_field(json, "lists");
    for (const auto& [name, section] : object_field(json, "sections").items()) {
      place = "/sections/" + name;
      rules.sections.emplace(name, read_section(section, name, vocabulary_of(rules, lists, name)));
    }
  } catch (const Error& error) {
    throw Error(ErrorKind::input, fmt::format("{}: {}: {}", origin, place, error.what()),
                error.hint());
  }
  return rules;
}

}  // namespace bench::mlperf
