// The bits of a product as a hash: kept with the run, compared between equal devices
// (results/result_hashes.h), and with the golden value that the job brought along, if it did.
#pragma once

#include <cstdint>
#include <string>

#include "core/json.h"
#include "core/record.h"
#include "probes/device/gemm.h"
#include "probes/state.h"

namespace bench {

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

}  // namespace bench
