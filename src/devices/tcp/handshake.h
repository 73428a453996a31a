// The lines by which rank 0 and another rank prove to each other that they know the secret of their
// group, before either accepts anything else. All but the proofs may come from a stranger: lines
// are short and parsed strictly (tests/fuzz/greeting_fuzz.cpp).
//   rank  #benchgroup 2 0.1.0+1a2b3c4 4 2 slurm-17.0 node03 NONCE
//   root  #benchgroup prove NONCE PROOF
//   rank  #benchgroup proof PROOF
//   root  #benchgroup ok          or          #benchgroup no rank 3 did not connect within 25 s
// A nonce is 64 random hex digits, a proof the HMAC of the first line and of the root's nonce, with
// the secret as its key: what was overheard in one handshake proves nothing in the next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace bench {

inline constexpr std::size_t kMaxHandshake = 1024;  // bytes of a line, its newline included

struct RankHandshake {
  std::string version;  // of the rank's program
  int size = 0;
  int rank = 0;
  std::string group;  // "" is "-" in the line
  std::string host;   // where the rank runs, as it calls itself
  std::string nonce;
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

/// What both sides saw of a handshake, and what follows from it for those who know the secret.
class Transcript {
 public:
  /// `handshake`: the rank's line without its newline; `nonce`: the root's.
  Transcript(std::string secret, std::string_view handshake, std::string_view nonce);
  std::string proof_of_root() const { return derived("root"); }
  std::string proof_of_rank() const { return derived("rank"); }
  // Keys of the frames that follow (frame.h).
  std::string key_of_root() const { return derived("frames of root"); }
  std::string key_of_rank() const { return derived("frames of rank"); }

 private:
  std::string derived(std::string_view purpose) const;

  std::string secret_, seen_;
};

struct Challenge {
  std::string nonce, proof;  // of the root
};

// Lines with their newline, and parsed without it.
std::string challenge_line(const Challenge& challenge);
std::optional<Challenge> parse_challenge(std::string_view line);
std::string proof_line(const std::string& proof);
std::optional<std::string> parse_proof(std::string_view line);

/// With its newline; `refusal`: "" lets the rank in.
std::string answer_line(const std::string& refusal);

struct Answer {
  bool ours = false;    // false: the answer is not from rank 0
  std::string refusal;  // "" lets us in
};

Answer parse_answer(std::string_view line);

}  // namespace bench
