#include "devices/host/gemm_backends.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/locations.h"
#include "core/text.h"
#include "devices/device.h"
#include "devices/facts/cpu_facts.h"
#include "devices/gemm.h"
#include "devices/host/cpu_features.h"
#include "devices/host/found_blas.h"
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
/// One product for all shapes, so that a suite uses one library.
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

using MakeGemm =
    std::function<GemmOffer(const GemmRequest&, const std::vector<int>&, HostThreadWatch&)>;

/// In the order in which they are preferred.
std::vector<MakeGemm> blas_makers(bool found_only) {
  std::vector<MakeGemm> makers;
  if (!found_only) makers = {make_openblas_gemm, make_blis_gemm};
  for (const auto& blas : found_blas())
    makers.push_back([&found = *blas](const GemmRequest& request, const std::vector<int>& cores,
                                      HostThreadWatch& watch) {
      return make_found_gemm(found, request, cores, watch);
    });
  return makers;
}

struct BlasChoice {
  std::optional<std::size_t> chosen = {};  // of blas_makers()
  Json tried = Json::array();              // by maker
};

/// Tries one library after another, because they share their threads, in several rounds: the clock
/// rises while the first one works.
BlasChoice choose_blas(const std::vector<MakeGemm>& makers, const GemmRequest& trial,
                       const std::vector<int>& cores, HostThreadWatch& watch) {
  constexpr int kRounds = 3;
  BlasChoice choice;
  std::vector<std::optional<double>> seconds(makers.size());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < makers.size(); ++i) {
      if (round > 0 && !seconds[i]) continue;
      const GemmOffer offer = makers[i](trial, cores, watch);
      std::string reason;
      const auto took = trial_seconds(offer, trial, reason);
      if (took) seconds[i] = std::min(*took, seconds[i].value_or(*took));
      if (round > 0) continue;
      choice.tried.push_back(took ? Json{{"library", offer.plan->library()},
                                         {"version", offer.plan->version()},
                                         {"isa", offer.plan->isa()},
                                         {"chosen", false}}
                                  : Json{{"reason", reason}});
    }
  for (std::size_t i = 0; i < makers.size(); ++i) {
    if (!seconds[i]) continue;
    choice.tried[i]["flops"] = trial.shape.operations() / *seconds[i];
    if (!choice.chosen || *seconds[i] * kWorthIt < *seconds[*choice.chosen]) choice.chosen = i;
  }
  if (choice.chosen) choice.tried[*choice.chosen]["chosen"] = true;
  for (const std::string& problem : found_blas_problems())
    choice.tried.push_back({{"reason", problem}});
  return choice;
}

struct BlasRequest {
  Dtype dtype = Dtype::f64;
  int threads = 1;
  std::string isa = {};
  bool found_only = false;
  auto operator<=>(const BlasRequest&) const = default;
};

/// Tried once: the same library then serves every shape of a process.
std::map<BlasRequest, BlasChoice>& blas_choices() {
  static std::map<BlasRequest, BlasChoice> choices;
  return choices;
}

GemmOffer make_fastest_blas_gemm(const GemmRequest& request, bool found_only,
                                 const std::vector<int>& cores, HostThreadWatch& watch) {
  const std::vector<MakeGemm> makers = blas_makers(found_only);
  if (makers.empty())
    return {nullptr, found_blas_problems().empty()
                         ? "no BLAS library was found at run time: set BENCHCTL_BLAS to one"
                         : join(found_blas_problems(), "; ")};
  const BlasRequest kind{request.dtype, request.threads, request.isa, found_only};
  auto known = blas_choices().find(kind);
  if (known == blas_choices().end()) {
    GemmRequest trial = request;
    trial.shape = kTrial;
    known = blas_choices().emplace(kind, choose_blas(makers, trial, cores, watch)).first;
  }
  const BlasChoice& choice = known->second;
  if (choice.chosen) return makers[*choice.chosen](request, cores, watch);
  std::vector<std::string> reasons;
  for (const Json& tried : choice.tried) reasons.push_back(tried.at("reason"));
  return {nullptr, join(reasons, "; ")};
}

/// The widest vectors that this CPU has, as far as libraries differ in them.
std::string cpu_isa() {
  const CpuFeatures& cpu = cpu_features();
  return cpu.avx512 ? "avx512" : cpu.avx2_fma ? "avx2" : "";
}

Json blas_trials() {
  Json all = Json::array();
  for (const auto& [kind, choice] : blas_choices())
    all.push_back({{"dtype", to_string(kind.dtype)},
                   {"threads", kind.threads},
                   {"isa", kind.isa},
                   {"cpu_isa", cpu_isa()},
                   {"libraries", choice.tried}});
  return all;
}

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
    if (request.library == "found") return make_fastest_blas_gemm(request, true, cores, watch_);
    // oneDNN first: packed weights, and the only one with bf16 and int8.
    GemmOffer offer = make_onednn_gemm(request, cores, watch_);
    if (offer.plan) return offer;
    GemmOffer second = make_fastest_blas_gemm(request, false, cores, watch_);
    if (!second.plan) second.reason = offer.reason + "; " + second.reason;
    return second;
  }

  Json trials() const override { return blas_trials(); }

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

std::string better_openblas_kernels(const std::string& chosen, const CpuFeatures& cpu) {
  // A name that is not listed is a newer one.
  constexpr std::array kBeforeAvx2{"Katmai",       "Coppermine", "Northwood",  "Prescott",
                                   "Banias",       "Core2",      "Penryn",     "Dunnington",
                                   "Nehalem",      "Atom",       "Athlon",     "Opteron",
                                   "Opteron_SSE3", "Barcelona",  "Bobcat",     "Nano",
                                   "Sandybridge",  "Bulldozer",  "Piledriver", "Steamroller"};
  constexpr std::array kOfAvx2{"Haswell", "Excavator", "Zen"};
  const bool before = std::ranges::find(kBeforeAvx2, chosen) != kBeforeAvx2.end();
  const bool of_avx2 = std::ranges::find(kOfAvx2, chosen) != kOfAvx2.end();
  if (cpu.avx512) return before || of_avx2 ? "SkylakeX" : "";
  return cpu.avx2_fma && before ? "Haswell" : "";
}

void restart_with_right_openblas([[maybe_unused]] char** argv) {
#if defined(BENCH_OPENBLAS) && defined(__x86_64__)
  constexpr const char *kVariable = "OPENBLAS_CORETYPE", *kSecondStart = "BENCHCTL_SECOND_START";
  const auto forget = [] {
    unsetenv(kVariable);
    unsetenv(kSecondStart);
  };
  if (std::getenv(kSecondStart) != nullptr) return forget();  // OpenBLAS has read it
  if (std::getenv(kVariable) != nullptr) return;
  const std::string better = better_openblas_kernels(openblas_get_corename(), cpu_features());
  if (better.empty()) return;
  const std::string path = program_path().string();
  setenv(kVariable, better.c_str(), 1);
  setenv(kSecondStart, "1", 1);
  execv(path.c_str(), argv);
  forget();
#endif
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
