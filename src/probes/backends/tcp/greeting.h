// The first line that a rank says to rank 0, and its answer. Whoever connects is a stranger until
// the line is read: it is short, strict and harmless to read (tests/fuzz/greeting_fuzz.cpp).
//   #benchgroup 1 0.1.0+1a2b3c4 4 2 TOKEN node03
//   #benchgroup ok          or          #benchgroup no ranks 1, 3 did not come within 25 s
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace bench {

inline constexpr std::size_t kMostGreeting = 1024;  // bytes of a line, its newline included

struct Greeting {
  std::string version;  // of the rank's program
  int size = 0;
  int rank = 0;
  std::string token;  // "" is "-" in the line
  std::string host;   // where the rank runs, as it calls itself
  bool operator==(const Greeting&) const = default;
};

/// With its newline. What is no word (blanks, control characters) becomes '?'.
std::string greeting_line(const Greeting& greeting);

/// What is wrong with a line: is it somebody else's, or a rank's of another make?
struct NoGreeting {
  std::string reason;
  bool stranger = true;
};

/// Of a line without its newline.
std::variant<Greeting, NoGreeting> read_greeting(std::string_view line);

/// With its newline; `refusal`: "" lets the rank in.
std::string answer_line(const std::string& refusal);

struct Answer {
  bool ours = false;    // false: whoever answered is no rank 0
  std::string refusal;  // "" lets us in
};

Answer read_answer(std::string_view line);

/// Takes as long for a wrong token as for the right one.
bool same_token(std::string_view ours, std::string_view theirs);

}  // namespace bench
