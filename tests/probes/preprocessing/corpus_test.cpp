#include "probes/preprocessing/corpus.h"

#include <sys/stat.h>

#include "core/error.h"
#include "core/whole_file.h"
#include "probes/preprocessing/generated_text.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tokenizer/utf8.h"

namespace bench::preprocessing {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("plain text is cut behind line breaks, and nothing of it is lost") {
  const TemporaryDirectory folder;
  std::string text;
  while (text.size() < 100000) text += "a line of " + std::to_string(text.size()) + "\n";
  text += std::string(40000, 'x');  // without a line break
  write_file(folder.path() / "text.txt", text);
  const Corpus corpus = read_corpus(folder.path() / "text.txt", 0);
  CHECK(corpus.text == text);
  CHECK(corpus.size() > 5);
  for (std::size_t i = 0; i + 1 < corpus.size(); ++i) {
    CHECK(corpus.document(i).size() >= 16384);
    CHECK(corpus.document(i).ends_with('\n'));
  }
  CHECK(read_corpus(folder.path() / "text.txt", 20000).size() == 2);
}

TEST_CASE("plain text without line breaks is cut at 1 MiB, between characters") {
  const TemporaryDirectory folder;
  std::string text = "x";
  while (text.size() < 2 * kLongestPlain + 1000) text += "é";
  write_file(folder.path() / "text.txt", text);
  const Corpus corpus = read_corpus(folder.path() / "text.txt", 0);
  CHECK(corpus.text == text);
  REQUIRE(corpus.size() == 3);
  CHECK(corpus.document(0).size() == kLongestPlain - 1);
  for (std::size_t i = 0; i < corpus.size(); ++i)
    CHECK(tokenizer::valid_utf8(corpus.document(i)) == corpus.document(i).size());
  CHECK(read_corpus(folder.path() / "text.txt", 1000).size() == 1);
}

TEST_CASE("a line of JSON that is too long is refused with its number") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "text.jsonl";
  const std::string longest(kLongestLine - 100, 'x');
  write_file(path, "{\"text\": \"one\"}\n{\"text\": \"" + longest + "\"}\n");
  CHECK(read_corpus(path, 0).size() == 2);
  write_file(path, "{\"text\": \"one\"}\n{\"text\": \"" + longest + longest + "\"}\n");
  CHECK_THROWS_WITH(read_corpus(path, 0), Contains("line 2 has more than 16 MiB"));
}

TEST_CASE("a named pipe is refused, as it may never get a writer") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "pipe.txt";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(read_corpus(path, 0), Contains("not a regular file"));
}

TEST_CASE("lines of JSON are documents, and others are refused with their number") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "text.jsonl";
  write_file(path,
             "{\"text\": \"one\\n\", \"id\": 7}\n\n{\"text\": \"\"}\n{\"text\": \"zwei \\u00fc\"}");
  const Corpus corpus = read_corpus(path, 0);
  REQUIRE(corpus.size() == 2);
  CHECK(corpus.document(0) == "one\n");
  CHECK(corpus.document(1) == "zwei ü");
  CHECK(corpus.documents().size() == 2);
  write_file(path, "{\"text\": \"one\"}\n{\"content\": \"two\"}\n");
  CHECK_THROWS_WITH(read_corpus(path, 0), Contains("line 2 has no text: {\"content\":\"two\"}"));
  CHECK(read_corpus(path, 3).size() == 1);
  write_file(path, "{\"text\": \"one\"}\n{\"text\": ");
  CHECK_THROWS_WITH(read_corpus(path, 0), Contains("line 2"));
  write_file(path, "\n");
  CHECK_THROWS_WITH(read_corpus(path, 0), Contains("text.jsonl: no text"));
  CHECK_THROWS_AS(read_corpus(folder.path() / "none", 0), Error);
}

TEST_CASE("documents that were written are read again") {
  const TemporaryDirectory folder;
  const Corpus corpus = generated_corpus(20000, 1);
  write_corpus(folder.path() / "text.jsonl", corpus);
  const Corpus again = read_corpus(folder.path() / "text.jsonl", 0);
  CHECK(again.text == corpus.text);
  CHECK(again.begins == corpus.begins);
  CHECK_THROWS_WITH(write_corpus(folder.path() / "text.jsonl", corpus),
                    Contains("text.jsonl: file already exists"));
}

TEST_CASE("generated text follows from its seed, and is text") {
  const Corpus corpus = generated_corpus(200000, 3);
  CHECK(corpus.text.size() >= 200000);
  CHECK(corpus.text.size() < 220001);
  CHECK(corpus.size() > 10);
  CHECK(tokenizer::valid_utf8(corpus.text) == corpus.text.size());
  CHECK(generated_corpus(200000, 3).text == corpus.text);
  CHECK(generated_corpus(200000, 4).text != corpus.text);
  CHECK(corpus.text.starts_with(generated_corpus(50000, 3).text));
  for (const char* part : {"\n\n", "    ", "return ", ". ", "的", "।"}) {
    INFO(part);
    CHECK(corpus.text.find(part) != std::string::npos);
  }
}

}  // namespace
}  // namespace bench::preprocessing
