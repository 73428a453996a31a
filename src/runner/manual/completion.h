// Completion of command lines in bash, zsh and fish. A short script for each shell asks this
// program
// (`benchctl complete WORD...`), so that what is offered is what this version takes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Suggestion {
  std::string word;
  std::string description;  // may be empty
};

struct Completion {
  std::vector<Suggestion> candidates;
  bool files = false;  // files of the current folder may follow as well
};

/// Names that this machine knows, by the name of the value in help: suites for "SUITE".
using NameSource = std::function<std::vector<std::string>(const std::string& value_name)>;

/// What may stand in place of the last of `words`, which follow the program's name; the last one is
/// "" where a new word begins. Candidates begin with it.
Completion complete(const CLI::App& app, const std::vector<std::string>& words,
                    const NameSource& names);

/// For the shells' scripts: "word<tab>description" on each line, and ":files" at the end if files
/// may follow.
std::string completion_lines(const Completion& completion);

/// The shells that completion_script() knows.
const std::vector<std::string>& completion_shells();
std::string completion_script(const std::string& shell);

}  // namespace bench
