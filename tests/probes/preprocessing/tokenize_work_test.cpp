#include "probes/preprocessing/tokenize_work.h"

#include <algorithm>

#include "probes/preprocessing/generated_text.h"
#include "tests/support/catch.h"
#include "tests/tokenizer/small_tokenizer.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer_file.h"

namespace bench::preprocessing {
namespace {

struct Work {
  Corpus corpus = generated_corpus(60000, 1);
  tokenizer::Tokenizer tokenizer{
      tokenizer::parse_tokenizer_json(tokenizer::small_file(), "small.json")};
  ReferenceBpe reference{tokenizer.spec()};
};

TEST_CASE("tokens are the same for any number of threads and calls, and pass all checks") {
  if (!tokenizer::why_no_patterns().empty()) return;
  const Work with;
  TokenizeWork one(with.tokenizer, with.corpus, 1), three(with.tokenizer, with.corpus, 3);
  one.run(1);
  three.run(2);
  CHECK(one.checksum() == three.checksum());
  CHECK(one.sha256_of_ids() == three.sha256_of_ids());
  CHECK(one.tokens() == three.tokens());
  CHECK(one.undecodable() == 0);
  const TokenizeWork::Comparison compared = one.compare(with.reference, 5, 1);
  CHECK(compared.differing == 0);
  CHECK(compared.pieces > 500);
  CHECK(one.counts().pieces > 1000);
  three.split(2);
  CHECK(three.unsplit() == 0);
}

TEST_CASE("a wrong token is found by each check that can see it") {
  if (!tokenizer::why_no_patterns().empty()) return;
  const Work with;
  TokenizeWork work(with.tokenizer, with.corpus, 1);
  work.run(1);
  const std::uint64_t right = work.checksum();
  TokenId& token = work.ids(2)[5];
  token = token == 'x' ? 'y' : 'x';
  CHECK(work.checksum() != right);
  CHECK(work.undecodable() == 1);

  // The same text in other tokens: two bytes that were merged, apart.
  Corpus pair;
  pair.add(with.tokenizer.spec().tokens[256]);
  TokenizeWork other(with.tokenizer, pair, 1);
  tokenizer::TokenizerSpec without = with.tokenizer.spec();
  without.merges.clear();
  const ReferenceBpe unmerged(without);
  other.run(1);
  CHECK(other.undecodable() == 0);
  CHECK(other.compare(with.reference, 1, 1).differing == 0);
  CHECK(other.compare(unmerged, 1, 1).differing == 1);

  // A number of pieces that is not that of the text.
  CHECK(work.unsplit() == 1);
}

TEST_CASE("pieces behind one that is too long for the reference are compared") {
  if (!tokenizer::why_no_patterns().empty()) return;
  const Work with;
  Corpus corpus;
  corpus.add(std::string(5000, 'a') + " " + with.tokenizer.spec().tokens[256]);
  corpus.add(std::string(5000, 'a'));
  TokenizeWork work(with.tokenizer, corpus, 1);
  work.run(1);
  const TokenizeWork::Comparison compared = work.compare(with.reference, 2, 1);
  CHECK(compared.differing == 0);
  CHECK(compared.pieces > 0);
  work.ids(0).back() ^= 1;
  CHECK(work.compare(with.reference, 2, 1).differing == 1);
  Corpus long_only;
  long_only.add(std::string(5000, 'a'));
  TokenizeWork other(with.tokenizer, long_only, 1);
  other.run(1);
  CHECK(other.compare(with.reference, 1, 1).pieces == 0);
}

TEST_CASE("what a run left is spoiled, so that one that does nothing is found") {
  if (!tokenizer::why_no_patterns().empty()) return;
  const Work with;
  TokenizeWork work(with.tokenizer, with.corpus, 1);
  work.run(1);
  work.split(1);
  const std::uint64_t right = work.checksum();
  work.spoil();
  CHECK(work.checksum() != right);
  CHECK(work.undecodable() == with.corpus.size());
  CHECK(work.unsplit() == 1);
  work.run(1);
  CHECK(work.checksum() == right);
}

TEST_CASE("documents of tokens end with the token that is asked for") {
  if (!tokenizer::why_no_patterns().empty()) return;
  const Work with;
  TokenizeWork work(with.tokenizer, with.corpus, 2);
  work.run(1);
  const TokenDocuments plain = work.documents({}), ended = work.documents(599);
  CHECK(plain.tokens.size() == work.tokens());
  REQUIRE(ended.size() == with.corpus.size());
  for (std::size_t i = 0; i < ended.size(); ++i) {
    CHECK(ended.document(i).back() == 599);
    CHECK(std::ranges::equal(ended.document(i).first(ended.document(i).size() - 1),
                             plain.document(i)));
  }
}

}  // namespace
}  // namespace bench::preprocessing
