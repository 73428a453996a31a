#include "training/tables/sparse_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "training/tables/rank_exchange.h"

namespace bench::training {

SparseTables::SparseTables(const ClickSource& source, const SparseOptions& options)
    : options_(options), batch_(source) {
  for (std::size_t i = 0; i < source.shape().rows.size(); ++i)
    shapes_.push_back({source.shape().rows[i], source.shape().lookups[i]});
}

void SparseTables::join(Group& group, WorkerPool& pool, const KernelFactory& kernels) {
  group_ = &group;
  workers_ = &pool;
  if (!alone() && !group.collectives())
    throw Error(ErrorKind::environment,
                "embedding tables are split over " + std::to_string(group.size()) +
                    " ranks, but no collectives are available",
                "start the ranks with mpirun or train on one rank");
  split_ = split_tables(shapes_, options_.columns, group.size(), options_.whole_rows);
  rows_.clear();
  for (const TableShard& shard : split_.shards)
    if (shard.rank == group.rank()) rows_.emplace_back(shard, options_.columns);
  for (TableRows& rows : rows_)
    share(rows.shard().rows, [&](int, std::int64_t from, std::int64_t to) {
      rows.fill(options_.seed, options_.deviation, from, to);
    });
  kernels_.clear();
  for (int thread = 0; thread < pool.size(); ++thread) kernels_.push_back(kernels(Dtype::f32));
  for (const KernelSet& set : kernels_)
    if (!set.bags || !set.memory->on_host())
      throw Error(ErrorKind::internal, "embedding tables need host kernels",
                  "set TrainerOptions::host_kernels");
  make_updates();
}

/// Distributes parts of tables over threads, the largest first, to the least loaded thread.
void SparseTables::make_updates() {
  const int threads = workers_->size();
  const double lookups =
      std::accumulate(rows_.begin(), rows_.end(), 0.0,
                      [](double sum, const TableRows& rows) { return sum + rows.shard().lookups; });
  slots_.clear();
  std::vector<RowUpdate> updates;
  for (const TableRows& rows : rows_)
    slots_.emplace_back(static_cast<std::size_t>(rows.shard().rows), -1);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double share = rows_[i].shard().lookups * threads / lookups;
    const int parts = std::clamp(static_cast<int>(std::ceil(share)), 1, threads);
    for (int part = 0; part < parts; ++part) updates.emplace_back(rows_[i], slots_[i], part, parts);
  }
  std::stable_sort(updates.begin(), updates.end(),
                   [](const auto& a, const auto& b) { return a.cost() > b.cost(); });
  updates_.assign(static_cast<std::size_t>(threads), {});
  std::vector<double> load(static_cast<std::size_t>(threads));
  for (RowUpdate& update : updates) {
    const auto least =
        static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[least] += update.cost();
    updates_[least].push_back(std::move(update));
  }
}

std::uint64_t SparseTables::hash() const {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(workers_->size()));
  for (const TableRows& rows : rows_)
    share(rows.shard().rows, [&](int thread, std::int64_t from, std::int64_t to) {
      sums[static_cast<std::size_t>(thread)] += rows.hash(from, to);
    });
  return sum_over_ranks(*group_, std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}));
}

std::int64_t SparseTables::parameter_count() const {
  std::int64_t rows = 0;
  for (const TableShape& table : shapes_) rows += table.rows;
  return rows * options_.columns;
}

std::int64_t SparseTables::table_bytes() const {
  std::int64_t bytes = 0;
  for (const TableRows& rows : rows_) bytes += rows.bytes();
  return bytes;
}

std::int64_t SparseTables::buffer_bytes() const {
  std::size_t elements = 0;
  for (const Ids* buffer : {&routed_, &requested_}) elements += buffer->size();
  for (const Numbers* buffer : {&summed_, &looked_up_, &gradients_, &received_})
    elements += buffer->size();
  for (const RowSlots& slots : slots_) elements += slots.size();
  return static_cast<std::int64_t>(elements * sizeof(float)) + batch_.bytes() + downloaded_.bytes();
}

void SparseTables::exchange_gradients() {
  if (collected_ != batch_.count())
    throw Error(ErrorKind::internal,
                fmt::format("embedding tables received the gradients of {} samples, expected {}",
                            collected_.load(), batch_.count()),
                "call collect() once after each micro-batch's backward pass");
  collected_ = -1;
  if (!alone()) exchange(*group_, gradients_, received_, batch_.count() * split_.columns);
}

double SparseTables::gradient_distance(View gradient, int rank, std::uint64_t first) const {
  const std::int64_t begin = batch_.place(Split::train, first);
  double difference = 0.0, length = 0.0;
  for (const TableRows& rows : rows_)
    for (std::int64_t i = 0; i < gradient.rows; ++i) {
      const TableShard& shard = rows.shard();
      const float* right =
          gradient.as<float>() + i * gradient.columns + shard.table * options_.columns;
      const float* came =
          block(alone() ? gradients_ : received_, rank, begin + i) + shard.column_at;
      for (std::int64_t j = 0; j < options_.columns; ++j) {
        const double off = static_cast<double>(came[j]) - right[j];
        difference += off * off;
        length += static_cast<double>(right[j]) * right[j];
      }
    }
  const double relative = difference == 0.0 ? 0.0 : std::sqrt(difference / length);
  return std::isfinite(relative) ? relative : std::numeric_limits<double>::max();
}

namespace {

void check_embeddings(View view, std::int64_t columns) {
  if (view.dtype != Dtype::f32 || view.columns != columns)
    throw Error(
        ErrorKind::input,
        fmt::format("the model expects {} embeddings with {} columns, the tables hold f32 with {}",
                    to_string(view.dtype), view.columns, columns),
        "train in f32");
}

}  // namespace

Var input_with_gradient(const Model& model) {
  for (const Var& input : model.inputs)
    if (model.graph->tensor(input.id).wants_gradient) return input;
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
      update.apply(kernels_[at],
                   {shard_ids(shard, 0, samples),
                    (alone() ? gradients_ : received_).data() + shard.column_at, split_.columns,
                    rate * options_.rate_factor, scale, options_.epsilon});
    }
  });
  for (std::size_t i = 0; watched && i < rows_.size(); ++i) watch_.compare(i, rows_[i]);
  watch_.end_update();
}

}  // namespace bench::training
