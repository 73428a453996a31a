#include "mlperf/rules/rule_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/locations.h"
#include "core/schema.h"
#include "core/text.h"
#include "mlperf/rules/expression_parser.h"

namespace bench::mlperf {
namespace {

/// The text of an expression that Python cannot evaluate.
constexpr std::string_view kUnknown = "unknown";

std::string value_text(const Node& node, const Scope& scope) try {
  return words(evaluate(node, scope));
} catch (const EvaluationError&) {
  return std::string(kUnknown);
}

std::string_view relation_text(Relation relation) {
  constexpr std::array kTexts = {"", "not ", "less than ", "at most ", "more than ", "at least "};
  return kTexts[static_cast<std::size_t>(relation)];
}

/// The expected value of the line; "" if the node does not constrain it.
std::string expected_of_value(const Node& node, const Scope& scope) {
  const auto is_value = [](const Node& one) { return one.op == Op::value; };
  if (node.op == Op::logical_and) {
    const std::string first = expected_of_value(node.children[0], scope);
    const std::string second = expected_of_value(node.children[1], scope);
    return first.empty() || second.empty() ? "" : first + " and " + second;
  }
  if (node.op == Op::nearly_whole && is_value(node.children[0])) return "an integer";
  if (node.op == Op::contains && is_value(node.children[0]) && node.children[1].op == Op::list) {
    std::vector<std::string> items;
    for (const Node& item : node.children[1].children) items.push_back(value_text(item, scope));
    return "one of " + join(items, ", ");
  }
  if (node.op != Op::comparison || !is_value(node.children[0]) || node.children.size() != 2)
    return "";
  const std::string wanted = value_text(node.children[1], scope);
  return wanted == kUnknown ? "" : fmt::format("{}{}", relation_text(node.relations[0]), wanted);
}

/// The expected metadata of the line; "" if the node does not constrain it.
std::string expected_of_metadata(const Node& node) {
  if (node.op == Op::logical_or) {
    const std::string first = expected_of_metadata(node.children[0]);
    const std::string second = expected_of_metadata(node.children[1]);
    return first.empty() || second.empty() ? "" : first + " or " + second;
  }
  const bool key = node.op == Op::contains && node.children[0].op == Op::text &&
                   node.children[1].op == Op::metadata;
  return key ? node.children[0].text : "";
}

}  // namespace

std::string expected_words(const Expression& expression, const Scope& scope) {
  const std::string of_value = expected_of_value(expression.tree(), scope);
  if (!of_value.empty()) return of_value;
  const std::string of_metadata = expected_of_metadata(expression.tree());
  return of_metadata.empty() ? expression.text() : of_metadata + " in the metadata";
}

std::string found_words(const Expression& expression, const Scope& scope) {
  constexpr std::size_t kLongest = 120;
  const bool metadata = reads(expression.tree(), Op::metadata);
  const PythonValue* part = metadata ? scope.metadata : scope.value;
  return part == nullptr ? "nothing" : (metadata ? "metadata " : "") + part->excerpt(kLongest);
}

Template::Template(std::string_view text, Vocabulary& vocabulary) {
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    if (open != 0) parts_.emplace_back(std::string(text.substr(0, open)));
    if (open == std::string_view::npos) return;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos)
      throw Error(ErrorKind::input, fmt::format("unclosed brace in '{}'", printable(text)),
                  "write it as {expression}");
    parts_.emplace_back(Expression(text.substr(open + 1, close - open - 1), vocabulary));
    text.remove_prefix(close + 1);
  }
}

std::string Template::fill(const Scope& scope) const {
  std::string text;
  for (const auto& part : parts_) {
    if (const auto* literal_text = std::get_if<std::string>(&part))
      text += *literal_text;
    else
      text += value_text(std::get<Expression>(part).tree(), scope);
  }
  return text;
}

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

/// Throws Error(input) with section, key and position.
RuleSet rule_set_from_json(const Json& json, const std::string& origin) {
  RuleSet rules;
  rules.version = json.value("ruleset", "");
  rules.round = json.value("round", "");
  rules.until = json.value("until", "");
  const Json& checker = object_field(json, "checker");
  rules.checker = {text_field(checker, "version"), text_field(checker, "date")};
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

constexpr int kLongestDescent = 16;  // of "based_on" and of "like"

/// Merges `change` into `base`; a null removes the member.
void overlay(Json& base, const Json& change) {
  for (const auto& [name, value] : change.items()) {
    if (value.is_null())
      base.erase(name);
    else
      base[name] = value;
  }
}

void overlay_section(Json& base, const Json& change) {
  for (const auto& [name, value] : change.items()) {
    if (name == "keys")
      overlay(base["keys"], value);
    else
      base[name] = value;
  }
}

void overlay_sections(Json& base, const Json& change) {
  for (const auto& [name, section] : change.items()) {
    if (section.is_null())
      base.erase(name);
    else
      overlay_section(base[name], section);
  }
}

void overlay_rule_set(Json& base, const Json& change) {
  base.erase("until");
  base.erase("checker");
  for (const auto& [name, value] : change.items()) {
    if (name == "sections")
      overlay_sections(base["sections"], value);
    else if (name == "benchmarks" || name == "lists")
      overlay(base[name], value);
    else
      base[name] = value;
  }
}

Json checked_json(const std::filesystem::path& folder, const std::string& version) {
  const std::filesystem::path path = folder / (version + ".json");
  Json json = read_json(path);
  static const Schema schema = Schema::load(schema_path("mlperf_ruleset"));
  schema.check(json, path.string());
  if (json["ruleset"] != version)
    throw Error(ErrorKind::input, path.string() + ": /ruleset is " + json["ruleset"].dump(),
                "use the version in the file's name");
  return json;
}

/// Merges a section with its base sections.
Json resolved_section(const Json& sections, const std::string& name, int depth) {
  const Json& section = sections.at(name);
  const std::string like = section.value("like", "");
  if (like.empty()) return section;
  if (!sections.contains(like))
    throw Error(ErrorKind::input,
                "section '" + name + "' has the base '" + like + "', which does not exist");
  if (depth >= kLongestDescent)
    throw Error(ErrorKind::input, "section '" + name + "' is its own base");
  Json whole = resolved_section(sections, like, depth + 1);
  overlay_section(whole, section);
  return whole;
}

/// The files of a folder, each read once.
class RuleSetFiles {
 public:
  explicit RuleSetFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The file of a version merged with its bases, each validated against the schema, with the keys
  /// of base sections resolved. Throws Error(input).
  Json whole(const std::string& version);

 private:
  const Json& descended(const std::string& version, int depth);

  std::filesystem::path folder_;
  std::map<std::string, Json> known_ = {};
};

const Json& RuleSetFiles::descended(const std::string& version, int depth) {
  if (const auto known = known_.find(version); known != known_.end()) return known->second;
  const Json json = checked_json(folder_, version);
  Json whole = Json::object();
  if (json.contains("based_on")) {
    if (depth >= kLongestDescent)
      throw Error(ErrorKind::input, version + ": /based_on is circular");
    const auto base = json["based_on"].get<std::string>();
    std::error_code missing;
    if (!std::filesystem::exists(folder_ / (base + ".json"), missing))
      throw Error(ErrorKind::input, version + ": /based_on: there is no rule set '" + base + "'");
    whole = descended(base, depth + 1);
  }
  overlay_rule_set(whole, json);
  return known_[version] = std::move(whole);
}

Json RuleSetFiles::whole(const std::string& version) {
  Json whole = descended(version, 0);
  const Json sections = whole["sections"];
  for (const auto& [name, section] : sections.items())
    whole["sections"][name] = resolved_section(sections, name, 0);
  return whole;
}

std::optional<double> at_batch(const Expression& expression, double global_batch_size) try {
  const State state = {Operand(global_batch_size)};
  const Operand result = expression.evaluate({.state = &state});
  if (!result.is_number()) return {};
  return multiply(result, Operand(1.0)).real;
} catch (const EvaluationError&) {
  return {};
}

/// 10.1.0 comes after 9.0.0.
std::vector<std::int64_t> parts_of(const std::string& version) {
  std::vector<std::int64_t> parts;
  std::int64_t part = 0;  // of a file's name, so up to 11 digits
  for (const char byte : version + ".") {
    if (byte == '.') {
      parts.push_back(part);
      part = 0;
    } else {
      part = part * 10 + (byte - '0');
    }
  }
  return parts;
}

bool is_version(const std::string& name) {
  constexpr std::size_t kLongest = 11;
  return !name.empty() && name.size() <= kLongest &&
         name.find_first_not_of("0123456789.") == std::string::npos;
}

RuleSet read_rule_set(RuleSetFiles& files, const std::filesystem::path& folder,
                      const std::string& version) {
  return rule_set_from_json(files.whole(version), (folder / (version + ".json")).string());
}

}  // namespace

std::optional<double> EvaluationSchedule::step(double global_batch_size) const {
  return at_batch(every, global_batch_size);
}

std::optional<double> EvaluationSchedule::start(double global_batch_size) const {
  return at_batch(first, global_batch_size);
}

std::filesystem::path rule_set_folder() { return data_root() / "rulesets"; }

std::vector<std::string> rule_set_versions(const std::filesystem::path& folder) {
  std::vector<std::string> versions;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
    if (entry.path().extension() == ".json" && is_version(entry.path().stem().string()))
      versions.push_back(entry.path().stem().string());
  if (versions.empty())
    throw Error(ErrorKind::environment, "no rule sets in " + folder.string(),
                "keep rulesets/ next to schemas/, as in the source tree or the bundle");
  std::sort(versions.begin(), versions.end(),
            [](const std::string& a, const std::string& b) { return parts_of(a) < parts_of(b); });
  return versions;
}

RuleSet load_rule_set(const std::filesystem::path& folder, std::string_view version) {
  const std::vector<std::string> known = rule_set_versions(folder);
  if (std::find(known.begin(), known.end(), version) == known.end())
    throw Error(
        ErrorKind::input,
        fmt::format("unknown rule set '{}'.{}", printable(version), did_you_mean(version, known)),
        "use one of: " + join(known, ", "));
  RuleSetFiles files(folder);
  return read_rule_set(files, folder, std::string(version));
}

std::vector<RuleSet> load_rule_sets(const std::filesystem::path& folder) {
  std::vector<RuleSet> all;
  RuleSetFiles files(folder);
  for (const std::string& version : rule_set_versions(folder))
    all.push_back(read_rule_set(files, folder, version));
  return all;
}

}  // namespace bench::mlperf
