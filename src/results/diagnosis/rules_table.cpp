// The table of rules as docs/diagnosis.md has it.
#include <fmt/format.h>

#include "core/text.h"
#include "results/diagnosis/diagnosis_output.h"

namespace bench::diagnosis {
namespace {

std::string subjects_of(const Rule& rule) {
  std::vector<std::string> names;
  for (const Subject subject : rule.of) names.emplace_back(to_string(subject));
  const std::string text = join(names, ", ");
  if (rule.on == On::any) return text;
  return text + (rule.on == On::gpu ? ", on a GPU" : ", on a CPU");
}

/// Measures reported next to those of the condition.
std::string evidence_list(const Rule& rule) {
  std::vector<std::string> words;
  for (const Measure measure : rule.evidence) words.emplace_back(words_of(measure).words);
  return join(words, ", ");
}

}  // namespace

std::string rules_table() {
  std::string text =
      "| rule | condition | cause | applies to | other evidence | potential gain, at most | confirm by | fix |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Rule& rule : rules())
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", rule.name,
                        condition_text(rule), words_of(rule.cause), subjects_of(rule),
                        evidence_list(rule), rule.ceiling.text(), rule.experiment, rule.fix);
  return text;
}

}  // namespace bench::diagnosis
