#include "training/tables/click_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/error.h"

namespace bench::training {

ClickBatch::ClickBatch(const ClickSource& source)
    : source_(source), dense_width_(source.shape().dense), ids_width_(source.shape().ids()) {}

void ClickBatch::begin(Split split, std::uint64_t first, std::int64_t count) {
  split_ = split;
  first_ = first;
  count_ = count;
  const auto samples = static_cast<std::size_t>(count);
  if (labels_.size() >= samples) return;
  dense_.resize(samples * static_cast<std::size_t>(dense_width_));
  ids_.resize(samples * static_cast<std::size_t>(ids_width_));
  labels_.resize(samples);
  probability_.resize(samples);
  main_effects_.resize(samples);
}

void ClickBatch::read(std::int64_t from, std::int64_t to) {
  ClickSample sample;
  for (std::int64_t i = from; i < to; ++i) {
    const auto at = static_cast<std::size_t>(i);
    sample.dense = {dense_.data() + i * dense_width_, static_cast<std::size_t>(dense_width_)};
    sample.ids = {ids_.data() + i * ids_width_, static_cast<std::size_t>(ids_width_)};
    source_.read(split_, first_ + at, sample);
    labels_[at] = sample.label;
    probability_[at] = sample.probability;
    main_effects_[at] = sample.main_effects;
    check_ids(i);
  }
}

std::string ClickBatch::changed() const {
  std::vector<float> dense(static_cast<std::size_t>(dense_width_));
  std::vector<std::int32_t> ids(static_cast<std::size_t>(ids_width_));
  ClickSample sample{.dense = dense, .ids = ids};
  for (std::int64_t i = 0; i < count_; ++i) {
    source_.read(split_, first_ + static_cast<std::uint64_t>(i), sample);
    const char* what = !std::ranges::equal(ids, std::span(this->ids(i), ids.size())) ? "IDs"
                       : !std::ranges::equal(dense, std::span(this->dense(i), dense.size()))
                           ? "dense features"
                       : sample.label != label(i) ? "label"
                                                  : nullptr;
    if (what != nullptr)
      return fmt::format("{} of sample {} changed after it was read", what,
                         first_ + static_cast<std::uint64_t>(i));
  }
  return "";
}

void ClickBatch::check_ids(std::int64_t at) const {
  const ClickShape& shape = source_.shape();
  const std::int32_t* id = ids(at);
  for (std::size_t table = 0; table < shape.rows.size(); ++table)
    for (int i = 0; i < shape.lookups[table]; ++i, ++id)
      if (*id < 0 || *id >= shape.rows[table])
        throw Error(
            ErrorKind::input,
            fmt::format("sample {} has ID {} outside table {} with {} rows",
                        first_ + static_cast<std::uint64_t>(at), *id, table, shape.rows[table]),
            "set the table rows to match the data");
}

std::int64_t ClickBatch::place(Split split, std::uint64_t number) const {
  const std::uint64_t at = number - first_;
  if (split != split_ || number < first_ || at >= static_cast<std::uint64_t>(count_))
    throw Error(
        ErrorKind::internal,
        fmt::format("sample {} is not in the gathered batch, which starts at {} and has {} samples",
                    number, first_, count_),
        "call SparseTables::gather() before each step and each evaluation block");
  return static_cast<std::int64_t>(at);
}

std::int64_t ClickBatch::bytes() const {
  return static_cast<std::int64_t>((dense_.size() + labels_.size()) * sizeof(float) +
                                   ids_.size() * sizeof(std::int32_t) +
                                   2 * probability_.size() * sizeof(double));
}

}  // namespace bench::training
