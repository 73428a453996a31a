// The format of a checkpoint, whole and damaged.
#include "training/checkpoint/checkpoint_file.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "training/engine/content_hash.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

struct SavedFile {
  std::vector<float> weights = std::vector<float>(1000);
  std::vector<double> state = {1.0, 2.0, 3.0};
  std::vector<NamedView> sections = {};
  std::string bytes = {};

  SavedFile() {
    std::iota(weights.begin(), weights.end(), 0.5f);
    sections = {{"weights", {weights.data(), 10, 100, Dtype::f32}},
                {"state", {state.data(), 1, 3, Dtype::f64}},
                {"nothing", {nullptr, 0, 7, Dtype::f32}}};
    TemporaryDirectory folder;
    const auto path = folder.path() / "a.ckpt";
    const std::uint64_t written = write_checkpoint(path, {{"step", 7}}, sections);
    bytes = read_file(path);
    CHECK(written == bytes.size());
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  }
};

std::span<const std::byte> bytes_in(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// The error of reading a file's header and sections; "" if there is none.
std::string trouble(const std::string& bytes) try {
  const CheckpointFile file(bytes_in(bytes), "a.ckpt");
  for (const CheckpointFile::Section& section : file.sections()) file.content(section);
  return "";
} catch (const Error& error) {
  CHECK(error.kind() == ErrorKind::input);
  CHECK_FALSE(error.hint().empty());
  return error.what();
}

}  // namespace

TEST_CASE("a checkpoint restores every type and shape") {
  const SavedFile saved;
  const CheckpointFile file(bytes_in(saved.bytes), "a.ckpt");
  CHECK(file.meta() == Json{{"step", 7}});
  std::vector<float> weights(1000);
  std::vector<double> state(3);
  file.read({"weights", {weights.data(), 10, 100, Dtype::f32}});
  file.read({"state", {state.data(), 1, 3, Dtype::f64}});
  file.read({"nothing", {nullptr, 0, 7, Dtype::f32}});
  CHECK(weights == saved.weights);
  CHECK(state == saved.state);
}

TEST_CASE("a section of another name, type or shape is refused, naming both") {
  const SavedFile saved;
  const CheckpointFile file(bytes_in(saved.bytes), "a.ckpt");
  std::vector<float> other(1000);
  CHECK_THROWS_WITH(file.read({"gains", {other.data(), 1, 3, Dtype::f32}}),
                    Contains("a.ckpt: no section 'gains'"));
  CHECK_THROWS_WITH(file.read({"weights", {other.data(), 100, 10, Dtype::f32}}),
                    Contains("is f32 [10, 100], expected f32 [100, 10]"));
  CHECK_THROWS_WITH(file.read({"state", {other.data(), 1, 3, Dtype::f32}}),
                    Contains("is f64 [1, 3], expected f32 [1, 3]"));
}

TEST_CASE("a truncated checkpoint is refused") {
  const SavedFile saved;
  CHECK(trouble(saved.bytes).empty());
  for (std::size_t length = 0; length < saved.bytes.size(); length += 13)
    CHECK_THAT(trouble(saved.bytes.substr(0, length)), Contains("a.ckpt: "));
  CHECK_THAT(trouble(saved.bytes.substr(0, saved.bytes.size() - 1)),
             Contains("exceed the file size"));
  CHECK_THAT(trouble(saved.bytes + "x"), Contains("the file ends at offset"));
}

TEST_CASE("one flipped bit anywhere in a checkpoint is found with its location") {
  const SavedFile saved;
  const CheckpointFile file(bytes_in(saved.bytes), "a");
  const std::size_t weights = file.sections()[0].offset;
  const auto padding = [&](std::size_t at) {  // between the parts
    const std::size_t state = file.sections()[1].offset;
    return (at > saved.bytes.rfind('}', weights) && at < weights) ||
           (at >= weights + file.sections()[0].bytes && at < state) ||
           at >= state + file.sections()[1].bytes;
  };
  for (std::size_t at = 0; at < saved.bytes.size(); at += 11) {
    std::string damaged = saved.bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    if (!padding(at)) CHECK_THAT(trouble(damaged), Contains("a.ckpt: "));
  }
  std::string damaged = saved.bytes;
  damaged[weights + 100] ^= 1;
  CHECK_THAT(trouble(damaged),
             Contains("section 'weights' at offset " + std::to_string(weights) + " is damaged"));
}

TEST_CASE("a foreign file and a newer format are refused with the reason") {
  const SavedFile saved;
  CHECK_THAT(trouble("PK\3\4 something else entirely, long enough"), Contains("not a checkpoint"));
  std::string later = saved.bytes;
  later[8] = 2;
  CHECK_THAT(trouble(later), Contains("unsupported format version 2 at offset 8, expected 1"));
}

TEST_CASE("a content hash changes with each bit, the word order and the length") {
  std::vector<std::uint64_t> words(37, 0);
  const auto hash = [&] { return content_hash(std::as_bytes(std::span(words))); };
  std::vector<std::uint64_t> seen = {hash()};
  for (std::size_t bit = 0; bit < words.size() * 64; ++bit) {
    words[bit / 64] ^= std::uint64_t{1} << bit % 64;
    seen.push_back(hash());
    words[bit / 64] ^= std::uint64_t{1} << bit % 64;
  }
  for (std::size_t length = 0; length < words.size() * 8; ++length)
    seen.push_back(content_hash(std::as_bytes(std::span(words)).first(length)));
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

}  // namespace bench::training
