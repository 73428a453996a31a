// Embedding tables: equal on one rank and on several, and equal to a plain implementation.
#include "training/tables/sparse_tables.h"

#include <cmath>
#include <map>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "training/host/host_kernels.h"
#include "training/sources/click_model.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

constexpr std::int64_t kTableColumns = 5;
constexpr std::int64_t kTableSamples = 24;  // of a step, over all ranks

KernelSet table_kernels(Dtype dtype) { return host_kernels(dtype); }

ClickModelOptions table_clicks() {
  ClickModelOptions options;
  options.shape.dense = 2;
  options.shape.rows = {3, 50, 7, 4, 19};
  options.shape.lookups = {1, 3, 2, 1, 5};
  return options;
}

/// A gradient that depends on sample and column alone.
float gradient_at(std::uint64_t sample, std::int64_t column) {
  return std::sin(static_cast<float>(sample * 31 + static_cast<std::uint64_t>(column)));
}

/// One rank's tables with threads of their own.
struct RankedTables {
  RankedTables(Group& group, std::int64_t whole_rows, int threads = 2)
      : source(table_clicks()), workers(threads), tables(source, options(whole_rows)) {
    tables.join(group, workers, table_kernels);
    each = kTableSamples / group.size();
    first = static_cast<std::uint64_t>(group.rank() * each);
  }
  static SparseOptions options(std::int64_t whole_rows) {
    SparseOptions options;
    options.columns = kTableColumns;
    options.whole_rows = whole_rows;
    return options;
  }
  std::vector<float> looked_up(Split split, std::uint64_t from, std::int64_t count) const {
    std::vector<float> sums(static_cast<std::size_t>(count * 5 * kTableColumns));
    tables.copy(split, from, {sums.data(), count, 5 * kTableColumns, Dtype::f32});
    return sums;
  }
  void step(std::uint64_t number, double rate = 0.1) {
    const std::uint64_t from = number * kTableSamples + first;
    tables.gather(Split::train, from, each);
    std::vector<float> gradient(static_cast<std::size_t>(each * 5 * kTableColumns));
    for (std::int64_t i = 0; i < each; ++i)
      for (std::int64_t j = 0; j < 5 * kTableColumns; ++j)
        gradient[static_cast<std::size_t>(i * 5 * kTableColumns + j)] =
            gradient_at(from + static_cast<std::uint64_t>(i), j);
    tables.collect({gradient.data(), each, 5 * kTableColumns, Dtype::f32}, from);
    tables.update(rate, 0.5);
  }

  ClickModel source;
  WorkerPool workers;
  SparseTables tables;
  std::int64_t each = 0;
  std::uint64_t first = 0;
};

/// Every rank's lookups of step 9, in order of the samples, after so many steps; and the hash.
struct TrainedTables {
  std::vector<float> sums;
  std::uint64_t hash = 0;
};
TrainedTables train_tables(int ranks, int steps, std::int64_t whole_rows, int threads = 2) {
  std::vector<TrainedTables> parts(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Group& group) {
    RankedTables mine(group, whole_rows, threads);
    for (int step = 0; step < steps; ++step) mine.step(static_cast<std::uint64_t>(step));
    const std::uint64_t from = 9 * kTableSamples + mine.first;
    mine.tables.gather(Split::train, from, mine.each);
    parts[static_cast<std::size_t>(group.rank())] = {mine.looked_up(Split::train, from, mine.each),
                                                     mine.tables.hash()};
  });
  TrainedTables all = parts[0];
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    all.sums.insert(all.sums.end(), parts[rank].sums.begin(), parts[rank].sums.end());
    CHECK(parts[rank].hash == all.hash);
  }
  return all;
}

}  // namespace

TEST_CASE("tables are bit-identical on 1 to 4 ranks, whole or split, for any threads") {
  const TrainedTables fresh = train_tables(1, 0, 0), one = train_tables(1, 4, 0);
  CHECK(fresh.hash != one.hash);
  for (const int ranks : {1, 2, 3, 4})
    for (const std::int64_t whole_rows : {0, 10}) {
      INFO(ranks << " ranks, tables above " << whole_rows << " rows are cut");
      CHECK(train_tables(ranks, 0, whole_rows).hash == fresh.hash);
      const TrainedTables many = train_tables(ranks, 4, whole_rows, ranks);
      CHECK(many.hash == one.hash);
      REQUIRE(many.sums.size() == one.sums.size());
      for (std::size_t i = 0; i < one.sums.size(); ++i)  // a cut table's sum is one of parts
        CHECK(many.sums[i] == Approx(one.sums[i]).margin(1e-6));
    }
}

TEST_CASE("row-wise Adagrad sums the gradients of a row's lookups before its step") {
  const std::unique_ptr<Group> group = make_self_group();
  {
    RankedTables mine(*group, 0);
    const auto row = [&](std::size_t table, std::int64_t id) {
      return mine.tables.rows()[table].values().as<float>() + id * kTableColumns;
    };
    // Table 1 has three lookups of a sample, of which frequent ones are equal.
    std::map<std::int64_t, std::vector<double>> wanted, sums;
    for (std::int64_t id = 0; id < 50; ++id)
      wanted[id].assign(row(1, id), row(1, id) + kTableColumns);
    std::map<std::int64_t, double> state;
    for (std::uint64_t step = 0; step < 3; ++step) {
      mine.step(step);
      sums.clear();
      for (std::int64_t i = 0; i < kTableSamples; ++i)
        for (int lookup = 0; lookup < 3; ++lookup) {
          auto& sum = sums[mine.tables.batch().ids(i)[1 + lookup]];
          sum.resize(kTableColumns);
          for (std::int64_t j = 0; j < kTableColumns; ++j)
            sum[static_cast<std::size_t>(j)] +=
                0.5 * gradient_at(step * kTableSamples + static_cast<std::uint64_t>(i),
                                  kTableColumns + j);
        }
      for (const auto& [id, sum] : sums) {
        double squares = 0;
        for (const double g : sum) squares += g * g / kTableColumns;
        state[id] += squares;
        for (std::size_t j = 0; j < sum.size(); ++j)
          wanted[id][j] -= 0.1 * sum[j] / std::sqrt(state[id]);
      }
    }
    double worst = 0;
    for (std::int64_t id = 0; id < 50; ++id)
      for (std::int64_t j = 0; j < kTableColumns; ++j)
        worst = std::max(worst, std::abs(row(1, id)[j] - wanted[id][static_cast<std::size_t>(j)]));
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("updates with missing gradients and samples never gathered are refused") {
  const std::unique_ptr<Group> group = make_self_group();
  RankedTables mine(*group, 0);
  mine.tables.gather(Split::train, 0, kTableSamples);
  std::vector<float> gradient(static_cast<std::size_t>(10 * 5 * kTableColumns));
  mine.tables.collect({gradient.data(), 10, 5 * kTableColumns, Dtype::f32}, 0);
  CHECK_THROWS_WITH(mine.tables.update(0.1), Contains("10 samples, expected 24"));
  CHECK_THROWS_WITH(mine.looked_up(Split::train, 20, 10), Contains("sample 29"));
  CHECK_THROWS_WITH(mine.looked_up(Split::evaluation, 0, 2), Contains("not in the gathered batch"));
}

TEST_CASE("whole tables are balanced by lookups, large ones split by rows") {
  const std::vector<TableShape> tables = {{100, 1}, {40'000'000, 20}, {50, 9}, {60, 8}, {70, 1}};
  const TableSplit split = split_tables(tables, 8, 2);
  std::map<int, int> lookups;
  std::map<int, std::int64_t> rows;
  for (const TableShard& shard : split.shards) {
    lookups[shard.rank] += shard.lookups;
    rows[shard.table] += shard.rows;
    CHECK(shard.first_of_table == (shard.first_row == 0));
  }
  for (std::size_t table = 0; table < tables.size(); ++table)
    CHECK(rows[static_cast<int>(table)] == tables[table].rows);
  CHECK(lookups[0] - lookups[1] <= 1);
  CHECK(lookups[1] - lookups[0] <= 1);
  CHECK(split.ids == 30);  // 20 of the cut one, and the larger of 10 and 9
  CHECK(split.columns == 24);
  CHECK_THROWS_WITH(split_tables({{0, 1}}, 8, 1), Contains("table 0 has 0 rows"));
}

}  // namespace bench::training
