#include "training/sources/click_arrays.h"

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
    for (const auto& [path, array] :
         {std::pair{paths.dense, &dense_}, std::pair{paths.labels, &labels_}}) {
      files_.emplace_back(path);
      *array = read_npy(files_.back().bytes(), path);
    }
    open_ids(paths.ids);
  }
  for (const NpyArray& ids : ids_) check_ids(ids);
  count_lookups();
}

NpzFile& ClickArrays::open_archive(const std::string& path) {
  files_.emplace_back(path);
  npz_ = std::make_unique<NpzFile>(files_.back().bytes(), path);
  return *npz_;
}

void ClickArrays::open_npz(const std::string& path) {
  name_ = path;
  NpzFile& npz = open_archive(path);
  dense_ = npz.array("X_int");
  ids_ = {npz.array("X_cat")};
  labels_ = npz.array("y");
  if (npz.has("counts")) counts_ = npz.array("counts");
}

void ClickArrays::open_ids(const std::string& path) {
  if (!path.ends_with(".npz")) {
    files_.emplace_back(path);
    ids_ = {read_npy(files_.back().bytes(), path)};
    return;
  }
  NpzFile& npz = open_archive(path);
  multi_hot_ = true;
  for (std::size_t table = 0; npz.has(std::to_string(table)); ++table)
    ids_.push_back(npz.array(std::to_string(table)));
  if (ids_.empty() || ids_.size() != npz.names().size())
    throw Error(ErrorKind::input,
                fmt::format("{}: {} arrays, {} of them numbered tables", path, npz.names().size(),
                            ids_.size()),
                "a multi-hot archive must contain only the arrays 0, 1, ... of its tables");
}

void ClickArrays::count_lookups() {
  for (const NpyArray& ids : ids_) {
    const auto columns = static_cast<std::size_t>(ids.shape[1]);
    if (multi_hot_)
      lookups_.push_back(static_cast<int>(columns));
    else
      lookups_.assign(columns, 1);
  }
  if (counts_ && (!is_integer(*counts_) || counts_->elements() != tables()))
    throw Error(ErrorKind::input,
                fmt::format("{}: counts of shape {} do not match {} tables", name_,
                            shape_text(*counts_), tables()),
                "counts must hold the integer number of rows of each table");
}

void ClickArrays::check_ids(const NpyArray& ids) const {
  constexpr std::uint64_t kMostColumns = 1 << 20;
  const bool fits = dense_.shape.size() == 2 && ids.shape.size() == 2 && !labels_.shape.empty() &&
                    dense_.shape[0] == ids.shape[0] && dense_.shape[0] == labels_.shape[0] &&
                    labels_.elements() == labels_.shape[0] && labels_.elements() > 0 &&
                    ids.shape[1] > 0 && ids.shape[1] <= kMostColumns;
  if (!fits)
    throw Error(ErrorKind::input,
                fmt::format("{}: dense features, IDs and labels have shapes {}, {} and {}", name_,
                            shape_text(dense_), shape_text(ids), shape_text(labels_)),
                "expected [n, features], [n, tables or lookups] and [n] with the same n above 0");
  if (!is_integer(ids))
    throw Error(ErrorKind::input, name_ + ": IDs are floating-point numbers",
                "save them as integers");
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
                "labels must be 0 or 1");
  sample.label = static_cast<float>(label);
  for (std::size_t i = 0; i < sample.dense.size(); ++i)
    sample.dense[i] = dense_value(dense_, index * sample.dense.size() + i);
  auto to = sample.ids.begin();
  for (std::size_t table = 0; table < tables(); ++table)
    for (int i = 0; i < lookups_[table]; ++i) {
      const std::int64_t id = id_of(index, table, i);
      if (id < 0 || id >= shape.rows[table])
        throw Error(ErrorKind::input,
                    fmt::format("{}: ID {} of sample {} is outside the {} rows of table {}", name_,
                                id, index, shape.rows[table], table),
                    "set the number of rows that the IDs were generated for");
      *to++ = static_cast<std::int32_t>(id);
    }
}

std::int64_t ClickArrays::id_of(std::uint64_t index, std::size_t table, int lookup) const {
  if (!multi_hot_) return ids_.front().integer(index * tables() + table);
  const auto lookups = static_cast<std::uint64_t>(lookups_[table]);
  return ids_[table].integer(index * lookups + static_cast<std::uint64_t>(lookup));
}

ClickArrayFiles::ClickArrayFiles(const ClickArrayPaths& train,
                                 const std::optional<ClickArrayPaths>& evaluation,
                                 std::vector<std::int64_t> rows)
    : ClickFiles(ClickArrays(train)) {
  const ClickArrays& first = train_;
  if (rows.empty()) rows = first.counts();
  if (rows.size() != first.tables() || !rows_fit(rows))
    throw Error(
        ErrorKind::usage,
        fmt::format("rows given for {} tables, but IDs for {}", rows.size(), first.tables()),
        "set the rows of every table, each 1 to 2147483647");
  shape_ = {.dense = static_cast<int>(first.features()),
            .rows = std::move(rows),
            .lookups = first.lookups()};
  if (!evaluation) return;
  const ClickArrays& second = evaluation_.emplace(*evaluation);
  if (second.features() != first.features() || second.lookups() != first.lookups())
    throw Error(
        ErrorKind::input,
        fmt::format(
            "training data has {} features and tables of {} lookups, evaluation data {} and "
            "{}",
            first.features(), fmt::join(first.lookups(), ","), second.features(),
            fmt::join(second.lookups(), ",")),
        "create both from the same log in the same way");
}

}  // namespace bench::training
