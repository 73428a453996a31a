// Users of a KV cache: sizes, conversations and the mix of reads and writes.
#include "probes/storage/kv_workload.h"

#include <algorithm>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::storage {
namespace {

constexpr int kTurns = 20'000;

struct Mix {
  double read_tokens = 0.0, written_tokens = 0.0;
};

/// What `users` users want in kTurns turns each, if nothing is ever removed.
Mix mix_of(KvMix mix, int users) {
  Mix all;
  for (int number = 0; number < users; ++number) {
    KvUser user(7, number);
    double earlier = 0.0;
    for (int i = 0; i < kTurns; ++i) {
      const KvTurn turn = user.next();
      if (turn.turn == 0) earlier = 0.0;
      const double written = turn.written_tokens(mix);
      all.read_tokens += earlier + turn.own_reads(mix) * written;
      all.written_tokens += written;
      earlier += written;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("bytes per token follow from layers, KV heads, head dimension and 16-bit numbers") {
  CHECK(kv_model("llama3.1-8b").bytes_per_token == 131072);
  CHECK(kv_model("llama3.1-70b").bytes_per_token == 327680);
  CHECK(kv_model("llama2-7b").bytes_per_token == 524288);
  CHECK(kv_model("gpt-oss-20b").bytes_per_token == 49152);
  CHECK(kv_model("deepseek-v3").bytes_per_token == 70272);
  CHECK_THROWS_AS(kv_model("llama9"), Error);
}

TEST_CASE("users of the three kinds stay within their ranges of tokens") {
  const int longest[] = {4096, 25000, 16384}, shortest[] = {512 / 4, 4096 / 4, 4096 / 4};
  for (int number = 0; number < 300; ++number) {
    KvUser user(1, number);
    int least = 1 << 30, most = 0;
    for (int i = 0; i < 500; ++i) {
      const KvTurn turn = user.next();
      least = std::min(least, turn.context_tokens);
      most = std::max(most, turn.context_tokens);
    }
    CHECK(least >= shortest[number % 3]);
    CHECK(most <= longest[number % 3]);
    CHECK(least >= most / 4 - 1);
    CHECK(least < most / 3);
  }
}

TEST_CASE("a conversation ends after one turn in five, and at the latest after fifty") {
  KvUser user(3, 1);
  int conversations = 0, longest = 0;
  KvTurn last;
  for (int i = 0; i < 5 * kTurns; ++i) {
    const bool continued = user.converses();
    const KvTurn turn = user.next();
    if (i > 0) {
      CHECK(turn.turn == (continued ? last.turn + 1 : 0));
      CHECK(turn.conversation == last.conversation + (continued ? 0 : 1));
    }
    conversations += turn.turn == 0 ? 1 : 0;
    longest = std::max(longest, turn.turn);
    last = turn;
  }
  CHECK(static_cast<double>(5 * kTurns) / conversations == Approx(5.0).epsilon(0.03));
  CHECK(longest < 50);
}

TEST_CASE("long contexts are not read again, others once more for 32 generated tokens") {
  CHECK(KvTurn{0, 0, 10'000, 500}.own_reads(KvMix::mlperf) == 0);
  CHECK(KvTurn{0, 0, 9'999, 500}.own_reads(KvMix::mlperf) == 1 + 16);
  CHECK(KvTurn{0, 0, 200, 12}.own_reads(KvMix::mlperf) == 1 + 1);
  CHECK(KvTurn{0, 0, 200, 12}.own_reads(KvMix::restore) == 0);
  CHECK(KvTurn{0, 0, 200, 12}.written_tokens(KvMix::mlperf) == 200);
  CHECK(KvTurn{0, 0, 200, 12}.written_tokens(KvMix::restore) == 212);
}

TEST_CASE("the mixes read as much as the distributions say") {
  // A geometric number of earlier turns with mean 4 (a little less: no more than fifty).
  const Mix restore = mix_of(KvMix::restore, 300);
  CHECK(restore.read_tokens / restore.written_tokens == Approx(4.0).epsilon(0.05));
  // The benchmark's own simulation, users weighted alike: 4.9 without earlier turns.
  const Mix mlperf = mix_of(KvMix::mlperf, 300);
  CHECK(mlperf.read_tokens / mlperf.written_tokens == Approx(4.9 + 4.0).epsilon(0.12));
}

TEST_CASE("the same seed gives the same requests, another one others") {
  KvUser one(5, 2), same(5, 2), other(6, 2);
  int equal = 0;
  for (int i = 0; i < 100; ++i) {
    const KvTurn turn = one.next(), again = same.next();
    CHECK(turn.context_tokens == again.context_tokens);
    CHECK(turn.turn == again.turn);
    equal += other.next().context_tokens == turn.context_tokens ? 1 : 0;
  }
  CHECK(equal < 10);
}

}  // namespace bench::storage
