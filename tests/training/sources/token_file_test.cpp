#include "training/sources/token_file.h"

#include <numeric>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/training/training_files.h"

namespace bench::training {
namespace {

constexpr std::uint32_t kGpt2 = 20240520, kLlama3 = 20240801;

template <class Token>
std::vector<Token> counting(std::size_t count, Token first) {
  std::vector<Token> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

std::vector<std::int32_t> sequence(const TokenFiles& files, Split split, std::uint64_t index) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(files.targets()) + 1);
  files.read(split, index, {.tokens = tokens});
  return tokens;
}

std::string refusal(const std::string& bytes) {
  try {
    TokenView(as_bytes(bytes), "a.bin");
    return "accepted";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    CHECK_FALSE(error.hint().empty());
    return error.what();
  }
}

TEST_CASE("sequences of llm.c files overlap by one token and continue in the next shard") {
  const TemporaryDirectory folder;
  const auto a =
      write_file(folder.path() / "a.bin", token_file(kGpt2, counting<std::uint16_t>(12, 100)));
  const auto b =
      write_file(folder.path() / "b.bin", token_file(kGpt2, counting<std::uint16_t>(5, 50000)));
  const TokenFiles files({.train = {a, b}, .evaluation = {b}, .targets = 4});
  CHECK(files.vocabulary() == 50257);
  CHECK_FALSE(files.has_oracle());
  CHECK(files.size(Split::train) == 3);  // tokens 9 to 11 of a.bin are no whole sequence
  CHECK(sequence(files, Split::train, 0) == std::vector{100, 101, 102, 103, 104});
  CHECK(sequence(files, Split::train, 1) == std::vector{104, 105, 106, 107, 108});
  CHECK(sequence(files, Split::train, 2) == std::vector{50000, 50001, 50002, 50003, 50004});
  CHECK(sequence(files, Split::train, 1) == std::vector{104, 105, 106, 107, 108});
  CHECK(files.size(Split::evaluation) == 1);
  CHECK(sequence(files, Split::evaluation, 0) == sequence(files, Split::train, 2));
  CHECK_THROWS_WITH(sequence(files, Split::train, 3), "sequence 3 is out of range: the file has 3");
}

TEST_CASE("tokens of Llama 3 have 32 bits") {
  const TemporaryDirectory folder;
  const auto path =
      write_file(folder.path() / "a.bin", token_file(kLlama3, counting<std::uint32_t>(9, 128000)));
  const TokenFiles files({.train = {path}, .targets = 4});
  CHECK(files.vocabulary() == 128256);
  CHECK(sequence(files, Split::train, 1) == std::vector{128004, 128005, 128006, 128007, 128008});
}

TEST_CASE("nanoGPT files need an explicit vocabulary") {
  const TemporaryDirectory folder;
  const auto path = write_file(folder.path() / "train.bin", raw(counting<std::uint16_t>(9, 60)));
  const TokenFiles files({.train = {path}, .targets = 4, .vocabulary = 100});
  CHECK(sequence(files, Split::train, 1) == std::vector{64, 65, 66, 67, 68});
  CHECK_THROWS_WITH(TokenFiles(TokenFileOptions{.train = {path}, .targets = 4}),
                    path + ": a token file without a header does not state its vocabulary");
}

TEST_CASE("a token beyond the vocabulary is reported with file and offset") {
  const TemporaryDirectory folder;
  const auto path = write_file(folder.path() / "train.bin", raw(counting<std::uint16_t>(9, 60)));
  const TokenFiles files({.train = {path}, .targets = 4, .vocabulary = 66});
  CHECK_NOTHROW(sequence(files, Split::train, 0));
  CHECK_THROWS_WITH(sequence(files, Split::train, 1),
                    path + ": token 66 at offset 12 is outside the vocabulary of 66");
}

TEST_CASE("damaged and foreign files are refused with the fault and its offset") {
  const std::string good = token_file(kGpt2, counting<std::uint16_t>(12, 100));
  CHECK(refusal(good) == "accepted");
  CHECK(refusal(good.substr(0, good.size() - 2)) ==
        "a.bin: 12 tokens of 2 bytes (offset 8) require a file of 1048 bytes, but it has 1046");
  CHECK(refusal(good + "xx") ==
        "a.bin: 12 tokens of 2 bytes (offset 8) require a file of 1048 bytes, but it has 1050");
  CHECK(refusal(good.substr(0, 500)) == "a.bin: 500 bytes, shorter than the header of 1024");
  std::string old = good;
  old[4] = 2;
  CHECK(refusal(old) == "a.bin: unsupported version 2 at offset 4, expected 1");
  CHECK(refusal(token_file(20240326, counting<std::uint16_t>(12, 100))) ==
        "a.bin: magic 20240326 at offset 0: the file is a model checkpoint, not tokens");
  CHECK(refusal("abc") ==
        "a.bin: no llm.c magic at offset 0 (0), and 3 bytes are not a multiple of the 2 bytes "
        "of a token");
}

TEST_CASE("short files, missing files and folders are refused") {
  const TemporaryDirectory folder;
  const auto path =
      write_file(folder.path() / "a.bin", token_file(kGpt2, counting<std::uint16_t>(4, 0)));
  CHECK_THROWS_WITH(TokenFiles(TokenFileOptions{.train = {path}, .targets = 4}),
                    path + ": 4 tokens, fewer than one sequence of 5");
  const auto open = [](const std::filesystem::path& p) {
    TokenFiles(TokenFileOptions{.train = {p}, .vocabulary = 10});
  };
  CHECK_THROWS_AS(open(folder.path() / "absent.bin"), Error);
  CHECK_THROWS_WITH(open(folder.path()), folder.path().string() + " is not a regular file");
  CHECK_THROWS_AS(open(write_file(folder.path() / "empty.bin", "")), Error);
}

}  // namespace
}  // namespace bench::training
