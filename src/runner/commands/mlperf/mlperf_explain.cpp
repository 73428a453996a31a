// benchctl mlperf explain: what a finding of `mlperf check` asks for.
#include "core/text.h"
#include "mlperf/rules/rule_set.h"
#include "mlperf/strict/strict_check.h"
#include "results/output/mlperf/explanation.h"
#include "runner/commands/mlperf/mlperf_command.h"
#include "runner/commands/report_pages.h"

namespace bench {
namespace {

std::vector<mlperf::RuleSet> known_rule_sets(const std::string& version) {
  const auto folder = mlperf::rule_set_folder();
  if (!version.empty()) return {mlperf::load_rule_set(folder, version)};
  return mlperf::load_rule_sets(folder);
}

/// Strict IDs, and all keys of the rule sets.
std::vector<std::string> known_words(const std::vector<mlperf::RuleSet>& rule_sets) {
  std::vector<std::string> words;
  for (const mlperf::StrictRule& rule : mlperf::strict_rules()) words.emplace_back(rule.id);
  for (const mlperf::RuleSet& rules : rule_sets)
    for (const auto& [name, section] : rules.sections)
      for (const auto& [key, rule] : section.keys) words.push_back(key);
  return words;
}

}  // namespace

void add_mlperf_explain(CLI::App& mlperf, CommandResult& result) {
  CLI::App* command = mlperf.add_subcommand(
      "explain", "Say what a finding of `mlperf check` asks for, or what rules say of a key");
  command->footer(
      "Example: benchctl mlperf explain stop.target\n"
      "         benchctl mlperf explain required.eval_accuracy --ruleset 6.1.0");
  struct Options {
    std::string finding, version;
    PageOptions pages;
  };
  auto options = std::make_shared<Options>();
  command
      ->add_option("finding", options->finding,
                   "Explain this finding or key (default: list all checks)")
      ->type_name("FINDING");
  add_value(*command, "--ruleset", options->version, "VERSION",
            "Show only the rules of this version (default: all)");
  add_page_options(*command, options->pages);
  command->callback([options, &result] {
    const auto rule_sets = known_rule_sets(options->version);
    const auto document = options->finding.empty()
                              ? std::optional(mlperf::list_of_checks())
                              : mlperf::explanation(options->finding, rule_sets);
    if (!document)
      throw Error(ErrorKind::usage,
                  "there is no finding or key '" + printable(options->finding) + "'." +
                      did_you_mean(options->finding, known_words(rule_sets)),
                  "`benchctl mlperf explain` lists the checks");
    show([&] { return *document; }, [] { return Json(); }, false, options->pages);
    result.code = ExitCode::ok;
  });
}

}  // namespace bench
