#include <numeric>

#include "core/elements.h"
#include "core/error.h"
#include "probes/preprocessing/file_shuffle.h"
#include "probes/preprocessing/shuffle_work.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::preprocessing {
namespace {

TokenDocuments some_documents(std::size_t count) {
  TokenDocuments documents;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint64_t t = 0; t < random_bits(1, i) % 50; ++t)
      documents.tokens.push_back(static_cast<TokenId>(random_bits(2 + i, t) % 1000));
    documents.begins.push_back(documents.tokens.size());
  }
  return documents;
}

TEST_CASE("a shuffle in memory is a permutation that depends on the seed alone") {
  const TokenDocuments documents = some_documents(500);
  ShuffleWork one(documents, 7, 1), four(documents, 7, 4), other(documents, 8, 2);
  for (ShuffleWork* work : {&one, &four, &other}) {
    work->run(2);
    CHECK(faults_of_shuffle(documents, work->shuffled(), work->order()) == 0);
  }
  CHECK(one.order() == four.order());
  CHECK(one.shuffled().tokens == four.shuffled().tokens);
  CHECK(one.order() != other.order());
}

TEST_CASE("a shuffle on files is a permutation that depends on seed and buckets alone") {
  const TokenDocuments documents = some_documents(3000);
  const TemporaryDirectory first, second;
  FileShuffle one(documents, first.path(), 5, 7, 1, 1 << 20),
      three(documents, second.path(), 5, 7, 3, 0);
  for (FileShuffle* work : {&one, &three}) {
    work->run(2);
    CHECK(faults_of_shuffle(documents, work->shuffled(), work->order()) == 0);
  }
  CHECK(one.order() == three.order());
  CHECK(one.shuffled().tokens == three.shuffled().tokens);
}

TEST_CASE("shuffles of no documents and of one end well") {
  for (const std::size_t count : {0u, 1u}) {
    const TokenDocuments documents = some_documents(count);
    ShuffleWork work(documents, 7, 2);
    work.run(1);
    CHECK(faults_of_shuffle(documents, work.shuffled(), work.order()) == 0);
    const TemporaryDirectory folder;
    FileShuffle files(documents, folder.path(), 2, 7, 2, 1 << 20);
    files.run(1);
    CHECK(faults_of_shuffle(documents, files.shuffled(), files.order()) == 0);
  }
}

TEST_CASE("lost, repeated, changed and unmoved documents are found") {
  const TokenDocuments documents = some_documents(100);
  ShuffleWork work(documents, 7, 2);
  const auto faults = [&](const auto& damage) {
    work.run(1);
    TokenDocuments shuffled = work.shuffled();
    std::vector<std::uint64_t> order = work.order();
    damage(shuffled, order);
    return faults_of_shuffle(documents, shuffled, order);
  };
  using Order = std::vector<std::uint64_t>;
  CHECK(faults([](TokenDocuments&, Order&) {}) == 0);
  CHECK(faults([](TokenDocuments& shuffled, Order&) { shuffled.tokens[11] ^= 1; }) == 2);
  CHECK(faults([](TokenDocuments& shuffled, Order&) { ++shuffled.begins[4]; }) > 0);
  CHECK(faults([](TokenDocuments&, Order& order) { order[3] = order[4]; }) > 0);
  CHECK(faults([](TokenDocuments&, Order& order) { order[3] = 100; }) > 0);
  CHECK(faults([](TokenDocuments& shuffled, Order&) { shuffled.tokens.pop_back(); }) > 0);
  // Two tokens in the wrong order: the sum over documents sees it too.
  CHECK(faults([](TokenDocuments& shuffled, Order&) {
          for (std::size_t i = 0; i + 1 < shuffled.begins[1]; ++i)
            std::swap(shuffled.tokens[i], shuffled.tokens[i + 1]);
        }) <= 2);
  CHECK(faults([&](TokenDocuments& shuffled, Order& order) {
          shuffled = documents;
          std::iota(order.begin(), order.end(), 0);
        }) == 1);
}

TEST_CASE("of few documents the drawn order may be the old one") {
  const TokenDocuments documents = some_documents(3);
  CHECK(faults_of_shuffle(documents, documents, {0, 1, 2}) == 0);
}

TEST_CASE("what a shuffle left is spoiled, so that one that does nothing is found") {
  const TokenDocuments documents = some_documents(500);
  ShuffleWork work(documents, 7, 2);
  work.run(1);
  work.spoil();
  CHECK(faults_of_shuffle(documents, work.shuffled(), work.order()) > 0);
  const TemporaryDirectory folder;
  FileShuffle files(documents, folder.path(), 5, 7, 1, 1 << 20);
  files.run(1);
  files.prepare();
  CHECK(faults_of_shuffle(documents, files.shuffled(), files.order()) > 0);
  files.run(1);
  CHECK(faults_of_shuffle(documents, files.shuffled(), files.order()) == 0);
}

TEST_CASE("buckets are so many that sixteen fit into memory twice") {
  CHECK(buckets_for(1000, 10, 1u << 20) == 2);
  CHECK(buckets_for(1u << 30, 0, 1u << 26) == 512);
  CHECK(buckets_for((1u << 30) + 1, 0, 1u << 26) == 513);
  // Each document needs memory of its own.
  CHECK(buckets_for(1u << 30, 1u << 25, 1u << 26) == 1024);
}

TEST_CASE("a shuffle in a folder that is not there is an error") {
  CHECK_THROWS_AS(FileShuffle(some_documents(3), "/nonexistent", 2, 7, 1, 1 << 20), Error);
}

}  // namespace
}  // namespace bench::preprocessing
