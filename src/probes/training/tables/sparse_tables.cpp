#include "probes/training/tables/sparse_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "probes/training/tables/rank_exchange.h"
#include "probes/training/workloads/workload.h"

namespace bench::training {
namespace {

void check_embeddings(View view, std::int64_t columns) {
  if (view.dtype != Dtype::f32 || view.columns != columns)
    throw Error(ErrorKind::input,
                fmt::format("the model expects {} embeddings with {} columns, the tables hold f32 with {}",
                            to_string(view.dtype), view.columns, columns),
                "train in f32");
}

}  // namespace

Var input_with_gradient(const Model& model) {
  for (const Var& input : model.inputs)
    if (model.graph->tensors()[static_cast<std::size_t>(input.id)].wants_gradient) return input;
  throw Error(ErrorKind::internal, "the model has no input with a gradient",
              "create one with Graph::input_with_gradient()");
}

void SparseTables::gather(Split split, std::uint64_t first, std::int64_t count) {
  batch_.begin(split, first, count);
  allocate_buffers();
  collected_ = 0;
  share(count, [&](int thread, std::int64_t from, std::int64_t to) {
    batch_.read(from, to);
    if (alone())
      pool_bags(kernels_[static_cast<std::size_t>(thread)], from, to);
    else
      route_ids(from, to);
  });
  if (alone()) return;
  exchange(*group_, routed_, requested_, count * split_.ids);
  share(count * group_->size(), [&](int thread, std::int64_t from, std::int64_t to) {
    pool_bags(kernels_[static_cast<std::size_t>(thread)], from, to);
  });
  exchange(*group_, summed_, looked_up_, count * split_.columns);
}

void SparseTables::allocate_buffers() {
  const auto grow = [](auto& buffer, std::int64_t elements) {
    if (static_cast<std::int64_t>(buffer.size()) < elements)
      buffer.resize(static_cast<std::size_t>(elements));
  };
  const std::int64_t samples = batch_.count() * group_->size();
  grow(looked_up_, samples * split_.columns);
  grow(gradients_, samples * split_.columns);
  if (alone()) return;
  grow(routed_, samples * split_.ids);
  grow(requested_, samples * split_.ids);
  grow(summed_, samples * split_.columns);
  grow(received_, samples * split_.columns);
}

void SparseTables::route_ids(std::int64_t from, std::int64_t to) {
  for (const TableShard& shard : split_.shards) {
    std::int32_t* out = routed_.data() + shard.rank * batch_.count() * split_.ids + shard.ids_at;
    for (std::int64_t at = from; at < to; ++at)
      std::copy_n(batch_.ids(at) + shard.first_table_id, shard.lookups, out + at * split_.ids);
  }
}

BagIds SparseTables::shard_ids(const TableShard& shard, std::int64_t from, std::int64_t to) const {
  const std::int32_t* ids = alone() ? batch_.ids(0) : requested_.data();
  return {ids + from * split_.ids + shard.ids_at, to - from, shard.lookups, split_.ids};
}

void SparseTables::pool_bags(const KernelSet& kernels, std::int64_t from, std::int64_t to) {
  float* out = (alone() ? looked_up_ : summed_).data() + from * split_.columns;
  for (const TableRows& rows : rows_) {
    const TableShard& shard = rows.shard();
    kernels.bags->pool(shard_ids(shard, from, to), rows.values(), shard.first_row,
                       out + shard.column_at, split_.columns);
  }
}

float* SparseTables::block(Numbers& numbers, int rank, std::int64_t at) const {
  return numbers.data() + (rank * batch_.count() + at) * split_.columns;
}

const float* SparseTables::block(const Numbers& numbers, int rank, std::int64_t at) const {
  return numbers.data() + (rank * batch_.count() + at) * split_.columns;
}

void SparseTables::copy(Split split, std::uint64_t first, View embeddings) const {
  const auto tables = static_cast<std::int64_t>(shapes_.size());
  check_embeddings(embeddings, tables * options_.columns);
  const std::int64_t begin = batch_.place(split, first);
  const std::int64_t count = std::min(embeddings.rows, batch_.count() - begin);
  // The last part of an evaluation may be short: rows beyond it are not read.
  if (split == Split::train && count > 0)
    batch_.place(split, first + static_cast<std::uint64_t>(embeddings.rows) - 1);
  float* out = embeddings.as<float>();
  std::fill(out + count * embeddings.columns, out + embeddings.elements(), 0.0f);
  if (alone()) {
    std::copy_n(block(looked_up_, 0, begin), count * embeddings.columns, out);
    return;
  }
  for (const TableShard& shard : split_.shards)
    for (std::int64_t i = 0; i < count; ++i) {
      const float* in = block(looked_up_, shard.rank, begin + i) + shard.column_at;
      float* row = out + i * embeddings.columns + shard.table * options_.columns;
      for (std::int64_t j = 0; j < options_.columns; ++j)
        row[j] = shard.first_of_table ? in[j] : row[j] + in[j];
    }
}

void SparseTables::collect(const Lane& lane, const Model& model, std::uint64_t first) {
  collect(gradient_of(lane, model), first);
}

View SparseTables::gradient_of(const Lane& lane, const Model& model) {
  View gradient = lane.gradient(input_with_gradient(model));
  if (lane.memory().on_host()) return gradient;
  const std::int64_t bytes =
      gradient.elements() * static_cast<std::int64_t>(size_of(gradient.dtype));
  if (downloaded_.bytes() < bytes)
    downloaded_ = MemoryBlock::staging(bytes, "embedding gradients", lane.kernels().memory);
  lane.memory().download(gradient.data, downloaded_.data(), bytes);
  gradient.data = downloaded_.data();
  return gradient;
}

void SparseTables::collect(View gradient, std::uint64_t first) {
  check_embeddings(gradient, static_cast<std::int64_t>(shapes_.size()) * options_.columns);
  const std::int64_t begin = batch_.place(Split::train, first);
  batch_.place(Split::train, first + static_cast<std::uint64_t>(gradient.rows) - 1);
  collected_ += gradient.rows;
  const float* in = gradient.as<float>();
  if (alone()) {
    std::copy_n(in, gradient.elements(), block(gradients_, 0, begin));
    return;
  }
  for (const TableShard& shard : split_.shards)
    for (std::int64_t i = 0; i < gradient.rows; ++i)
      std::copy_n(in + i * gradient.columns + shard.table * options_.columns, options_.columns,
                  block(gradients_, shard.rank, begin + i) + shard.column_at);
}

void SparseTables::update(double rate, double scale) {
  exchange_gradients();
  const std::int64_t samples = batch_.count() * group_->size();
  const bool watched = rate > 0.0 && scale > 0.0;
  for (std::size_t i = 0; watched && i < rows_.size(); ++i)
    watch_.remember(i, rows_[i], shard_ids(rows_[i].shard(), 0, samples));
  workers_->run([&](int thread) {
    const auto at = static_cast<std::size_t>(thread);
    for (RowUpdate& update : updates_[at]) {
      const TableShard& shard = update.shard();
      update.apply(
          kernels_[at],
          {shard_ids(shard, 0, samples), (alone() ? gradients_ : received_).data() + shard.column_at,
           split_.columns, rate * options_.rate_factor, scale, options_.epsilon});
    }
  });
  for (std::size_t i = 0; watched && i < rows_.size(); ++i) watch_.compare(i, rows_[i]);
  watch_.end_update();
}

}  // namespace bench::training
