// How ClickModel makes a sample and its true log-odds, as functions that a GPU kernel can call too.
// What a row of a table does to a click is a hash of (table, id): tables may have any size and
// nothing of them is stored. Ids and features are the same bits everywhere; log-odds are sums in a
// fixed order of f64.
#pragma once

#include <cstdint>

#include "core/elements.h"
#include "probes/training/sources/random.h"
#include "probes/training/sources/zipf.h"

namespace bench::training {

inline constexpr int kFactors = 4;  // rank of the interactions

/// A row of a table, and what it does to a click.
struct ClickRow {
  std::int32_t id = 0;
  float main = 0;                // by itself
  float factors[kFactors] = {};  // by its product with other tables'
};

struct ClickTable {
  ZipfView ranks = {};
  std::uint32_t rows = 0;
  std::uint32_t lookups = 1;
  std::uint32_t stride = 1;  // id of rank r: r * stride mod rows, so that frequent rows are spread
  double scale = 1;  // 1 / sqrt(lookups): a table of many lookups decides no more than another
  const ClickRow* frequent = nullptr;  // row_of() the first ranks, kept because it takes 30 ns
  std::uint32_t frequent_count = 0;
};

struct ClickTables {
  const ClickTable* tables = nullptr;
  const double* weights = nullptr;  // of the dense features
  int count = 0, dense = 0;
  double bias = 0, curve = 0;  // curve: of the square of the first dense feature
  double main = 0, interaction = 0;
  double tail = 0;         // rank at which effects are half as large; 0: all are alike
  std::uint64_t seed = 0;  // of the effects
};

struct ClickLogOdds {
  double main = 0;  // without interactions
  double all = 0;
};

constexpr ClickRow row_of(const ClickTables& model, std::uint32_t table, std::uint32_t rank) {
  const ClickTable& from = model.tables[table];
  const std::uint64_t id = std::uint64_t{rank} * from.stride % from.rows;
  const RandomStream stream = random_stream(model.seed, std::uint64_t{table} << 32 | id);
  const double scale = from.scale * (model.tail > 0 ? model.tail / (model.tail + rank) : 1);
  ClickRow row{.id = static_cast<std::int32_t>(id),
               .main = static_cast<float>(model.main * scale * random_normal(stream.key, 0)),
               .factors = {}};
  for (int k = 0; k < kFactors; ++k)
    row.factors[k] =
        static_cast<float>(scale * random_normal(stream.key, static_cast<std::uint64_t>(k) + 1));
  return row;
}

/// Writes dense features and ids from the sample's stream; its number 0 is left for the label.
/// Pairs of tables interact: sum over f < g of <u_f, u_g> = (|sum u|^2 - sum |u|^2) / 2 (Rendle
/// 2010).
constexpr ClickLogOdds draw_click(const ClickTables& model, RandomStream stream, float* dense,
                                  std::int32_t* ids) {
  double main = model.bias;
  std::uint64_t word = 1;
  for (int i = 0; i < model.dense; ++i, ++word) {
    dense[i] = static_cast<float>(random_normal(stream.key, word));
    main += model.weights[i] * dense[i];
  }
  if (model.dense > 0) main += model.curve * (static_cast<double>(dense[0]) * dense[0] - 1);
  double sum[kFactors] = {}, squares = 0;
  for (int f = 0; f < model.count; ++f) {
    const ClickTable& table = model.tables[f];
    double own[kFactors] = {};
    for (std::uint32_t i = 0; i < table.lookups; ++i, ++word) {
      const std::uint32_t rank = table.ranks.draw(stream.bits(word));
      const ClickRow row = rank < table.frequent_count
                               ? table.frequent[rank]
                               : row_of(model, static_cast<std::uint32_t>(f), rank);
      *ids++ = row.id;
      main += row.main;
      for (int k = 0; k < kFactors; ++k) own[k] += row.factors[k];
    }
    for (int k = 0; k < kFactors; ++k) {
      sum[k] += own[k];
      squares += own[k] * own[k];
    }
  }
  double pairs = -squares;
  for (const double s : sum) pairs += s * s;
  return {main, main + model.interaction * 0.5 * pairs};
}

}  // namespace bench::training
