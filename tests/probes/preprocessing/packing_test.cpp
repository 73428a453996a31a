#include "probes/preprocessing/packing.h"

#include <algorithm>
#include <utility>

#include "core/elements.h"
#include "core/error.h"
#include "probes/preprocessing/token_output.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "training/sources/token_file.h"

namespace bench::preprocessing {
namespace {

using Catch::Matchers::Contains;

TokenDocuments documents_of(const std::vector<std::size_t>& lengths) {
  TokenDocuments documents;
  for (const std::size_t length : lengths) {
    for (std::size_t t = 0; t < length; ++t)
      documents.tokens.push_back(static_cast<TokenId>(1 + documents.tokens.size()));
    documents.begins.push_back(documents.tokens.size());
  }
  return documents;
}

std::vector<TokenId> packed(PackWork& work) {
  work.run(1);
  CHECK(work.faults() == 0);
  return {work.packed().begin(), work.packed().end()};
}

TEST_CASE("concatenation cuts documents where a sequence ends, and pads the last sequence") {
  const TokenDocuments documents = documents_of({3, 3, 1});
  PackWork work(documents, Packing::concatenate, 4, 0, 2);
  CHECK(packed(work) == std::vector<TokenId>{1, 2, 3, 4, 5, 6, 7, 0});
  CHECK(work.sequences() == 2);
  CHECK(work.cut_share() == Approx(1.0 / 3.0));
  CHECK(work.padding_share() == Approx(1.0 / 8.0));
}

TEST_CASE("best fit keeps documents whole, and puts each where the least room is enough") {
  // Longest first: 4, 3 and 3 open a sequence each; 2 opens another; 1 goes behind a 3, not the 2.
  const TokenDocuments documents = documents_of({1, 3, 4, 2, 3});
  PackWork work(documents, Packing::best_fit, 4, 0, 2);
  const std::vector<TokenId> sequences = packed(work);
  CHECK(work.sequences() == 4);
  CHECK(work.cut_share() == 0.0);
  CHECK(work.padding_share() == Approx(3.0 / 16.0));
  CHECK(sequences == std::vector<TokenId>{5, 6, 7, 8, 2, 3, 4, 0, 11, 12, 13, 1, 9, 10, 0, 0});
}

TEST_CASE("best fit cuts only documents longer than a sequence") {
  const TokenDocuments documents = documents_of({9, 3, 4});
  PackWork work(documents, Packing::best_fit, 4, 0, 1);
  CHECK(packed(work) ==
        std::vector<TokenId>{1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 16, 10, 11, 12, 9});
  CHECK(work.cut_share() == Approx(1.0 / 3.0));
}

TEST_CASE("packings of many documents hold each token once, for any number of threads") {
  std::vector<std::size_t> lengths;
  for (std::uint64_t i = 0; i < 700; ++i) lengths.push_back(random_bits(5, i) % 300);
  const TokenDocuments documents = documents_of(lengths);
  for (const auto& [packing, name] : kPackings.entries)
    for (const std::uint64_t length : {2u, 63u, 64u, 65u, 128u}) {
      INFO(name << " " << length);
      PackWork one(documents, packing, length, 0, 1), three(documents, packing, length, 0, 3);
      CHECK(packed(one) == packed(three));
      CHECK(packed(one) == packed(one));
    }
}

TEST_CASE("nothing packs to nothing") {
  const TokenDocuments none;
  for (const auto& [packing, name] : kPackings.entries) {
    PackWork work(none, packing, 8, 0, 2);
    CHECK(packed(work).empty());
    CHECK(work.padding_share() == 0.0);
    CHECK(work.cut_share() == 0.0);
  }
}

TEST_CASE("tokens that are changed, lost, repeated or not padded are found") {
  const TokenDocuments documents = documents_of({3, 5, 4, 2});
  PackWork work(documents, Packing::best_fit, 8, 0, 1);
  work.run(1);
  REQUIRE(work.faults() == 0);
  work.packed()[2] ^= 1;
  CHECK(work.faults() == 1);
  work.run(1);
  work.packed().back() = 9;  // padding
  CHECK(work.faults() == 1);
  work.run(1);
  work.parts().pop_back();
  CHECK(work.faults() > 0);
  work.run(1);
  work.parts().push_back(work.parts().back());
  CHECK(work.faults() > 0);
  work.run(1);
  work.parts()[0].to = 1000;
  CHECK(work.faults() > 0);
  work.run(1);
  work.parts()[1].to += 4;  // crosses a sequence, or meets another part
  CHECK(work.faults() > 0);
  work.run(1);
  work.spoil();
  CHECK(work.faults() > 0);
}

TEST_CASE("parts that hold all tokens, but not as the packing says, are found") {
  const TokenDocuments documents = documents_of({4, 4, 4});
  PackWork fit(documents, Packing::best_fit, 8, 0, 1);
  fit.run(1);
  REQUIRE(fit.faults() == 0);
  CHECK(fit.cut_share() == 0.0);
  // The first document in two parts, where it was.
  const PackedPart first = fit.parts()[0];
  fit.parts()[0].tokens = 2;
  fit.parts().push_back({first.from + 2, first.to + 2, 2});
  CHECK(fit.faults() > 0);
  // One part of two documents.
  fit.run(1);
  REQUIRE(fit.parts()[1].from == fit.parts()[0].from + 4);
  fit.parts()[0].tokens = 8;
  fit.parts().erase(fit.parts().begin() + 1);
  CHECK(fit.faults() > 0);

  PackWork all(documents, Packing::concatenate, 4, 0, 1);
  all.run(1);
  REQUIRE(all.faults() == 0);
  std::swap(all.parts()[0].to, all.parts()[1].to);
  for (std::size_t i = 0; i < 4; ++i) std::swap(all.packed()[i], all.packed()[4 + i]);
  CHECK(all.faults() > 0);
}

TEST_CASE("the share of cut documents follows from the parts") {
  const TokenDocuments documents = documents_of({4, 4});
  PackWork work(documents, Packing::best_fit, 8, 0, 1);
  work.run(1);
  CHECK(work.cut_share() == 0.0);
  const PackedPart first = work.parts()[0];
  work.parts()[0].tokens = 2;
  work.parts().push_back({first.from + 2, 8, 2});  // in another sequence
  CHECK(work.cut_share() == Approx(0.5));
}

TEST_CASE("token files are read again by trainings, in two or four bytes") {
  std::vector<TokenId> tokens;
  for (TokenId t = 0; t < 80; ++t) tokens.push_back(t * 11);
  for (const TokenId vocabulary : {1000u, 100000u}) {
    const TemporaryDirectory folder;
    write_token_files(folder.path(), tokens, 8, vocabulary, 3);
    const training::TokenFiles files({.train = {folder.path() / "train.bin"},
                                      .evaluation = {folder.path() / "val.bin"},
                                      .targets = 8,
                                      .vocabulary = 1000});
    // Of 10 sequences 8 and 2; the last of a file has no token behind it.
    CHECK(files.size(training::Split::train) == 7);
    CHECK(files.size(training::Split::evaluation) == 1);
    std::vector<std::int32_t> read(9);
    std::vector<std::int32_t> begins;
    for (std::size_t i = 0; i < 7; ++i) {
      files.read(training::Split::train, i, {read});
      begins.push_back(read[0]);
      for (std::int32_t t = 0; t < 8; ++t)
        CHECK(read[static_cast<std::size_t>(t)] == read[0] + 11 * t);
    }
    // Sequences as a whole, each once, and not in the order in which they were packed.
    CHECK_FALSE(std::ranges::is_sorted(begins));
    std::ranges::sort(begins);
    CHECK(std::ranges::adjacent_find(begins) == begins.end());
    CHECK(std::filesystem::file_size(folder.path() / "train.bin") ==
          1024 + 64 * (vocabulary == 1000 ? 2 : 4));
    CHECK_THROWS_WITH(write_token_files(folder.path(), tokens, 8, vocabulary, 3),
                      Contains("train.bin: file already exists"));
  }
  const TemporaryDirectory folder;
  CHECK_THROWS_WITH(write_token_files(folder.path(), std::span(tokens).first(24), 8, 1000, 3),
                    Contains("3 sequences of 8 tokens are too few"));
}

}  // namespace
}  // namespace bench::preprocessing
