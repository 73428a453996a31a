#include "devices/host/gemm_backends.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/text.h"
#include "devices/device.h"
#include "devices/facts/cpu_facts.h"
#include "devices/gemm.h"
#include "devices/host/gemm_blas_plan.h"
#include "devices/host_clock.h"

#ifdef BENCH_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif
#ifdef BENCH_OPENBLAS
#include <cblas.h>
#endif
#ifdef BENCH_HWLOC
#include <hwloc.h>
#endif

namespace bench {
Json onednn_version() {
#ifdef BENCH_ONEDNN
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
#else
  return nullptr;
#endif
}

Json openblas_version() {
#ifdef BENCH_OPENBLAS
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... SkylakeX MAX_THREADS=64"
  const auto words = words_of(std::string_view(openblas_get_config()));
  return std::string(words.at(1)) + " (" + openblas_get_corename() + ")";
#else
  return nullptr;
#endif
}

namespace {

Json hwloc() {
#ifdef BENCH_HWLOC
  return HWLOC_VERSION;
#else
  return nullptr;
#endif
}

}  // namespace

Json host_library_versions() {
  return {{"onednn", onednn_version()},
          {"openblas", openblas_version()},
          {"blis", blis_version()},
          {"hwloc", hwloc()}};
}

#ifdef BENCH_OPENBLAS

namespace {

class OpenBlasPlan final : public BlasPlan {
 public:
  OpenBlasPlan(const GemmRequest& request, const std::vector<int>& cores, HostThreadWatch& watch)
      : BlasPlan(request, cores, watch),
        m_(static_cast<blasint>(request.shape.m)),
        n_(static_cast<blasint>(request.shape.n)),
        k_(static_cast<blasint>(request.shape.k)) {
    openblas_set_num_threads(request.threads);
  }

  std::string library() const override { return "openblas"; }
  std::string version() const override { return openblas_version(); }
  std::string implementation() const override { return openblas_get_corename(); }
  std::string isa() const override { return openblas_isa(openblas_get_corename()); }

 private:
  void multiply() override {
    if (dtype_ == Dtype::f64)
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1.0, a_.as<double>(), k_,
                  b_.as<double>(), n_, 0.0, c_.as<double>(), n_);
    else
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1.0f, a_.as<float>(), k_,
                  b_.as<float>(), n_, 0.0f, c_.as<float>(), n_);
  }

  blasint m_, n_, k_;
};

}  // namespace

GemmOffer make_openblas_gemm(const GemmRequest& request, const std::vector<int>& cores,
                             HostThreadWatch& watch) {
  if (request.dtype != Dtype::f64 && request.dtype != Dtype::f32)
    return {nullptr, "OpenBLAS has no " + std::string(to_string(request.dtype)) + " product"};
  const std::string core = openblas_get_corename();
  if (!allowed_isa(request.isa, openblas_isa(core)))
    return {nullptr, "OpenBLAS selected kernels for " + core + ", not " + request.isa +
                         ": set OPENBLAS_CORETYPE in the case's env"};
  if (openblas_get_parallel() == 0 && request.threads > 1)
    return {nullptr, "this OpenBLAS was built without threads"};
  return {std::make_unique<OpenBlasPlan>(request, cores, watch), ""};
}

#else

GemmOffer make_openblas_gemm(const GemmRequest&, const std::vector<int>&, HostThreadWatch&) {
  return {nullptr, "built without OpenBLAS"};
}

#endif

namespace {

/// Libraries whose times differ by less count as equal and the better known one is used, so that
/// the choice does not change between runs.
constexpr double kWorthIt = 1.1;
constexpr int kTries = 5;
/// One product for all shapes, so that a suite uses one library; a few milliseconds.
constexpr GemmShape kTrial{512, 512, 512};

template <class T>
std::vector<std::byte> small_numbers(std::int64_t rows, std::int64_t columns) {
  std::vector<T> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 7) - T{3};
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

void load(GemmPlan& plan, const GemmRequest& request) {
  const auto [m, n, k] = request.shape;
  if (request.dtype == Dtype::f64)
    plan.load(small_numbers<double>(m, k), small_numbers<double>(k, n));
  else
    plan.load(small_numbers<float>(m, k), small_numbers<float>(k, n));
}

/// The best time of the trial product; nothing, with the reason, if the library has none.
std::optional<double> trial_seconds(const GemmOffer& offer, const GemmRequest& trial,
                                    std::string& reason) {
  reason = offer.reason;
  if (!offer.plan) return {};
  load(*offer.plan, trial);
  offer.plan->run(1);
  double best = 1e300;
  for (int i = 0; i < kTries; ++i) {
    const double start = steady_now().value;
    offer.plan->run(1);
    best = std::min(best, steady_now().value - start);
  }
  return best;
}

}  // namespace

GemmOffer make_faster_blas_gemm(const GemmRequest& request, const std::vector<int>& cores,
                                HostThreadWatch& watch) {
  // Timed once: the same library then serves every shape of a process.
  static std::map<std::tuple<Dtype, int, std::string>, bool> blis_is_faster;
  const auto kind = std::tuple(request.dtype, request.threads, request.isa);
  auto known = blis_is_faster.find(kind);
  if (known == blis_is_faster.end()) {
    GemmRequest trial = request;
    trial.shape = kTrial;
    std::string openblas_reason, blis_reason;  // one after another: they share their threads
    const auto openblas =
        trial_seconds(make_openblas_gemm(trial, cores, watch), trial, openblas_reason);
    const auto blis = trial_seconds(make_blis_gemm(trial, cores, watch), trial, blis_reason);
    if (!openblas && !blis) return {nullptr, openblas_reason + "; " + blis_reason};
    known = blis_is_faster.emplace(kind, !openblas || (blis && *blis * kWorthIt < *openblas)).first;
  }
  return known->second ? make_blis_gemm(request, cores, watch)
                       : make_openblas_gemm(request, cores, watch);
}

namespace {

bool starts_with_any(const std::string& text, std::initializer_list<const char*> beginnings) {
  return std::ranges::any_of(beginnings, [&](const char* b) { return text.starts_with(b); });
}

/// "AMD EPYC 9654 96-Core Processor, family 25, model 17, stepping 1": hypervisors give different
/// processors the same name.
std::string processor() {
  Json facts = Json::object();
  add_cpu_facts(SystemFiles(), facts);
  std::string text;
  for (const char* key : {"cpu_model", "family", "model", "stepping"}) {
    const std::string value = facts.value(key, kUnreadable);
    if (value == kUnreadable) return "";
    text += text.empty() ? value : std::string(", ") + key + " " + value;
  }
  return text;
}

class HostGemm final : public Gemm {
 public:
  HostGemm(const HostCpus& cpus, HostThreadWatch& watch) : cpus_(cpus), watch_(watch) {}

  std::string chip() const override {
    static const std::string name = processor();
    return name;
  }

  GemmOffer prepare(const GemmRequest& request) override {
    const std::vector<int> cores = cpus_.first(request.threads);
    if (request.library == "onednn") return make_onednn_gemm(request, cores, watch_);
    if (request.library == "openblas") return make_openblas_gemm(request, cores, watch_);
    if (request.library == "blis") return make_blis_gemm(request, cores, watch_);
    // oneDNN first: packed weights, and the only one with bf16 and int8.
    GemmOffer offer = make_onednn_gemm(request, cores, watch_);
    if (offer.plan) return offer;
    GemmOffer second = make_faster_blas_gemm(request, cores, watch_);
    if (!second.plan) second.reason = offer.reason + "; " + second.reason;
    return second;
  }

 private:
  const HostCpus& cpus_;
  HostThreadWatch& watch_;
};

}  // namespace

std::unique_ptr<Gemm> make_host_gemm(const HostCpus& cpus, HostThreadWatch& watch) {
  return std::make_unique<HostGemm>(cpus, watch);
}

std::string onednn_isa(const std::string& implementation) {
  for (const char* family : {"amx", "avx512", "avx2"})
    if (implementation.find(family) != std::string::npos) return family;
  return "";
}

std::string openblas_isa(const std::string& core_name) {
  if (starts_with_any(core_name, {"SkylakeX", "Cooperlake", "SapphireRapids"})) return "avx512";
  if (starts_with_any(core_name, {"Haswell", "Zen", "Excavator"})) return "avx2";
  if (starts_with_any(core_name, {"ARMV8", "Cortex", "Neoverse", "THUNDERX", "TSV", "neoverse",
                                  "armv8", "cortex", "thunderx", "tsv"}))
    return "neon";
  return "";
}

std::string blis_isa(const std::string& architecture) {
  if (starts_with_any(architecture, {"skx", "knl", "zen4", "zen5"})) return "avx512";
  if (starts_with_any(architecture, {"haswell", "zen", "excavator"})) return "avx2";
  if (starts_with_any(architecture, {"cortexa57", "cortexa53", "thunderx2", "firestorm"}))
    return "neon";
  return "";
}

bool allowed_isa(const std::string& isa, const std::string& used) {
  if (isa == "best" || isa == used) return true;
  constexpr std::array kOrder{"avx2", "avx512", "amx"};
  const auto asked = std::ranges::find(kOrder, isa), have = std::ranges::find(kOrder, used);
  return asked != kOrder.end() && have < asked;
}

std::size_t bytes_of(Dtype dtype, std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * size_of(dtype);
}

}  // namespace bench
