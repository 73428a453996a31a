#include "probes/backends/tcp/greeting.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/text.h"
#include "probes/backends/tcp/rendezvous.h"

namespace bench {
namespace {

constexpr std::string_view kMarker = "#benchgroup ";
constexpr std::string_view kProtocol = "1";
constexpr std::size_t kWords = 6;
constexpr std::size_t kLongestWord = 255;

bool in_word(char c) { return c > ' ' && c <= '~'; }

std::string word(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return !in_word(c); }, '?');
  if (text.empty()) return "-";
  return text.substr(0, kLongestWord);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const auto blank = line.find(' ');
    words.push_back(line.substr(0, blank));
    if (blank == std::string_view::npos || words.size() > kWords) return words;
    line.remove_prefix(blank + 1);
  }
}

/// -1 where it is no number from 0 to `most`.
int number(std::string_view text, int most) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 && value <= most ? value : -1;
}

}  // namespace

std::string handshake_line(const RankHandshake& handshake) {
  std::string line(kMarker);
  line += kProtocol;
  for (const std::string& text : {handshake.version, std::to_string(handshake.size),
                                  std::to_string(handshake.rank), handshake.token, handshake.host})
    line += " " + word(text);
  return line + "\n";
}

std::variant<RankHandshake, BadHandshake> parse_handshake(std::string_view line) {
  if (line.size() >= kMaxHandshake || !line.starts_with(kMarker))
    return BadHandshake{"not a benchctl rank"};
  const auto words = words_of(line.substr(kMarker.size()));
  if (words[0] != kProtocol)
    return BadHandshake{"handshake version " + printable(words[0].substr(0, 20)) +
                          ", but rank 0 has version " + std::string(kProtocol),
                      false};
  const bool complete =
      words.size() == kWords && std::ranges::all_of(words, [](auto one) {
        return !one.empty() && one.size() <= kLongestWord && std::ranges::all_of(one, in_word);
      });
  if (!complete) return BadHandshake{"malformed handshake"};
  RankHandshake handshake{std::string(words[1]), number(words[2], kMostRanks),
                    number(words[3], kMostRanks), words[4] == "-" ? "" : std::string(words[4]),
                    std::string(words[5])};
  if (handshake.size < 0 || handshake.rank < 0) return BadHandshake{"malformed handshake"};
  return handshake;
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

bool same_token(std::string_view ours, std::string_view theirs) {
  unsigned different = ours.size() == theirs.size() ? 0 : 1;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    different |= static_cast<unsigned char>(theirs[i] ^ (i < ours.size() ? ours[i] : '\0'));
  return different == 0;
}

}  // namespace bench
