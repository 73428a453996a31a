// Runs a command on many hosts at once, collects the output, and sends a payload to those that
// request it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "runner/launch/interrupts.h"

namespace bench {

struct HostSession {
  std::string host;
  std::vector<std::string> argv;
  std::string output;   // the first 64 KiB
  std::string error;    // likewise
  std::string trouble;  // why it failed; "" on success
  /// The rest of each output line that starts with this word and a space.
  std::vector<std::string> lines_after(const std::string& word) const;
  /// Whether the output contains this line.
  bool has(const std::string& line) const;
};

/// Runs at most 32 at a time. `payload` is sent to each that prints a line "need". A session
/// without progress for `patience` is killed. An interrupt ends all.
void run_sessions(std::vector<HostSession>& hosts, std::string_view payload, Seconds patience,
                  const Interrupts& interrupts);

}  // namespace bench
