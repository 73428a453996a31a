// The exception of this project: what failed, with the value seen, then what to do. A slow, wrong
// or impossible measurement is an Outcome (core/record.h), not an Error.
#pragma once

#include <stdexcept>
#include <string>

namespace bench {

enum class ErrorKind {
  usage,        // the command line is wrong
  input,        // an input file or value is wrong
  environment,  // this machine lacks a program, permission or space
  internal,     // a bug in this program
  interrupted   // interrupted by the user
};

/// Process exit codes, on which scripts rely.
enum class ExitCode : int {
  ok = 0,            // all passed; planned skips and wide intervals included
  failed = 1,        // a gate failed, a result was invalid, or something regressed
  bad_input = 2,     // usage or input
  not_measured = 3,  // requested measurement impossible, or everything skipped
  environment = 4,
  interrupted = 130
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what, std::string hint = {})
      : std::runtime_error(what), kind_(kind), hint_(std::move(hint)) {}

  ErrorKind kind() const { return kind_; }
  /// What the user can do; may be empty.
  const std::string& hint() const { return hint_; }
  /// "what; hint", or what alone.
  std::string text() const { return hint_.empty() ? what() : what() + ("; " + hint_); }

 private:
  ErrorKind kind_;
  std::string hint_;
};

ExitCode exit_code(ErrorKind kind);

/// Throws Error(environment) with the text of errno; `doing` is like "open runs/x/records.jsonl".
[[noreturn]] void throw_errno(const std::string& doing, const std::string& hint = {});

}  // namespace bench
