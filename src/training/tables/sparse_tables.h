// Embedding tables split over ranks: too large for a graph, and a step touches few of their rows.
//
//   tables.join(group, pool, kernels)               once
//   tables.gather(split, first, count)              before a step, and before evaluation
//   tables.copy(...)                                in fill: copies embeddings to a lane's input
//   tables.collect(lane, model, first)              after each micro-batch's backward pass
//   tables.update(rate, scale)                      after the step
//
// Each rank has its own samples and its own rows: IDs are sent to the owners of the rows, sums of
// rows are returned, and gradients take the path of the IDs (all-to-all with equal block sizes, so
// every rank must gather the same number of samples). The number of ranks and threads changes
// values only by the rounding of sums: of tables split by rows, and of the models' gradients.
//
// Tables are in host memory, and host threads look up rows, wherever the model computes:
// a lane on a device uploads the embeddings and downloads their gradient.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "devices/group.h"
#include "training/engine/graph.h"
#include "training/engine/lane.h"
#include "training/engine/worker_pool.h"
#include "training/tables/click_batch.h"
#include "training/tables/row_update.h"
#include "training/tables/table_split.h"

namespace bench::training {

struct SparseOptions {
  std::int64_t columns = 0;     // of every table
  double deviation = 0.1;       // of the initial values
  double rate_factor = 1.0;     // Adagrad's rate over the rate passed to update()
  double epsilon = 1e-8;        // of Adagrad
  std::uint64_t seed = 1;       // of the initial values
  std::int64_t whole_rows = 0;  // split_tables()
};

/// The model input that tables fill. Throws Error(internal) if there is none.
Var input_with_gradient(const Model& model);

class SparseTables {
 public:
  /// The source is borrowed.
  SparseTables(const ClickSource& source, const SparseOptions& options);
  SparseTables(const SparseTables&) = delete;
  SparseTables& operator=(const SparseTables&) = delete;

  /// Splits the tables over the group and fills them; call on every rank. `kernels` are the
  /// host's. Group and pool must outlive this. Throws Error(environment) if several ranks have no
  /// collectives.
  void join(Group& group, WorkerPool& pool, const KernelFactory& kernels);

  /// Reads this rank's samples first to first + count - 1 and looks up their rows. Call on all
  /// ranks together, with the same count.
  void gather(Split split, std::uint64_t first, std::int64_t count);
  /// The samples of the last gather().
  const ClickBatch& batch() const { return batch_; }
  /// Sums of rows of gathered samples first, first + 1, ...: [samples, tables x columns] in f32,
  /// table by table. Threads may copy at once.
  void copy(Split split, std::uint64_t first, View embeddings) const;

  /// Takes the embedding gradient of gathered samples first, ...; threads may call it concurrently
  /// for different samples.
  void collect(const Lane& lane, const Model& model, std::uint64_t first);
  void collect(View gradient, std::uint64_t first);
  /// A lane's embedding gradient in host memory; for a device's lane valid until the next call.
  View gradient_of(const Lane& lane, const Model& model);
  /// Row-wise Adagrad with the gradients of all ranks times `scale`. Every rank calls it. Throws
  /// Error(internal) unless every gathered sample's gradient was collected once.
  void update(double rate, double scale = 1.0);

  /// The first half of update(), for a check: sends collected gradients to the owners of the rows.
  void exchange_gradients();
  /// The relative distance between two gradients of this rank's rows: the one that `rank` sent for
  /// its samples first, ..., and `gradient` of the same samples, now gathered on this rank.
  double gradient_distance(View gradient, int rank, std::uint64_t first) const;

  /// A hash of values and state over all ranks, independent of the split. Call on every rank.
  std::uint64_t hash() const;
  /// The check that this rank's updates change the tables.
  const TableWatch& watch() const { return watch_; }

  const std::vector<TableShape>& shapes() const { return shapes_; }
  const TableSplit& split() const { return split_; }
  /// This rank's.
  const std::vector<TableRows>& rows() const { return rows_; }
  /// Elements of all tables of all ranks.
  std::int64_t parameter_count() const;
  /// Of this rank: tables with the optimizer's state; buffers of a step.
  std::int64_t table_bytes() const;
  std::int64_t buffer_bytes() const;

 private:
  using Ids = std::vector<std::int32_t>;
  using Numbers = std::vector<float>;

  void make_updates();
  void allocate_buffers();
  void route_ids(std::int64_t from, std::int64_t to);
  void pool_bags(const KernelSet& kernels, std::int64_t from, std::int64_t to);
  BagIds shard_ids(const TableShard& shard, std::int64_t from, std::int64_t to) const;
  bool alone() const { return group_->size() == 1; }
  /// The numbers of one rank's sample in a buffer.
  auto* block(auto& numbers, int rank, std::int64_t at) const {
    return numbers.data() + (rank * batch_.count() + at) * split_.columns;
  }
  /// work(thread, from, to) for every thread's part of 0 to count - 1.
  template <class Work>
  void share(std::int64_t count, const Work& work) const {
    const int threads = workers_->size();
    workers_->run([&](int thread) {
      work(thread, count * thread / threads, count * (thread + 1) / threads);
    });
  }

  SparseOptions options_;
  std::vector<TableShape> shapes_ = {};
  ClickBatch batch_;
  TableSplit split_ = {};
  Group* group_ = nullptr;
  WorkerPool* workers_ = nullptr;
  std::vector<KernelSet> kernels_ = {};               // by thread
  std::vector<TableRows> rows_ = {};                  // this rank's shards
  std::vector<RowSlots> slots_ = {};                  // by shard
  std::vector<std::vector<RowUpdate>> updates_ = {};  // by thread

  // [rank][sample][ids or columns of that rank]; `requested_` and `summed_` are of the other ranks'
  // samples and this rank's rows.
  Ids routed_ = {}, requested_ = {};
  Numbers summed_ = {}, looked_up_ = {};
  Numbers gradients_ = {}, received_ = {};
  MemoryBlock downloaded_ = {};  // a device's gradient of one micro-batch
  std::atomic<std::int64_t> collected_{0};
  TableWatch watch_ = {};
};

}  // namespace bench::training
