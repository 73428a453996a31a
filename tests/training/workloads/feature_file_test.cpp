// Files of features: generated once, reused, and refused when damaged.
#include "training/workloads/feature_file.h"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

/// Three blocks, the last one short; `made` counts generated rows.
FeatureTable counted_table(std::atomic<int>& made) {
  FeatureTable table;
  table.columns = 16;
  table.rows = 2 * (256 * 1024 / 64) + 5;
  table.identity = 0x77;
  table.make = [&made](std::uint64_t row, std::span<float> out) {
    for (std::size_t column = 0; column < out.size(); ++column)
      out[column] = static_cast<float>(row) + 0.01F * static_cast<float>(column);
    ++made;
  };
  return table;
}

void check_rows(const FeatureFile& file, const FeatureTable& table) {
  for (const std::uint64_t row : {std::uint64_t{0}, std::uint64_t{4096}, table.rows - 1}) {
    REQUIRE(file.row(row).size() == 16);
    CHECK(file.row(row)[0] == static_cast<float>(row));
    CHECK(file.row(row)[15] == static_cast<float>(row) + 0.01F * 15.0F);
  }
}

void change_byte(const std::filesystem::path& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 1));
}

/// Rows that were generated when the file was opened `times` times.
int rows_made(const FeatureTable& table, int times) {
  return static_cast<int>(table.rows) + times * static_cast<int>(kComparedRows);
}

}  // namespace

TEST_CASE("features are generated once and read by later runs") {
  const TemporaryDirectory folder;
  std::atomic<int> made{0};
  const FeatureTable table = counted_table(made);
  const FeatureFile first = FeatureFile::open(folder.path() / "new", "rgat-tiny", table);
  check_rows(first, table);
  CHECK(made == rows_made(table, 1));
  CHECK(std::filesystem::path(first.path()).filename() == "rgat-tiny-0000000000000077.features");
  check_rows(FeatureFile::open(folder.path() / "new", "rgat-tiny", table), table);
  CHECK(made == rows_made(table, 2));
}

TEST_CASE("ranks of a host that want the same features at once generate them once") {
  const TemporaryDirectory folder;
  std::atomic<int> made{0};
  const FeatureTable table = counted_table(made);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 3; ++rank)
      ranks.emplace_back([&] { FeatureFile::open(folder.path(), "rgat-tiny", table); });
  }
  CHECK(made == rows_made(table, 3));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    CHECK_THAT(entry.path().filename().string(),
               Equals("rgat-tiny-0000000000000077.features") ||
                   Equals("rgat-tiny-0000000000000077.features.lock"));
}

TEST_CASE("features that are there are read without a lock") {
  const TemporaryDirectory folder;
  std::atomic<int> made{0};
  const FeatureTable table = counted_table(made);
  const std::filesystem::path path = FeatureFile::open(folder.path(), "rgat-tiny", table).path();
  const std::filesystem::path lock = path.string() + ".lock";
  REQUIRE(std::filesystem::remove(lock));
  check_rows(FeatureFile::open(folder.path(), "rgat-tiny", table), table);
  CHECK_FALSE(std::filesystem::exists(lock));
}

TEST_CASE("features are generated where the lock cannot be taken") {
  const TemporaryDirectory folder;
  std::atomic<int> made{0};
  const FeatureTable table = counted_table(made);
  std::filesystem::create_directory(folder.path() / "rgat-tiny-0000000000000077.features.lock");
  check_rows(FeatureFile::open(folder.path(), "rgat-tiny", table), table);
}

TEST_CASE("features of another version are refused, naming a row") {
  const TemporaryDirectory folder;
  std::atomic<int> made{0};
  const FeatureTable table = counted_table(made);
  FeatureFile::open(folder.path(), "rgat-tiny", table);
  FeatureTable other = table;
  other.make = [&table](std::uint64_t row, std::span<float> out) {
    table.make(row, out);
    if (row == table.rows - 1) out.back() += 1.0F;
  };
  CHECK_THROWS_WITH(
      FeatureFile::open(folder.path(), "rgat-tiny", other),
      Contains("row " + std::to_string(table.rows - 1) + " is not what this version generates"));
}

TEST_CASE("without a folder features are in a file without a name") {
  std::atomic<int> made{0};
  const FeatureTable table = counted_table(made);
  const FeatureFile file = FeatureFile::open({}, "rgat-tiny", table);
  check_rows(file, table);
  CHECK_FALSE(std::filesystem::exists(file.path()));
}

TEST_CASE("damaged features are refused, saying where and what to do") {
  const TemporaryDirectory folder;
  std::atomic<int> made{0};
  const FeatureTable table = counted_table(made);
  const std::filesystem::path path = FeatureFile::open(folder.path(), "rgat-tiny", table).path();
  const auto refused = [&](const char* what) {
    INFO(what);
    try {
      FeatureFile::open(folder.path(), "rgat-tiny", table);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      CHECK_THAT(error.what(), Contains(what) && Contains(path.string()));
      CHECK_THAT(error.hint(), Contains("remove it: it is generated again"));
    }
  };
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
  change_byte(path, 40 + 256 * 1024);  // in the second block
  refused("262144 bytes at offset 262176 are damaged");
  change_byte(path, 40 + 256 * 1024);
  check_rows(FeatureFile::open(folder.path(), "rgat-tiny", table), table);
  for (const std::streamoff at : {0, 9, 17, 25}) {  // magic, version, rows, identity
    change_byte(path, at);
    refused("other features, or a damaged header");
    change_byte(path, at);
  }
  for (const std::streamoff back : {8, 32}) {
    change_byte(path, size - back);
    refused("the hashes of its blocks are damaged");
    change_byte(path, size - back);
  }
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size - 1));
  refused("bytes of features, but");
}

TEST_CASE("features that cannot be looked for are an error of the environment") {
  const TemporaryDirectory folder;
  std::atomic<int> made{0};
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  try {
    FeatureFile::open(folder.path() / "loop", "rgat-tiny", counted_table(made));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
  }
  CHECK(made == 0);
}

TEST_CASE("features that cannot be written are an error of the environment") {
  const TemporaryDirectory folder;
  std::atomic<int> made{0};
  std::ofstream(folder.path() / "file") << "no folder";
  try {
    FeatureFile::open(folder.path() / "file" / "below", "rgat-tiny", counted_table(made));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK_THAT(error.what(), Contains("file"));
  }
}

}  // namespace bench::training
