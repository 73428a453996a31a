#include "runner/manual/completion.h"

#include <algorithm>

#include "core/text.h"
#include "runner/manual/command_tree.h"

namespace bench {
namespace {

/// Sources COMPREPLY from `benchctl complete`. "=" and ":" are parts of words here (--set a.b=1).
constexpr const char* kBash = R"sh(# bash completion for benchctl
_benchctl() {
  local current=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]:0:COMP_CWORD+1}") count=$COMP_CWORD
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n "=:" -c current -w words -i count
  fi
  COMPREPLY=()
  local line
  while IFS= read -r line; do
    if [ "$line" = ":files" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <("${words[0]}" complete "${words[@]:1:count}" 2>/dev/null)
  if declare -F __ltrim_colon_completions >/dev/null; then
    __ltrim_colon_completions "$current"
  fi
}
complete -F _benchctl benchctl
)sh";

constexpr const char* kZsh = R"sh(#compdef benchctl
# zsh completion for benchctl
_benchctl() {
  local -a candidates
  local line files= found=1
  while IFS= read -r line; do
    if [[ $line == ":files" ]]; then
      files=yes
    else
      candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    fi
  done < <("${words[1]}" complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( ${#candidates} )) && _describe -V benchctl candidates && found=0
  [[ -n $files ]] && _files && found=0
  return found
}
if [ "$funcstack[1]" = "_benchctl" ]; then
  _benchctl "$@"
else
  compdef _benchctl benchctl
fi
)sh";

constexpr const char* kFish = R"sh(# fish completion for benchctl
function __benchctl_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] complete $words[2..-1] 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c benchctl -f -a "(__benchctl_complete)"
)sh";

/// A command and what its words so far leave open.
struct Position {
  const CLI::App* command;
  const CLI::Option* awaiting = nullptr;  // an option whose value comes next
  std::size_t positionals = 0;            // that were given
};

const CLI::Option* find_option(const CLI::App& command, const std::string& word) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      if (word == "--" + name) return option;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_snames())
      if (word == "-" + name) return option;
  return nullptr;
}

Position follow(const CLI::App& app, const std::vector<std::string>& words) {
  Position at{&app};
  for (const std::string& word : words) {
    if (at.awaiting != nullptr) {
      at.awaiting = nullptr;
    } else if (word.starts_with("-")) {
      const CLI::Option* option = find_option(*at.command, word);
      if (option != nullptr && takes_value(*option)) at.awaiting = option;
    } else if (const CLI::App* next = subcommand(*at.command, word)) {
      at.command = next;
    } else {
      ++at.positionals;
    }
  }
  return at;
}

/// "Write a report. More." -> "Write a report".
std::string first_sentence(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  const auto end = line.find(". ");
  return end == std::string::npos ? line : line.substr(0, end);
}

bool names_a_file(const std::string& value) {
  return value == "FILE" || value == "PATH" || value == "DIR" || value == "PROGRAM" ||
         value == "SUITE" || value == "PROFILE";
}

void offer_values(const CLI::Option& option, const NameSource& names, Completion& completion) {
  for (const std::string& value : choices(option)) completion.candidates.push_back({value, ""});
  if (!completion.candidates.empty()) return;
  const std::string value = value_name(option);
  for (const std::string& name : names(value)) completion.candidates.push_back({name, ""});
  completion.files = names_a_file(value);
}

void offer_options(const CLI::App& command, Completion& completion) {
  for (const CLI::Option* option : named_options(command))
    for (const std::string& name : option->get_lnames())
      completion.candidates.push_back({"--" + name, first_sentence(option->get_description())});
}

void offer_words(const Position& at, const NameSource& names, Completion& completion) {
  for (const CLI::App* command : subcommands(*at.command))
    completion.candidates.push_back(
        {command->get_name(), first_sentence(command->get_description())});
  const auto arguments = positionals(*at.command);
  if (arguments.empty()) return;
  const CLI::Option& last = *arguments.back();
  const bool any_more = last.get_items_expected_max() > 1;
  if (at.positionals < arguments.size())
    offer_values(*arguments[at.positionals], names, completion);
  else if (any_more)
    offer_values(last, names, completion);
}

}  // namespace

Completion complete(const CLI::App& app, const std::vector<std::string>& words,
                    const NameSource& names) {
  const std::string current = words.empty() ? "" : words.back();
  const std::vector<std::string> before(words.begin(), words.end() - (words.empty() ? 0 : 1));
  const Position at = follow(app, before);
  Completion completion;
  if (at.awaiting != nullptr)
    offer_values(*at.awaiting, names, completion);
  else if (current.starts_with("-"))
    offer_options(*at.command, completion);
  else
    offer_words(at, names, completion);
  std::erase_if(completion.candidates,
                [&](const Suggestion& one) { return !one.word.starts_with(current); });
  return completion;
}

std::string completion_lines(const Completion& completion) {
  std::string lines;
  for (const Suggestion& one : completion.candidates)
    lines += printable(one.word) + (one.description.empty() ? "" : "\t" + one.description) + "\n";
  return lines + (completion.files ? ":files\n" : "");
}

const std::vector<std::string>& completion_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(const std::string& shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
}

}  // namespace bench
