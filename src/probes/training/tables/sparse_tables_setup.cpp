// Setup and sizes of SparseTables.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "probes/training/tables/rank_exchange.h"
#include "probes/training/tables/sparse_tables.h"

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

}  // namespace bench::training
