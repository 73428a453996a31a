// TCP rendezvous: rank 0 listens until every rank of the group has connected. Nobody hangs: on
// timeout or error, all ranks report which rank is missing, duplicate or of another version.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/descriptor.h"
#include "devices/tcp/rendezvous.h"

namespace bench {

// The handshake line a rank sends to rank 0, and the answer. It comes from an unauthenticated peer,
// so it is short and parsed strictly (tests/fuzz/greeting_fuzz.cpp).
//   #benchgroup 1 0.1.0+1a2b3c4 4 2 TOKEN node03
//   #benchgroup ok          or          #benchgroup no ranks 1, 3 did not connect within 25 s

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
  bool ours = false;    // false: the answer is not from rank 0
  std::string refusal;  // "" lets us in
};

Answer parse_answer(std::string_view line);

/// Takes as long for a wrong token as for the right one.
bool same_token(std::string_view ours, std::string_view theirs);

struct Peer {
  Descriptor socket;  // invalid for rank 0 itself
  std::string host;   // its own host name
};

/// On rank 0: the others, by rank. Foreign connections (a port scanner, a rank of another job) are
/// rejected. Throws Error(environment).
std::vector<Peer> accept_ranks(const Rendezvous& rendezvous);

/// On the others: rank 0. Throws Error(environment) if rank 0 refuses or cannot be reached.
Peer connect_to_root(const Rendezvous& rendezvous);

}  // namespace bench
