// Times shapes of one dtype briefly, as ShapeSearch asks for them, and keeps what was tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json.h"
#include "core/record.h"
#include "devices/gemm.h"
#include "probes/shared/gemm_matrices.h"
#include "probes/state.h"

namespace bench {

// The bits of a product as a hash: kept with the run, compared between equal devices
// (results/run/result_hashes.h), and with the golden value that the job brought along, if it did.

/// The topic of the facts that keep a hash.
inline constexpr const char* kResultHashTopic = "result_hash";

struct ProductHash {
  Json key;  // all that decides its bits: chip, library, version, implementation, dtype, ...
  std::string hash;  // 16 hexadecimal digits; empty for a product nobody looked at
};

/// Of the product of the random matrices of this seed.
Json product_key(const Gemm& gemm, const GemmPlan& plan, const GemmRequest& request,
                 std::uint64_t seed);

std::string hash_text(std::uint64_t hash);

/// Error: 1 for another hash than the golden one, which is named with its file. Passes where there
/// is no golden value, which tell_hashes() says.
Check check_golden(const State& state, const ProductHash& product);

/// One fact for each rank: {key, hash, golden, source, rank, device}. Every rank calls it.
void tell_hashes(State& state, const ProductHash& product);

// One series of the gemm probe: a product that is prepared, tuned on other data, timed and
// verified.

struct GemmCase {
  Dtype dtype = Dtype::f32;
  GemmShape shape;
  int threads = 1;
  bool searched = false;  // the shape was found, not asked for
};

/// With the library, isa, candidates, ... of the job's parameters.
GemmRequest gemm_request(const State& state, const GemmCase& which);

/// Timed, verified and reported with the job's parameters.
void measure_product(State& state, Gemm& gemm, const GemmCase& which);

// Random matrices of one dtype for products that are only timed, in any shape, without making each
// anew: a few million random elements, repeated as often as needed.

class TrialMatrices {
 public:
  TrialMatrices(Dtype dtype, std::uint64_t seed);
  /// Gives the plan its A and B of this shape.
  void load(GemmPlan& plan, const GemmShape& shape);

 private:
  const Matrices pattern_;
  std::vector<std::byte> a_, b_, a_scales_,
      b_scales_;  // as long as the largest shape so far needed
};

/// The case with the fastest shape that `budget` was enough to find; nothing where the library has
/// no such product, with the reason told as a skipped series. What was tried becomes a chunk
/// "shape_search". Every rank calls it alike and gets the same.
std::optional<GemmCase> search_shape(State& state, Gemm& gemm, Dtype dtype, int threads,
                                     Seconds budget);

}  // namespace bench
