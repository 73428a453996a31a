// The same talk with many hosts at once: a program for each, whose output is gathered, and to which
// a long text is written when it asks for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "runner/dispatch/interrupts.h"

namespace bench {

struct Conversation {
  std::string host;
  std::vector<std::string> argv;
  std::string output;   // its beginning: 64 KiB at most
  std::string error;    // likewise
  std::string trouble;  // why it did not end well; "" when it did
  /// The lines of the output that begin with this word and a blank, without both.
  std::vector<std::string> said(const std::string& word) const;
  /// Whether the output has this line.
  bool has(const std::string& line) const;
};

/// At most 32 at a time. `payload` goes to each that prints a line "need"; the others' input is
/// closed at once. One that neither says nor takes anything for `patience` is ended. An interrupt
/// ends all.
void converse(std::vector<Conversation>& hosts, std::string_view payload, Seconds patience,
              const Interrupts& interrupts);

}  // namespace bench
