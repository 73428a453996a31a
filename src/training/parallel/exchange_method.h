// What data-parallel ranks exchange: the whole gradient of every step, a compressed one, or only
// the result of many local steps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "training/engine/plan.h"

namespace bench::training {

enum class ExchangeKind {
  full,      // the sum of all ranks' gradients
  topk,      // the largest elements of each tensor (deep gradient compression, arXiv 1712.01887)
  powersgd,  // low-rank factors of each matrix (PowerSGD, arXiv 1905.13727)
  local      // parameters, after many steps of each rank alone (DiLoCo, arXiv 2311.08105)
};
std::string_view to_string(ExchangeKind kind);
/// Throws Error(input) for an unknown name.
ExchangeKind exchange_kind_from(std::string_view name);

struct ExchangeMethod {
  ExchangeKind kind = ExchangeKind::full;
  double share = 0.01;            // of topk: of the elements of each tensor, at least one
  int rank = 4;                   // of powersgd: columns of a matrix's factors
  std::int64_t local_steps = 32;  // of local: between two averages
  double outer_rate = 0.7, outer_momentum = 0.9;  // of local: DiLoCo's Nesterov step

  /// Whether each step exchanges a compressed gradient, with error feedback.
  bool compresses() const { return kind == ExchangeKind::topk || kind == ExchangeKind::powersgd; }
  bool is_local() const { return kind == ExchangeKind::local; }
};

/// "topk=0.01", "powersgd=4", "local=32", with ",rate=" and ",momentum=" if they are not DiLoCo's;
/// "" for full.
std::string text_of(const ExchangeMethod& method);

/// A trainable parameter in the row of gradients.
struct RowTensor {
  std::int64_t first = 0;  // element of the row
  std::int64_t rows = 1, columns = 0;
  int tensor = -1;  // of the graph
  std::int64_t elements() const { return rows * columns; }
};
/// In the order of the row.
std::vector<RowTensor> row_tensors(const Plan& plan);

/// Of a tensor by topk: ceil(share x elements), at least 1.
std::int64_t sent_elements(const ExchangeMethod& method, std::int64_t elements);
/// Columns of the factors P [rows, rank] and Q [columns, rank] of a matrix by powersgd; 0 if the
/// tensor is a vector or has no more elements than its factors: it is then exchanged as it is.
std::int64_t factor_rank(const ExchangeMethod& method, const RowTensor& tensor);

/// What a rank contributes to the exchange in one step (local: averaged over steps), in bytes: the
/// payload, not what an algorithm sends on. A gather brings each rank that much from all others.
double exchanged_bytes(const ExchangeMethod& method, const Plan& plan);

/// Bytes that a rank keeps from step to step for a row of so many elements: the residual of error
/// feedback, or the common parameters and the outer momentum of local steps.
std::int64_t kept_bytes(const ExchangeMethod& method, std::int64_t elements, Dtype dtype);
/// The label of those bytes in the memory of a run; "" for full.
std::string_view kept_label(const ExchangeMethod& method);

}  // namespace bench::training
