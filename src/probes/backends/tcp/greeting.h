// The handshake line a rank sends to rank 0, and the answer. It comes from an unauthenticated peer,
// so it is short and parsed strictly (tests/fuzz/greeting_fuzz.cpp).
//   #benchgroup 1 0.1.0+1a2b3c4 4 2 TOKEN node03
//   #benchgroup ok          or          #benchgroup no ranks 1, 3 did not connect within 25 s
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace bench {

inline constexpr std::size_t kMaxHandshake = 1024;  // bytes of a line, its newline included

struct RankHandshake {
  std::string version;  // of the rank's program
  int size = 0;
  int rank = 0;
  std::string token;  // "" is "-" in the line
  std::string host;   // where the rank runs, as it calls itself
  bool operator==(const RankHandshake&) const = default;
};

/// With its newline. Blanks and control characters become '?'.
std::string handshake_line(const RankHandshake& handshake);

/// Why a line is rejected; `foreign`: it is not from a rank of any version.
struct BadHandshake {
  std::string reason;
  bool foreign = true;
};

/// Of a line without its newline.
std::variant<RankHandshake, BadHandshake> parse_handshake(std::string_view line);

/// With its newline; `refusal`: "" lets the rank in.
std::string answer_line(const std::string& refusal);

struct Answer {
  bool ours = false;    // false: whoever answered is no rank 0
  std::string refusal;  // "" lets us in
};

Answer parse_answer(std::string_view line);

/// Takes as long for a wrong token as for the right one.
bool same_token(std::string_view ours, std::string_view theirs);

}  // namespace bench
