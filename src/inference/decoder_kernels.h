// The inner loops of a decoder on a CPU: inputs times packed weights, and attention over blocks of
// cached keys and values. The instruction set is chosen at run time.
//
// Each result is computed by the same operations in the same order, whatever the other rows and the
// number of threads: a batch does not change a sequence.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "inference/packed_matrix.h"

namespace bench::inference {

/// Rows of inputs, rounded to 8 bits in blocks of kBlockRows columns: value = scale x integer.
struct RoundedRows {
  std::int8_t* values = nullptr;   // [rows, blocks x kBlockRows]
  float* scales = nullptr;         // [rows, blocks]
  std::int32_t* starts = nullptr;  // [rows, blocks]: -weight_offset x sum of the integers
};

/// to[row, column] = sum over i of from[row, i] weights[i, column], + bias[column], + to before.
struct MatrixPass {
  const PackedMatrix* weights = nullptr;
  const float* from = nullptr;  // [rows, weights->rows()], of f32 and bf16
  RoundedRows rounded = {};     // of int8 and int4
  std::int64_t rows = 0;
  const float* bias = nullptr;  // may be absent
  bool add = false;
  float* to = nullptr;  // [rows, weights->columns()]
};

inline constexpr std::int64_t kCacheTokens = 16;  // positions of a block of the cache
/// Blocks for so many positions.
constexpr std::int64_t cache_blocks(std::int64_t positions) {
  return (positions + kCacheTokens - 1) / kCacheTokens;
}
inline constexpr int kMostQueries = 8;

/// Queries of one sequence that share a head of keys and values.
struct AttentionPass {
  /// By block: keys [head_dim, kCacheTokens], values [kCacheTokens, padded_dim].
  const float* const* keys = nullptr;
  const float* const* values = nullptr;
  std::int64_t head_dim = 0, padded_dim = 0;
  /// Whether a position sees the key of the one before it (zero for the first).
  bool shifted = false;
  int queries = 0;  // at most kMostQueries
  const float* query[kMostQueries] = {};
  float* output[kMostQueries] = {};
  std::int64_t length[kMostQueries] = {};  // positions that each one sees
  float* scores = nullptr;                 // scratch, score_elements() of the longest
};
constexpr std::int64_t score_elements(std::int64_t length) {
  return kMostQueries * (cache_blocks(length) + 1) * kCacheTokens;
}

struct DecoderKernels {
  std::string_view isa;
  /// One row of `columns` inputs for weights of this type; `to` begins with its own row.
  void (*round)(const float* from, std::int64_t columns, WeightType type, RoundedRows to);
  /// Panels first to end - 1.
  void (*multiply)(const MatrixPass& pass, std::int64_t first, std::int64_t end);
  void (*attend)(const AttentionPass& pass);
};

/// The best ones of this CPU, or those named by $BENCH_TRAINING_ISA; avx512 also stands for
/// avx512_vnni. Throws Error(input) for a name that this CPU lacks.
const DecoderKernels& decoder_kernels();
/// All that this CPU runs, best first.
std::vector<const DecoderKernels*> all_decoder_kernels();

extern const DecoderKernels kBaselineDecoder, kAvx2Decoder, kAvx512Decoder, kVnniDecoder;

}  // namespace bench::inference
