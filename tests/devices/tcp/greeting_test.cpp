// The lines of a handshake, the proofs in it, and the frames that follow; anything else is
// rejected.
#include <cstring>
#include <map>

#include "core/error.h"
#include "core/secret.h"
#include "devices/tcp/frame.h"
#include "devices/tcp/handshake.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

const std::string kNonce(64, 'a');

std::string reason(const std::string& line) {
  const auto read = parse_handshake(line);
  const auto* none = std::get_if<BadHandshake>(&read);
  return none == nullptr ? "" : none->reason;
}

std::string without_newline(const std::string& line) {
  REQUIRE(line.ends_with('\n'));
  return line.substr(0, line.size() - 1);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// What a reader makes of bytes, given in pieces of this size; its error if it throws.
std::string read_back(FrameReader& reader, std::span<const std::byte> bytes, std::size_t piece) {
  std::string text;
  try {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min({piece, bytes.size(), reader.missing()}));
      bytes = bytes.subspan(part.size());
      if (const auto frame = reader.take(part))
        text.append(reinterpret_cast<const char*>(frame->data.data()), frame->data.size());
    }
  } catch (const Error& error) {
    return error.what();
  }
  return text;
}

}  // namespace

TEST_CASE("a handshake round-trips, also without a group's name") {
  for (const char* group : {"", "slurm-17.0"}) {
    const RankHandshake handshake{"0.1.0+1a2b3c4", 4, 2, group, "node03", kNonce};
    const auto read = parse_handshake(without_newline(handshake_line(handshake)));
    REQUIRE(std::holds_alternative<RankHandshake>(read));
    CHECK(std::get<RankHandshake>(read) == handshake);
  }
}

TEST_CASE("a name with blanks or of any length stays one word of a short line") {
  const std::string line =
      handshake_line({"1.0", 2, 1, std::string(5000, 't'), "a host\n", kNonce});
  CHECK(line.size() < kMaxHandshake);
  CHECK_THAT(line, Contains(" a?host? " + kNonce + "\n"));
}

TEST_CASE("foreign connections are distinguished from ranks of another version") {
  CHECK_THAT(reason("GET / HTTP/1.1"), Contains("not a benchctl rank"));
  CHECK_THAT(reason(""), Contains("not a benchctl rank"));
  CHECK_THAT(reason(std::string(kMaxHandshake, '#')), Contains("not a benchctl rank"));
  for (const char* line : {"#benchgroup 3 whatever comes then", "#benchgroup 1 1.0 4 2 t h"}) {
    const auto other = parse_handshake(line);
    CHECK_FALSE(std::get<BadHandshake>(other).foreign);
    CHECK_THAT(std::get<BadHandshake>(other).reason,
               Contains("handshake version") && Contains("rank 0 has version 2"));
  }
}

TEST_CASE("a malformed handshake is rejected") {
  for (const char* line :
       {"#benchgroup 2", "#benchgroup 2 1.0 4 2 t h", "#benchgroup 2 1.0 four 2 t h N",
        "#benchgroup 2 1.0 4 -1 t h N", "#benchgroup 2 1.0 4 2  h N",
        "#benchgroup 2 1.0 4 2 t h N more", "#benchgroup 2 1.0 4 99999999999999999999 t h N",
        "#benchgroup 2 1.0 4 2 t h\x01 N", "#benchgroup 2 1.0 4 2.5 t h N",
        "#benchgroup 2 1.0 4 2 t h aa", "#benchgroup 2 1.0 4 2 t h NA"}) {
    std::string whole = line;
    if (const auto at = whole.find('N'); at != std::string::npos) whole.replace(at, 1, kNonce);
    CHECK_THAT(reason(whole), Contains("malformed"));
  }
}

TEST_CASE("an answer accepts or refuses with a reason; anything else is not from rank 0") {
  CHECK(parse_answer(without_newline(answer_line(""))).ours);
  CHECK(parse_answer(without_newline(answer_line(""))).refusal.empty());
  const Answer no = parse_answer(without_newline(answer_line("rank 1\nis missing")));
  CHECK(no.ours);
  CHECK_THAT(no.refusal, Contains("is missing") && !Contains("\n"));
  CHECK(answer_line(std::string(5000, 'x')).size() <= kMaxHandshake);
  for (const char* line :
       {"", "SSH-2.0-OpenSSH_9.2", "#benchgroup", "#benchgroup no", "#benchgroup no "})
    CHECK_FALSE(parse_answer(line).ours);
}

TEST_CASE("a challenge and a proof round-trip, and nothing like them is taken for one") {
  const std::string proof(64, 'b');
  const auto challenge = parse_challenge(without_newline(challenge_line({kNonce, proof})));
  REQUIRE(challenge);
  CHECK((challenge->nonce == kNonce && challenge->proof == proof));
  CHECK(parse_proof(without_newline(proof_line(proof))) == proof);
  CHECK_FALSE(parse_proof("#benchgroup proof " + proof + "b"));
  CHECK_FALSE(parse_proof("#benchgroup proof " + std::string(64, 'B')));
  CHECK_FALSE(parse_proof("#benchgroup prove " + proof));
  CHECK_FALSE(parse_challenge("#benchgroup prove " + kNonce + proof));
  CHECK_FALSE(parse_challenge("#benchgroup prove " + kNonce + "  " + proof));
  CHECK_FALSE(parse_challenge(""));
}

TEST_CASE("a proof is of its secret, its handshake, its nonce and its side") {
  const std::string hello = without_newline(handshake_line({"1.0", 4, 2, "g", "h", kNonce}));
  const std::string other = without_newline(handshake_line({"1.0", 4, 3, "g", "h", kNonce}));
  const std::string secret(64, '1'), nonce(64, 'c');
  const Transcript ours(secret, hello, nonce);
  CHECK(Transcript(secret, hello, nonce).proof_of_rank() == ours.proof_of_rank());
  std::map<std::string, int> seen;
  for (const Transcript& one :
       {ours, Transcript(std::string(64, '2'), hello, nonce), Transcript(secret, other, nonce),
        Transcript(secret, hello, std::string(64, 'd'))})
    for (const std::string& proof :
         {one.proof_of_root(), one.proof_of_rank(), one.key_of_root(), one.key_of_rank()})
      CHECK(++seen[proof] == 1);
}

TEST_CASE("frames are read back whole, in pieces of any size") {
  FrameWriter writer("key");
  std::vector<std::byte> sent = writer.next(GroupOp::gather, bytes_of("one"));
  for (const auto& more :
       {writer.next(GroupOp::barrier, {}), writer.next(GroupOp::gather, bytes_of("two"))})
    sent.insert(sent.end(), more.begin(), more.end());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, sent.size()}) {
    FrameReader reader("key");
    CHECK(read_back(reader, sent, piece) == "onetwo");
  }
}

TEST_CASE("a frame that is changed, repeated, left out or of another key is not accepted") {
  FrameWriter writer("key");
  const auto first = writer.next(GroupOp::gather, bytes_of("one"));
  const auto second = writer.next(GroupOp::gather, bytes_of("two"));
  for (std::size_t at = 0; at < first.size(); ++at) {
    auto changed = first;
    changed[at] ^= std::byte{1};
    FrameReader reader("key");
    CHECK(read_back(reader, changed, changed.size()) != "one");
  }
  FrameReader other("another key");
  CHECK_THAT(read_back(other, first, first.size()), Contains("signature"));
  FrameReader skipped("key");
  CHECK_THAT(read_back(skipped, second, second.size()), Contains("signature"));
  FrameReader repeated("key");
  CHECK(read_back(repeated, first, first.size()) == "one");
  CHECK_THAT(read_back(repeated, first, first.size()), Contains("signature"));
}

TEST_CASE("a header that no rank sends is refused before its data are awaited") {
  for (const std::uint64_t bytes : {std::uint64_t{1} << 60, (std::uint64_t{256} << 20) + 1}) {
    std::vector<std::byte> header(16);
    const std::uint32_t words[2] = {0x70726742, 1};
    std::memcpy(header.data(), words, sizeof words);
    std::memcpy(header.data() + 8, &bytes, sizeof bytes);
    FrameReader reader("key");
    CHECK_THAT(read_back(reader, header, header.size()), Contains("invalid frame header"));
  }
}
