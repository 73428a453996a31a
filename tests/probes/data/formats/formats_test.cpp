#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/json.h"
#include "probes/data/formats/blob_source.h"
#include "probes/data/formats/record_file.h"
#include "probes/data/pipelines/pipeline.h"
#include "tests/probes/data/small_sets.h"
#include "tests/support/catch.h"

namespace bench::data {
namespace {

std::vector<std::uint64_t> order_of(const SampleOrder::Shape& shape, std::uint64_t seed,
                                    std::uint64_t epoch) {
  const SampleOrder order(shape, true, seed, epoch);
  std::vector<std::uint64_t> all;
  for (std::uint64_t place = 0; place < shape.samples; ++place) all.push_back(order.at(place));
  return all;
}

TEST_CASE("a shuffled epoch has every sample once and differs between seeds and epochs") {
  for (const std::uint64_t samples : {1u, 2u, 3u, 5u, 64u, 1000u, 4097u}) {
    const SampleOrder::Shape shape{samples, {}};
    const auto order = order_of(shape, 1, 0);
    CHECK(std::set<std::uint64_t>(order.begin(), order.end()).size() == samples);
    CHECK(*std::ranges::max_element(order) == samples - 1);
    if (samples < 64) continue;
    CHECK(order != order_of(shape, 1, 1));
    CHECK(order != order_of(shape, 2, 0));
    CHECK(order == order_of(shape, 1, 0));
  }
}

TEST_CASE("over many epochs every sample comes first about equally often") {
  const SampleOrder::Shape shape{10, {}};
  std::vector<int> times(10);
  for (std::uint64_t epoch = 0; epoch < 20000; ++epoch)
    ++times.at(SampleOrder(shape, true, 4, epoch).at(0));
  for (const int one : times) CHECK(one == Approx(2000).margin(250));
}

TEST_CASE("blocks are shuffled and stay whole") {
  const SampleOrder::Shape shape{100, {0, 10, 35, 36, 90}};
  const auto order = order_of(shape, 7, 0);
  CHECK(std::set<std::uint64_t>(order.begin(), order.end()).size() == 100);
  int jumps = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i] == order[i - 1] + 1) continue;
    ++jumps;
    CHECK(std::ranges::count(shape.blocks, order[i]) == 1);
  }
  CHECK(jumps >= 2);
  CHECK(jumps <= 5);
}

TEST_CASE("the same images come from a folder, from tar shards and from records") {
  if (!no_jpeg().empty()) return;
  const SmallSet folder(Format::jpeg_folder), tar(Format::tar), records(Format::records);
  const auto files = open_image_folder(folder.made.folder);
  const auto members = open_tar_shards(tar.made.folder);
  const auto indexed = open_record_files(records.made.folder);
  REQUIRE(members->size() == folder.made.samples);
  REQUIRE(indexed->size() == folder.made.samples);
  std::vector<std::byte> a, b;
  std::multiset<std::size_t> sizes, of_files;
  for (std::uint64_t i = 0; i < members->size(); ++i) {
    members->read(i, a);
    indexed->read(i, b);
    REQUIRE((a == b));
    CHECK(members->label(i) == indexed->label(i));
    sizes.insert(a.size());
    files->read(i, b);
    of_files.insert(b.size());
  }
  CHECK(sizes == of_files);
  CHECK(files->label(files->size() - 1) == 9);
}

TEST_CASE("tars of GNU tar and of Python, with long names, are read") {
  for (const char* name : {"gnu", "pax", "ustar"}) {
    INFO(name);
    TemporaryDirectory folder;
    std::filesystem::copy(
        std::filesystem::path("tests/data/data_loader") / (std::string(name) + ".tar"),
        folder.path() / "shard.tar");
    const auto shards = open_tar_shards(folder.path());
    REQUIRE(shards->size() == 3);
    CHECK(shards->label(1) == 41);
    std::vector<std::byte> bytes;
    shards->read(2, bytes);
    CHECK(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == "third image");
  }
}

TEST_CASE("a data set is generated once, and again if it is incomplete") {
  TemporaryDirectory folder;
  const DataSetWish wish = small_wish(Format::raw);
  const MadeDataSet first = make_data_set(folder.path(), wish);
  CHECK(first.made);
  CHECK_FALSE(make_data_set(folder.path(), wish).made);
  std::filesystem::remove(first.folder / "data_set.json");
  CHECK(make_data_set(folder.path(), wish).made);
  DataSetWish other = wish;
  other.seed = 8;
  CHECK(make_data_set(folder.path(), other).folder != first.folder);
}

TEST_CASE("a data set is not written through a link that somebody prepared") {
  TemporaryDirectory folder;
  const DataSetWish wish = small_wish(Format::raw);
  const MadeDataSet first = make_data_set(folder.path(), wish);
  const auto victim = folder.path() / "victim";
  std::filesystem::create_directory(victim);
  std::filesystem::remove_all(first.folder);
  std::filesystem::create_directory_symlink(victim, first.folder);
  CHECK_THROWS_WITH(make_data_set(folder.path(), wish),
                    Catch::Matchers::Contains("it is a symbolic link"));
  CHECK(std::filesystem::is_empty(victim));
}

TEST_CASE("a folder without the expected data is refused with its name") {
  TemporaryDirectory folder;
  CHECK_THROWS_AS(open_image_folder(folder.path()), Error);
  CHECK_THROWS_AS(open_tar_shards(folder.path()), Error);
  CHECK_THROWS_AS(open_record_files(folder.path()), Error);
  CHECK_THROWS_AS(open_image_folder(folder.path() / "none"), Error);
}

TEST_CASE("a file of records with a wrong index is refused at its offset") {
  const std::vector<std::uint64_t> sizes = {3, 0, 5};
  auto head = record_head(sizes);
  const std::uint64_t size = head.size() + 3 * kRecordLabelBytes + 8;
  const ReadAt read = [&](std::uint64_t at, std::span<std::byte> into) {
    std::memcpy(into.data(), head.data() + at, into.size());
  };
  CHECK(record_index(read, size, "r").size() == 4);
  CHECK_THROWS_WITH(record_index(read, size - 1, "r"),
                    "r, offset 48: record 3 starts at 88, expected 83 to 87");
  head[8] = std::byte{2};
  CHECK_THROWS_WITH(record_index(read, size, "r"), "r, offset 8: version 2, expected 1");
}

}  // namespace
}  // namespace bench::data
