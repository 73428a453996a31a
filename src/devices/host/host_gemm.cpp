#include "devices/host/host_gemm.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "devices/facts/cpu_facts.h"
#include "devices/host/cpu_features.h"
#include "devices/host/found_library.h"
#include "devices/host/gemm_backends.h"
#include "devices/host/gemm_choice.h"

namespace bench {
namespace {

struct RequestKind {
  Dtype dtype = Dtype::f64;
  int threads = 1;
  std::string isa = {};
  bool packed = true, found_only = false;
  auto operator<=>(const RequestKind&) const = default;
};

/// Tried once: the same library then serves every shape of a process.
std::map<RequestKind, LibraryChoice>& library_choices() {
  static std::map<RequestKind, LibraryChoice> choices;
  return choices;
}

/// Those found at run time that have products of this type.
std::vector<MakeGemm> found_makers(Dtype dtype) {
  std::vector<MakeGemm> makers;
  for (const auto& library : found_libraries())
    if (library->has_product(dtype))
      makers.push_back([&found = *library](const GemmRequest& request,
                                           const std::vector<int>& cores, HostThreadWatch& watch) {
        return found.offer(request, cores, watch);
      });
  return makers;
}

GemmOffer make_fastest_gemm(const std::vector<MakeGemm>& makers, const GemmRequest& request,
                            const std::vector<int>& cores, HostThreadWatch& watch) {
  const RequestKind kind{request.dtype, request.threads, request.isa, request.packed,
                         request.library == "found"};
  auto known = library_choices().find(kind);
  if (known == library_choices().end()) {
    LibraryChoice choice = choose_library(makers, request, cores, watch);
    for (const std::string& problem : found_library_problems())
      choice.tried.push_back({{"reason", problem}});
    known = library_choices().emplace(kind, std::move(choice)).first;
  }
  const LibraryChoice& choice = known->second;
  if (choice.chosen) return makers[*choice.chosen](request, cores, watch);
  std::vector<std::string> reasons;
  for (const Json& tried : choice.tried) reasons.push_back(tried.at("reason"));
  return {nullptr, join(reasons, "; ")};
}

GemmOffer make_found_gemm(const GemmRequest& request, const std::vector<int>& cores,
                          HostThreadWatch& watch) {
  const std::vector<MakeGemm> makers = found_makers(request.dtype);
  if (!makers.empty()) return make_fastest_gemm(makers, request, cores, watch);
  if (!found_library_problems().empty()) return {nullptr, join(found_library_problems(), "; ")};
  return {nullptr, "no library with " + std::string(to_string(request.dtype)) +
                       " products was found at run time: set BENCHCTL_BLAS to one"};
}

/// oneDNN is preferred: it packs weights, and no other library of the build has bf16 and int8.
GemmOffer make_best_gemm(const GemmRequest& request, const std::vector<int>& cores,
                         HostThreadWatch& watch) {
  const std::vector<MakeGemm> found = found_makers(request.dtype);
  std::vector<MakeGemm> makers{make_onednn_gemm};
  GemmOffer offer = make_onednn_gemm(request, cores, watch);
  if (offer.plan && found.empty()) return offer;
  if (!offer.plan) makers = {make_openblas_gemm, make_blis_gemm};
  offer.plan.reset();  // its threads
  makers.insert(makers.end(), found.begin(), found.end());
  GemmOffer fastest = make_fastest_gemm(makers, request, cores, watch);
  if (!fastest.plan && !offer.reason.empty()) fastest.reason = offer.reason + "; " + fastest.reason;
  return fastest;
}

/// The widest vectors that this CPU has, as far as libraries differ in them.
std::string cpu_isa() {
  const CpuFeatures& cpu = cpu_features();
  return cpu.avx512 ? "avx512" : cpu.avx2_fma ? "avx2" : "";
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
    if (request.library == "found") return make_found_gemm(request, cores, watch_);
    return make_best_gemm(request, cores, watch_);
  }

  Json trials() const override {
    Json all = Json::array();
    for (const auto& [kind, choice] : library_choices())
      all.push_back({{"dtype", to_string(kind.dtype)},
                     {"threads", kind.threads},
                     {"isa", kind.isa},
                     {"packed", kind.packed},
                     {"cpu_isa", cpu_isa()},
                     {"libraries", choice.tried}});
    return all;
  }

 private:
  const HostCpus& cpus_;
  HostThreadWatch& watch_;
};

}  // namespace

std::unique_ptr<Gemm> make_host_gemm(const HostCpus& cpus, HostThreadWatch& watch) {
  return std::make_unique<HostGemm>(cpus, watch);
}

}  // namespace bench
