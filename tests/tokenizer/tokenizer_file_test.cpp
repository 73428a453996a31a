#include "tokenizer/tokenizer_file.h"

#include <filesystem>
#include <functional>

#include "core/error.h"
#include "core/whole_file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/tokenizer/small_tokenizer.h"
#include "tokenizer/tokenizer.h"

namespace bench::tokenizer {
namespace {

using Catch::Matchers::Contains;

std::string refusal(const std::string& text) {
  try {
    parse_tokenizer_json(text, "t.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.text();
  }
  return "accepted";
}

std::string refusal(const std::function<void(Json&)>& edit) {
  Json file = small_json();
  edit(file);
  return refusal(dump(file));
}

TEST_CASE("what a tokenizer file may say but is not implemented is refused by name") {
  const struct {
    std::string expected;
    std::function<void(Json&)> edit;
  } kCases[] = {
      {"'model.type' is \"WordPiece\"", [](Json& f) { f["model"]["type"] = "WordPiece"; }},
      {"'model.type' is \"Unigram\"", [](Json& f) { f["model"]["type"] = "Unigram"; }},
      {"'model.dropout' is 0.1", [](Json& f) { f["model"]["dropout"] = 0.1; }},
      {"'model.byte_fallback' is true", [](Json& f) { f["model"]["byte_fallback"] = true; }},
      {"continuing_subword_prefix' is \"##\"",
       [](Json& f) { f["model"]["continuing_subword_prefix"] = "##"; }},
      {"end_of_word_suffix' is \"</w>\"",
       [](Json& f) { f["model"]["end_of_word_suffix"] = "</w>"; }},
      {"'normalizer' is {\"type\":\"NFKC\"}",
       [](Json& f) {
         f["normalizer"] = {{"type", "NFKC"}};
       }},
      {"'decoder' is {\"type\":\"Metaspace\"}",
       [](Json& f) {
         f["decoder"] = {{"type", "Metaspace"}};
       }},
      {"'pre_tokenizer' is null", [](Json& f) { f["pre_tokenizer"] = nullptr; }},
      {"'pre_tokenizer' is {\"type\":\"Whitespace\"}",
       [](Json& f) {
         f["pre_tokenizer"] = {{"type", "Whitespace"}};
       }},
      {"add_prefix_space' is true",
       [](Json& f) { f["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true; }},
      {"behavior' is \"Removed\"",
       [](Json& f) { f["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Removed"; }},
      {"invert' is true", [](Json& f) { f["pre_tokenizer"]["pretokenizers"][0]["invert"] = true; }},
      {"pattern' is {\"String\":\" \"}",
       [](Json& f) {
         f["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {{"String", " "}};
       }},
      {"'pre_tokenizer.pattern' is {\"Regex\":\"a$\"}",
       [](Json& f) {
         f["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {{"Regex", "a$"}};
       }},
      {"ByteLevel as the last", [](Json& f) { f["pre_tokenizer"]["pretokenizers"].erase(1); }},
      {"added_tokens.lstrip", [](Json& f) { f["added_tokens"][0]["lstrip"] = true; }},
      {"'truncation' is",
       [](Json& f) {
         f["truncation"] = {{"max_length", 5}};
       }},
  };
  for (const auto& one : kCases) {
    const std::string answer = refusal(one.edit);
    CHECK_THAT(answer, Contains(one.expected) && Contains("t.json: ") && Contains("supported: "));
  }
}

TEST_CASE("hostile tokenizer files are refused") {
  const struct {
    std::string expected;
    std::function<void(Json&)> edit;
  } kCases[] = {
      {"IDs below", [](Json& f) { f["model"]["vocab"]["xyz"] = 4000000000u; }},
      {"IDs below", [](Json& f) { f["model"]["vocab"]["xyz"] = -1; }},
      {"IDs below", [](Json& f) { f["model"]["vocab"]["xyz"] = 1.5; }},
      {"each ID once", [](Json& f) { f["model"]["vocab"]["xyz"] = 3; }},
      {"tokens of 1 to 1024 bytes", [](Json& f) { f["model"]["vocab"][""] = 700; }},
      {"tokens of 1 to 1024 bytes",
       [](Json& f) { f["model"]["vocab"][std::string(2000, 'x')] = 700; }},
      {"byte 0x00 has no token", [](Json& f) { f["model"]["vocab"].erase("Ā"); }},
      {"256 characters", [](Json& f) { f["model"]["vocab"]["the end"] = 700; }},
      {"two tokens of the vocabulary", [](Json& f) { f["model"]["merges"].push_back("qqq zzz"); }},
      {"each pair once",
       [](Json& f) { f["model"]["merges"].push_back(Json(f["model"]["merges"][0])); }},
      {"\"a b\" or", [](Json& f) { f["model"]["merges"].push_back("a b c"); }},
      {"\"a b\" or",
       [](Json& f) {
         f["model"]["merges"].push_back({"a", 7});
       }},
      {"an array of pairs", [](Json& f) { f["model"]["merges"] = "a b"; }},
      {"an object of IDs", [](Json& f) { f["model"]["vocab"] = Json::array(); }},
      {"an object with a BPE", [](Json& f) { f.erase("model"); }},
      {"1 to 1024 bytes", [](Json& f) { f["added_tokens"][0]["content"] = ""; }},
      {"an ID below 2^24", [](Json& f) { f["added_tokens"][0]["id"] = 1u << 25; }},
      {"each token and each ID once",
       [](Json& f) { f["added_tokens"].push_back(Json(f["added_tokens"][0])); }},
      {"one of its own", [](Json& f) { f["added_tokens"][0]["id"] = 65; }},
      {"stand for bytes",
       [](Json& f) {
         // The bytes of this token are not those of its text.
         f["model"]["vocab"]["Ġ~"] = 699;
         f["model"]["merges"].push_back("Ġ ~");
         f["added_tokens"].push_back({{"id", 699}, {"content", "Ġ~"}});
       }},
  };
  for (const auto& one : kCases) CHECK_THAT(refusal(one.edit), Contains(one.expected));
  CHECK_THAT(refusal(std::string(100, '[')), Contains("t.json"));
  CHECK_THAT(refusal(std::string("{\"model\": 3}")), Contains("'model' is 3"));
  CHECK_THAT(refusal(std::string("")), Contains("t.json"));
}

TEST_CASE("a tokenizer file gives the IDs that tokenizers gives") {
  if (!why_no_patterns().empty()) return;
  const Json known = known_vectors();
  const auto compare = [&](const Json& file, const char* by) {
    const Tokenizer tokenizer(parse_tokenizer_json(dump(file), "t.json"));
    Encoder encoder(tokenizer);
    for (std::size_t i = 0; i < known["texts"].size(); ++i) {
      const auto text = known["texts"][i].get<std::string>();
      INFO(by << ": " << text);
      const auto ids = encoder.encode(text);
      CHECK(Json(ids) == known["ids"][by][i]);
      CHECK(tokenizer.decode(ids) == text);
    }
  };
  Json file = small_json();
  compare(file, "tokenizers");
  Json pairs = Json::array();
  for (const Json& merge : file["model"]["merges"]) {
    const auto text = merge.get<std::string>();
    pairs.push_back({text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)});
  }
  file["model"]["merges"] = pairs;
  compare(file, "tokenizers");
  file["model"]["ignore_merges"] = true;
  compare(file, "tokenizers_ignore_merges");
  file["model"]["ignore_merges"] = false;
  file["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  compare(file, "tokenizers_byte_level");
}

TEST_CASE("a tokenizer file that was read is written as it was") {
  const TokenizerSpec spec = parse_tokenizer_json(small_file(), "t.json");
  CHECK(parse_json(tokenizer_json(spec), "again") == small_json());
  CHECK(spec.end_of_text() == 599u);
  CHECK(spec.size() == 600);
}

TEST_CASE("a file is read as what it is, and errors name it") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "tokens";
  write_file(path, small_file());
  CHECK(read_tokenizer(path, "").tokens.size() == 599);
  CHECK_THROWS_WITH(read_tokenizer(path, "gpt2"), Contains("patterns of its own"));
  write_file(path, read_file("tests/data/tokenizer/small.tiktoken"));
  CHECK_THROWS_WITH(read_tokenizer(path, ""), Contains("does not say how texts are split"));
  CHECK(read_tokenizer(path, "gpt2").tokens.size() == 599);
  CHECK_THROWS_WITH(read_tokenizer(folder.path() / "none", ""), Contains("none"));
  CHECK_THROWS_AS(read_tokenizer(folder.path(), ""), Error);
  std::filesystem::resize_file(path, 300u << 20);
  CHECK_THROWS_WITH(read_tokenizer(path, "gpt2"), Contains("too many for a tokenizer"));
}

}  // namespace
}  // namespace bench::tokenizer
