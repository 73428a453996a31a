#include "devices/tcp/handshake.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/secret.h"
#include "core/text.h"
#include "devices/tcp/rendezvous.h"

namespace bench {
namespace {

constexpr std::string_view kMarker = "#benchgroup ";
constexpr std::string_view kProtocol = "2";
constexpr std::string_view kProve = "prove ";
constexpr std::string_view kProof = "proof ";
constexpr std::size_t kWords = 7;
constexpr std::size_t kLongestWord = 255;
constexpr std::size_t kHexDigits = 2 * Hmac::kBytes;  // of a nonce and of a proof

bool in_word(char c) { return c > ' ' && c <= '~'; }

std::string word(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return !in_word(c); }, '?');
  if (text.empty()) return "-";
  return text.substr(0, kLongestWord);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const auto blank = line.find(' ');
    words.push_back(line.substr(0, blank));
    if (blank == std::string_view::npos || words.size() > kWords) return words;
    line.remove_prefix(blank + 1);
  }
}

/// -1 for anything but a number from 0 to `most`.
int number(std::string_view text, int most) {
  const auto value = parse_as<int>(text);
  return value && *value >= 0 && *value <= most ? *value : -1;
}

bool is_hex(std::string_view text) {
  return text.size() == kHexDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The rest of a line that begins with the marker and this word.
std::optional<std::string_view> after_marker(std::string_view line, std::string_view kind) {
  if (!line.starts_with(kMarker) || !line.substr(kMarker.size()).starts_with(kind)) return {};
  return line.substr(kMarker.size() + kind.size());
}

}  // namespace

std::string handshake_line(const RankHandshake& handshake) {
  std::string line(kMarker);
  line += kProtocol;
  for (const std::string& text :
       {handshake.version, std::to_string(handshake.size), std::to_string(handshake.rank),
        handshake.group, handshake.host, handshake.nonce})
    line += " " + word(text);
  return line + "\n";
}

std::variant<RankHandshake, BadHandshake> parse_handshake(std::string_view line) {
  if (line.size() >= kMaxHandshake || !line.starts_with(kMarker))
    return BadHandshake{"not a benchctl rank"};
  const auto words = fields_of(line.substr(kMarker.size()));
  if (words[0] != kProtocol)
    return BadHandshake{"handshake version " + printable(words[0].substr(0, 20)) +
                            ", but rank 0 has version " + std::string(kProtocol),
                        false};
  const bool complete =
      words.size() == kWords && is_hex(words[6]) && std::ranges::all_of(words, [](auto one) {
        return !one.empty() && one.size() <= kLongestWord && std::ranges::all_of(one, in_word);
      });
  if (!complete) return BadHandshake{"malformed handshake"};
  RankHandshake handshake{
      std::string(words[1]),        number(words[2], kMostRanks),
      number(words[3], kMostRanks), words[4] == "-" ? "" : std::string(words[4]),
      std::string(words[5]),        std::string(words[6])};
  if (handshake.size < 0 || handshake.rank < 0) return BadHandshake{"malformed handshake"};
  return handshake;
}

Transcript::Transcript(std::string secret, std::string_view handshake, std::string_view nonce)
    : secret_(std::move(secret)), seen_(handshake) {
  seen_ += " ";
  seen_ += nonce;
}

std::string Transcript::derived(std::string_view purpose) const {
  return hex_digits(Hmac(secret_).add(purpose).add(" ").add(seen_).digest());
}

std::string challenge_line(const Challenge& challenge) {
  return std::string(kMarker) + std::string(kProve) + challenge.nonce + " " + challenge.proof +
         "\n";
}

std::optional<Challenge> parse_challenge(std::string_view line) {
  const auto rest = after_marker(line, kProve);
  if (!rest || rest->size() != 2 * kHexDigits + 1 || (*rest)[kHexDigits] != ' ') return {};
  const std::string_view nonce = rest->substr(0, kHexDigits);
  const std::string_view proof = rest->substr(kHexDigits + 1);
  if (!is_hex(nonce) || !is_hex(proof)) return {};
  return Challenge{std::string(nonce), std::string(proof)};
}

std::string proof_line(const std::string& proof) {
  return std::string(kMarker) + std::string(kProof) + proof + "\n";
}

std::optional<std::string> parse_proof(std::string_view line) {
  const auto rest = after_marker(line, kProof);
  if (!rest || !is_hex(*rest)) return {};
  return std::string(*rest);
}

std::string answer_line(const std::string& refusal) {
  if (refusal.empty()) return std::string(kMarker) + "ok\n";
  const std::string line = std::string(kMarker) + "no " + printable(refusal);
  return line.substr(0, kMaxHandshake - 1) + "\n";
}

Answer parse_answer(std::string_view line) {
  if (!line.starts_with(kMarker)) return {};
  line.remove_prefix(kMarker.size());
  if (line == "ok") return {true, ""};
  if (!line.starts_with("no ") || line.size() == 3) return {};
  return {true, printable(line.substr(3))};
}

}  // namespace bench
