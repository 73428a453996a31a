#include "probes/device/gemm.h"

#include <algorithm>
#include <array>

#include "probes/backends/host/gemm_backends.h"
#include "probes/facts/cpu_facts.h"

namespace bench {
namespace {

bool starts_with_any(const std::string& text, std::initializer_list<const char*> beginnings) {
  return std::ranges::any_of(beginnings, [&](const char* b) { return text.starts_with(b); });
}

/// "AMD EPYC 9654 96-Core Processor, family 25, model 17, stepping 1": a hypervisor may give many
/// processors one name.
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
