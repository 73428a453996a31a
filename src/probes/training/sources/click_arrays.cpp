#include "probes/training/sources/click_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bench::training {
namespace {

std::string shape_text(const NpyArray& array) {
  return fmt::format("[{}]", fmt::join(array.shape, ", "));
}

bool is_integer(const NpyArray& array) { return array.kind != 'f'; }

float dense_value(const NpyArray& array, std::uint64_t index) {
  const double value = array.number(index);
  return static_cast<float>(is_integer(array) ? std::log1p(std::max(value, 0.0)) : value);
}

}  // namespace

ClickArrays::ClickArrays(const ClickArrayPaths& paths) {
  if (!paths.npz.empty()) {
    open_npz(paths.npz);
  } else {
    name_ = paths.ids;
    for (const auto& [path, array] : {std::pair{paths.dense, &dense_}, std::pair{paths.ids, &ids_},
                                      std::pair{paths.labels, &labels_}}) {
      files_.emplace_back(path);
      *array = read_npy(files_.back().bytes(), path);
    }
  }
  check();
}

void ClickArrays::open_npz(const std::string& path) {
  name_ = path;
  files_.emplace_back(path);
  npz_ = std::make_unique<NpzFile>(files_.back().bytes(), path);
  dense_ = npz_->array("X_int");
  ids_ = npz_->array("X_cat");
  labels_ = npz_->array("y");
  if (npz_->has("counts")) counts_ = npz_->array("counts");
}

void ClickArrays::check() const {
  const bool fits = dense_.shape.size() == 2 && ids_.shape.size() == 2 && !labels_.shape.empty() &&
                    dense_.shape[0] == ids_.shape[0] && dense_.shape[0] == labels_.shape[0] &&
                    labels_.elements() == labels_.shape[0] && labels_.elements() > 0;
  if (!fits)
    throw Error(ErrorKind::input,
                fmt::format("{}: dense features, ids and labels of shapes {}, {} and {}", name_,
                            shape_text(dense_), shape_text(ids_), shape_text(labels_)),
                "they are [n, features], [n, tables] and [n], of one n above 0");
  if (!is_integer(ids_))
    throw Error(ErrorKind::input, name_ + ": ids are floating-point numbers",
                "save them as integers");
  if (counts_ && (!is_integer(*counts_) || counts_->elements() != tables()))
    throw Error(
        ErrorKind::input,
        fmt::format("{}: counts of shape {} for {} tables", name_, shape_text(*counts_), tables()),
        "they are the integer numbers of rows of each table");
}

std::vector<std::int64_t> ClickArrays::counts() const {
  std::vector<std::int64_t> rows;
  for (std::uint64_t i = 0; counts_ && i < counts_->elements(); ++i)
    rows.push_back(counts_->integer(i));
  return rows;
}

void ClickArrays::read(std::uint64_t index, ClickSample& sample, const ClickShape& shape) const {
  const double label = labels_.number(index);
  if (label != 0 && label != 1)
    throw Error(ErrorKind::input,
                fmt::format("{}: the label of sample {} is {}", name_, index, label),
                "labels are 0 or 1");
  sample.label = static_cast<float>(label);
  for (std::size_t i = 0; i < sample.dense.size(); ++i)
    sample.dense[i] = dense_value(dense_, index * sample.dense.size() + i);
  for (std::size_t i = 0; i < sample.ids.size(); ++i) {
    const std::int64_t id = ids_.integer(index * sample.ids.size() + i);
    if (id < 0 || id >= shape.rows[i])
      throw Error(ErrorKind::input,
                  fmt::format("{}: id {} of sample {} is not below the {} rows of table {}", name_,
                              id, index, shape.rows[i], i),
                  "state the rows that the ids were made for");
    sample.ids[i] = static_cast<std::int32_t>(id);
  }
}

ClickArrayFiles::ClickArrayFiles(const ClickArrayPaths& train,
                                 const std::optional<ClickArrayPaths>& evaluation,
                                 std::vector<std::int64_t> rows)
    : files_{ClickArrays(train)} {
  const ClickArrays& first = files_.train;
  if (rows.empty()) rows = first.counts();
  if (rows.size() != first.tables() || !rows_fit(rows))
    throw Error(ErrorKind::usage,
                fmt::format("rows for {} tables, and ids for {}", rows.size(), first.tables()),
                "state the rows of every table, each 1 to 2147483647");
  shape_ = {.dense = static_cast<int>(first.features()),
            .rows = std::move(rows),
            .lookups = std::vector<int>(first.tables(), 1)};
  if (!evaluation) return;
  const ClickArrays& second = files_.evaluation.emplace(*evaluation);
  if (second.features() != first.features() || second.tables() != first.tables())
    throw Error(ErrorKind::input,
                fmt::format("{} features and {} tables to train on, {} and {} to evaluate on",
                            first.features(), first.tables(), second.features(), second.tables()),
                "both are made of the same log in the same way");
}

std::optional<std::uint64_t> ClickArrayFiles::size(Split split) const {
  const ClickArrays* from = files_.of(split);
  return from == nullptr ? 0 : from->size();
}

void ClickArrayFiles::read(Split split, std::uint64_t index, ClickSample& sample) const {
  check_fits(sample, shape_);
  const ClickArrays* from = files_.of(split);
  if (from == nullptr || index >= from->size())
    throw Error(ErrorKind::internal, fmt::format("sample {} of {}", index, *size(split)));
  from->read(index, sample, shape_);
}

}  // namespace bench::training
