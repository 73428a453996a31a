#include "devices/cuda/cublas_algorithms.h"

#include <cstdint>

namespace bench {
namespace {

using Preference = CublasHandle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <class T>
int setting(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t which) {
  T value = 0;
  std::size_t written = 0;
  check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, which, &value, sizeof value, &written),
        "query an algorithm's configuration");
  return static_cast<int>(value);
}

}  // namespace

std::vector<cublasLtMatmulAlgo_t> cublas_algorithms(cublasLtHandle_t handle,
                                                    const CublasDescription& product,
                                                    std::size_t workspace_bytes, int wanted) {
  Preference preference;
  check(cublasLtMatmulPreferenceCreate(preference.out()), "create the heuristic preference");
  check(cublasLtMatmulPreferenceSetAttribute(preference.get(),
                                             CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &workspace_bytes, sizeof workspace_bytes),
        "set the workspace size");
  // Parts of a split-K product must be summed in the compute type, never rounded to the result
  // type.
  const std::uint32_t wide = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  check(cublasLtMatmulPreferenceSetAttribute(
            preference.get(), CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &wide, sizeof wide),
        "set the split-K reduction schemes");
  std::vector<cublasLtMatmulHeuristicResult_t> proposed(static_cast<std::size_t>(wanted));
  int got = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, product.operation, product.first, product.second, product.result, product.result,
      preference.get(), wanted, proposed.data(), &got);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) check(status, "query algorithms");
  proposed.resize(static_cast<std::size_t>(got));
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (const cublasLtMatmulHeuristicResult_t& one : proposed)
    if (one.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(one.algo);
  return algorithms;
}

CublasAlgorithm configuration_of(const cublasLtMatmulAlgo_t& algorithm) {
  return {.id = setting<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID),
          .tile = setting<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
          .stages = setting<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
          .inner = setting<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID),
          .cluster = setting<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID),
          .splits = setting<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
          .reduction = setting<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
          .swizzle = setting<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING),
          .option = setting<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION)};
}

std::string to_string(const CublasAlgorithm& algorithm) {
  std::string text = "algorithm " + std::to_string(algorithm.id);
  const auto add = [&](const char* name, int value, int usual) {
    if (value != usual) text += std::string(", ") + name + " " + std::to_string(value);
  };
  add("tile", algorithm.tile, 0);
  add("stages", algorithm.stages, 0);
  add("inner", algorithm.inner, 0);
  add("cluster", algorithm.cluster, 0);
  add("splits", algorithm.splits, 1);
  add("reduction", algorithm.reduction, 0);
  add("swizzle", algorithm.swizzle, 0);
  add("option", algorithm.option, 0);
  return text;
}

}  // namespace bench
