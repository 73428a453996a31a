#include "probes/procedures/gemm_hash.h"

#include <fmt/format.h>

#include "core/text.h"

namespace bench {

Json product_key(const Gemm& gemm, const GemmPlan& plan, const GemmRequest& request,
                 std::uint64_t seed) {
  const GemmShape& shape = request.shape;
  Json key = {{"chip", gemm.chip()},
              {"library", plan.library()},
              {"version", plan.version()},
              {"implementation", plan.implementation()},
              {"dtype", to_string(request.dtype)},
              {"m", shape.m},
              {"n", shape.n},
              {"k", shape.k},
              {"threads", request.threads},
              {"packed", plan.packed()},
              {"seed", seed}};
  if (accumulates_fast(request)) key["fast_accumulation"] = true;
  return key;
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

Check check_golden(const State& state, const ProductHash& product) {
  const auto golden = state.known_result(product.key);
  if (!golden) return {"golden value", 0.0, 0.0};
  return {"hash " + product.hash + " against the golden " + golden->hash + " of " + golden->source,
          product.hash == golden->hash ? 0.0 : 1.0, 0.0};
}

void tell_hashes(State& state, const ProductHash& product) {
  const auto golden = state.known_result(product.key);
  const Json mine = {{"key", product.key},
                     {"hash", product.hash},
                     {"golden", golden ? Json(golden->hash) : Json()},
                     {"source", golden ? Json(golden->source) : Json()},
                     {"rank", state.group().rank()},
                     {"device", state.device().id()}};
  for (const std::string& text : state.group().gather(dump(mine)))
    state.facts(kResultHashTopic, parse_json(text, "a rank's hash"));
}

}  // namespace bench
