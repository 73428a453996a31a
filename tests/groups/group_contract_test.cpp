// What every Group must do, whatever joins its ranks. Runs as 2 or more processes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <thread>

#include "core/error.h"
#include "devices/collectives.h"
#include "tests/mpi/mpi_test.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

Group& group() { return mpi_test_group(); }
double own() { return static_cast<double>(group().rank()); }
double last() { return static_cast<double>(group().size() - 1); }

TEST_CASE("every rank's text is at rank 0 in the order of ranks, and nowhere else") {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{300'000}}) {
    const auto text_of = [&](int rank) {
      return std::string(length * static_cast<std::size_t>(rank), 'x') + std::to_string(rank);
    };
    const auto texts = group().gather(text_of(group().rank()));
    if (group().rank() != 0) {
      CHECK(texts.empty());
      continue;
    }
    REQUIRE(texts.size() == static_cast<std::size_t>(group().size()));
    for (int rank = 0; rank < group().size(); ++rank)
      CHECK(texts[static_cast<std::size_t>(rank)] == text_of(rank));
  }
}

TEST_CASE("texts that are empty are gathered too") {
  const auto texts = group().gather("");
  if (group().rank() == 0)
    CHECK(texts == std::vector<std::string>(static_cast<std::size_t>(group().size())));
}

TEST_CASE("a broadcast brings the root's bytes to all, from any root and of any size") {
  for (int root = 0; root < group().size(); ++root)
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1'000'000}}) {
      std::vector<std::byte> data(
          size, group().rank() == root ? static_cast<std::byte>(root + 1) : std::byte{0xff});
      group().broadcast(data, root);
      CHECK(data == std::vector<std::byte>(size, static_cast<std::byte>(root + 1)));
    }
}

TEST_CASE("the largest and the sum of all ranks' values are at every rank") {
  std::vector<double> values = {own(), -own(), 0.5};
  group().max(values);
  CHECK(values == std::vector<double>{last(), 0.0, 0.5});
  std::vector<double> many(10'000, own());
  group().sum(many);
  CHECK(many == std::vector<double>(10'000, last() * (last() + 1.0) / 2.0));
  std::vector<double> none;
  group().sum(none);
  CHECK(none.empty());
}

TEST_CASE("every rank's numbers are at every rank in the order of ranks, to the bit") {
  const auto numbers_of = [](double rank) {
    return std::vector<double>{1.0 / (rank + 3.0), -rank, 1e300, std::nan("")};
  };
  const std::vector<double> all = gather_numbers(group(), numbers_of(own()));
  REQUIRE(all.size() == static_cast<std::size_t>(4 * group().size()));
  for (std::size_t i = 0; i < all.size(); i += 4) {
    const std::vector<double> expected = numbers_of(static_cast<double>(i / 4));
    CHECK(std::vector<double>(&all[i], &all[i] + 3) ==
          std::vector<double>(expected.begin(), expected.begin() + 3));
    CHECK(std::isnan(all[i + 3]));
  }
}

TEST_CASE("no rank leaves a barrier before the last has arrived") {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  if (group().rank() + 1 == group().size())
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  double came = now();
  group().barrier();
  double left = -now();
  group().max(std::span(&came, 1));
  group().max(std::span(&left, 1));
  CHECK(came <= -left);
}

TEST_CASE("a reason of one rank is made known to all, the first one") {
  const bool mine = group().rank() > 0;
  CHECK(agreed(group(), mine ? "rank " + std::to_string(group().rank()) : "") == "rank 1");
  CHECK(agreed(group(), "").empty());
  CHECK(broadcast_text(group(), group().rank() == 0 ? "a job" : "") == "a job");
}

TEST_CASE("many operations in a row are kept apart") {
  for (int i = 0; i < 500; ++i) {
    double value = own() + i;
    group().max(std::span(&value, 1));
    REQUIRE(value == last() + i);
    const auto texts = group().gather(std::to_string(i));
    if (group().rank() == 0) REQUIRE(texts.back() == std::to_string(i));
    group().broadcast(std::as_writable_bytes(std::span(&value, 1)), i % group().size());
    REQUIRE(value == last() + i);
  }
}

TEST_CASE("ranks are divided into groups of their own, or the reason why not is given") {
  const int parity = group().rank() % 2;
  std::unique_ptr<Group> part;
  try {
    part = group().subgroup(parity);
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("cannot be divided") != std::string::npos);
    return;
  }
  CHECK(part->rank() == group().rank() / 2);
  CHECK(part->size() == (group().size() + 1 - parity) / 2);
  double sum = own();
  part->sum(std::span(&sum, 1));
  double expected = 0.0;
  for (int rank = parity; rank < group().size(); rank += 2) expected += rank;
  CHECK(sum == expected);
}

TEST_CASE("messages between two ranks keep their order and wait for nobody") {
  Collectives* messages = group().collectives();
  if (messages == nullptr || !messages->sends_messages()) return;
  const int next = (group().rank() + 1) % group().size();
  const int previous = (group().rank() + group().size() - 1) % group().size();
  std::vector<double> data(50'000);
  for (int i = 0; i < 8; ++i) {  // every rank sends before any receives
    std::ranges::fill(data, own() + i);
    messages->send(std::as_bytes(std::span(data)), next);
    std::ranges::fill(data, -1.0);
  }
  for (int i = 0; i < 8; ++i) {
    messages->receive(std::as_writable_bytes(std::span(data)), previous);
    CHECK(data == std::vector<double>(data.size(), previous + i));
  }
  messages->send(std::as_bytes(std::span(data).first(3)), next);
  CHECK_THROWS_AS(messages->receive(std::as_writable_bytes(std::span(data).first(4)), previous),
                  Error);
}

}  // namespace
}  // namespace bench
