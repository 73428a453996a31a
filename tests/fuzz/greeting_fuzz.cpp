// What a foreign could say to rank 0, and something that is no rank 0 to a rank: read without
// harm; what is understood is said again in the same words.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/secret.h"
#include "core/text.h"
#include "devices/tcp/handshake.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;

bool plain(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

void try_line(std::string_view line) {
  const auto read = bench::parse_handshake(line);
  if (const auto* handshake = std::get_if<bench::RankHandshake>(&read)) {
    demand(handshake->size >= 0 && handshake->rank >= 0, "a negative rank");
    demand(plain(handshake->host + handshake->version + handshake->group), "an odd character");
    const std::string again = bench::handshake_line(*handshake);
    demand(again.size() <= bench::kMaxHandshake + 300, "a handshake that grows");
    const auto back = bench::parse_handshake(std::string_view(again).substr(0, again.size() - 1));
    demand(std::get_if<bench::RankHandshake>(&back) != nullptr && std::get<0>(back) == *handshake,
           "a handshake changes");
  } else {
    const std::string& reason = std::get<1>(read).reason;
    demand(bench::printable(reason) == reason, "an odd character in a reason");
  }
  if (const auto challenge = bench::parse_challenge(line))
    demand(bench::challenge_line(*challenge) == std::string(line) + "\n", "a challenge changes");
  if (const auto proof = bench::parse_proof(line))
    demand(bench::proof_line(*proof) == std::string(line) + "\n", "a proof changes");
  const bench::Answer answer = bench::parse_answer(line);
  demand(answer.ours || answer.refusal.empty(), "a stranger's refusal");
  demand(bench::same_secret("secret", line) == (line == "secret"), "a wrong secret passes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_line({reinterpret_cast<const char*>(data), size});
  return 0;
}
