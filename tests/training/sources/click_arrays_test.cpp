#include "training/sources/click_arrays.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/training/training_files.h"

namespace bench::training {
namespace {

const std::string kDenseArray = npy("<i4", "(3, 2)", raw<std::int32_t>({0, 9, -4, 99, 5, 6}));
const std::string kIdArray = npy("<i4", "(3, 2)", raw<std::int32_t>({0, 1, 2, 3, 4, 5}));
const std::string kLabelArray = npy("<i4", "(3,)", raw<std::int32_t>({0, 1, 1}));
const std::string kCountArray = npy("<i8", "(2,)", raw<std::int64_t>({5, 6}));

struct TwoFeatures {
  std::vector<float> dense = std::vector<float>(2);
  std::vector<std::int32_t> ids = std::vector<std::int32_t>(2);
  float label = 0;
};

TwoFeatures read_two(const ClickSource& source, Split split, std::uint64_t index) {
  TwoFeatures made;
  ClickSample sample{.dense = made.dense, .ids = made.ids};
  source.read(split, index, sample);
  made.label = sample.label;
  return made;
}

TEST_CASE("samples of a DLRM npz are read by number, counts as logarithms") {
  const TemporaryDirectory folder;
  for (const bool deflate : {false, true}) {
    const auto path =
        write_file(folder.path() / "day.npz", npz({{"X_int", kDenseArray, deflate},
                                                   {"X_cat", kIdArray, deflate},
                                                   {"y", kLabelArray, deflate},
                                                   {"counts", kCountArray, deflate}}));
    const ClickArrayFiles files({.npz = path}, ClickArrayPaths{.npz = path}, {});
    CHECK(files.shape().rows == std::vector<std::int64_t>{5, 6});
    CHECK(files.size(Split::train) == 3);
    const TwoFeatures second = read_two(files, Split::evaluation, 1);
    CHECK(second.dense[0] == 0);
    CHECK(second.dense[1] == Approx(std::log(100)));
    CHECK(second.ids == std::vector<std::int32_t>{2, 3});
    CHECK(second.label == 1);
    CHECK(read_two(files, Split::train, 0).label == 0);
    CHECK_THROWS_WITH(read_two(files, Split::train, 3), "sample 3 is out of range: the file has 3");
  }
}

TEST_CASE("separate arrays are read unchanged, floats without a logarithm") {
  const TemporaryDirectory folder;
  const auto dense =
      write_file(folder.path() / "dense.npy", npy("<f4", "(3, 2)", raw<float>({1, 2, 3, 4, 5, 6})));
  const auto ids = write_file(folder.path() / "sparse.npy", kIdArray);
  const auto labels =
      write_file(folder.path() / "labels.npy", npy("<f4", "(3, 1)", raw<float>({0, 1, 2})));
  const ClickArrayPaths paths{.dense = dense, .ids = ids, .labels = labels};
  const ClickArrayFiles files(paths, std::nullopt, {5, 5});
  CHECK(read_two(files, Split::train, 1).dense == std::vector<float>{3, 4});
  CHECK(files.size(Split::evaluation) == 0);
  CHECK_THROWS_WITH(read_two(files, Split::train, 2), ids + ": the label of sample 2 is 2");
  CHECK_THROWS_WITH(ClickArrayFiles(paths, std::nullopt, {}),
                    "rows given for 0 tables, but IDs for 2");
}

TEST_CASE("MLPerf's multi-hot archives are read by table for training and evaluation") {
  const TemporaryDirectory folder;
  const auto saved = [&](const std::string& day, std::int32_t first, const std::string& last) {
    ClickArrayPaths paths;
    paths.dense = write_file(folder.path() / (day + "_dense.npy"),
                             npy("<f4", "(3, 1)", raw<float>({1, 2, 3})));
    paths.labels = write_file(folder.path() / (day + "_labels.npy"),
                              npy("<i4", "(3, 1)", raw<std::int32_t>({0, 1, 0})));
    paths.ids = write_file(
        folder.path() / (day + "_sparse_multi_hot.npz"),
        npz({{"0", npy("<i4", "(3, 2)", raw<std::int32_t>({first, 1, 2, 3, 4, 5})), false},
             {"1", npy("<i8", "(3, 1)", raw<std::int64_t>({7, 8, 9})), true},
             {last, npy("<i4", "(3, 3)", raw<std::int32_t>({0, 0, 1, 1, 2, 2, 3, 3, 0})), true}}));
    return paths;
  };
  const ClickArrayFiles files(saved("day_0", 0, "2"), saved("day_23", 6, "2"), {7, 10, 4});
  CHECK(files.shape().lookups == std::vector<int>{2, 1, 3});
  CHECK(files.shape().ids() == 6);
  const auto ids = [](const ClickSource& source, Split split, std::uint64_t index) {
    std::vector<float> dense(1);
    std::vector<std::int32_t> found(6);
    ClickSample sample{.dense = dense, .ids = found};
    source.read(split, index, sample);
    return found;
  };
  CHECK(ids(files, Split::train, 0) == std::vector<std::int32_t>{0, 1, 7, 0, 0, 1});
  CHECK(ids(files, Split::train, 2) == std::vector<std::int32_t>{4, 5, 9, 3, 3, 0});
  CHECK(ids(files, Split::evaluation, 0) == std::vector<std::int32_t>{6, 1, 7, 0, 0, 1});
  const ClickArrayFiles small(saved("day_0", 0, "2"), std::nullopt, {7, 10, 3});
  CHECK_THROWS_WITH(ids(small, Split::train, 2),
                    Catch::Matchers::Contains("ID 3 of sample 2 is outside the 3 rows of table 2"));
  CHECK_THROWS_WITH(ClickArrayFiles(saved("day_0", 0, "2"), std::nullopt, {7, 10}),
                    "rows given for 2 tables, but IDs for 3");
  CHECK_THROWS_WITH(ClickArrayFiles(saved("day_0", 0, "last"), std::nullopt, {7, 10}),
                    Catch::Matchers::Contains("3 arrays, 2 of them numbered tables"));
}

TEST_CASE("IDs outside their table and arrays of mismatched shapes are refused") {
  const TemporaryDirectory folder;
  const auto save = [&](const std::string& ids, const std::string& labels) {
    return ClickArrayPaths{
        .npz = write_file(
            folder.path() / "day.npz",
            npz({{"X_int", kDenseArray, false}, {"X_cat", ids, false}, {"y", labels, false}}))};
  };
  const ClickArrayPaths good = save(kIdArray, kLabelArray);
  const ClickArrayFiles files(good, std::nullopt, {5, 5});
  CHECK_NOTHROW(read_two(files, Split::train, 1));
  CHECK_THROWS_WITH(read_two(files, Split::train, 2),
                    good.npz + ": ID 5 of sample 2 is outside the 5 rows of table 1");
  const auto open = [](const ClickArrayPaths& paths) {
    ClickArrayFiles(paths, std::nullopt, {5, 5});
  };
  CHECK_THROWS_WITH(
      open(save(kIdArray, npy("<i4", "(2,)", raw<std::int32_t>({0, 1})))),
      good.npz + ": dense features, IDs and labels have shapes [3, 2], [3, 2] and [2]");
  CHECK_THROWS_WITH(open(save(npy("<f4", "(3, 2)", raw(std::vector<float>(6))), kLabelArray)),
                    good.npz + ": IDs are floating-point numbers");
  CHECK_THROWS_WITH(
      open(save(kIdArray, npy("<i4", "(3, 2)", raw(std::vector<std::int32_t>(6))))),
      good.npz + ": dense features, IDs and labels have shapes [3, 2], [3, 2] and [3, 2]");
}

}  // namespace
}  // namespace bench::training
