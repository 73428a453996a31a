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
  bool packed = true;
  std::string library = {};  // best or found
  auto operator<=>(const RequestKind&) const = default;
};

struct Libraries {
  std::vector<MakeGemm> makers = {};
  LibraryChoice choice = {};
};

/// Tried once: the same library then serves every shape of a process, if it can.
std::map<RequestKind, Libraries>& known_libraries() {
  static std::map<RequestKind, Libraries> known;
  return known;
}

MakeGemm maker_of(const FoundLibrary& library) {
  return [&library](const GemmRequest& request, const std::vector<int>& cores,
                    HostThreadWatch& watch) { return library.offer(request, cores, watch); };
}

/// In order of preference. oneDNN packs weights, and no other library of the build has bf16 and
/// int8.
std::vector<MakeGemm> makers_of(const GemmRequest& request, const std::vector<int>& cores,
                                HostThreadWatch& watch) {
  std::vector<MakeGemm> makers;
  if (request.library == "best") {
    makers = {make_onednn_gemm};
    if (!make_onednn_gemm(trial_request(request), cores, watch).plan)
      makers.insert(makers.end(), {make_openblas_gemm, make_blis_gemm});
  }
  for (const auto& library : found_libraries())
    if (library->has_gemm(request.dtype)) makers.push_back(maker_of(*library));
  return makers;
}

const Libraries& libraries_for(const GemmRequest& request, const std::vector<int>& cores,
                               HostThreadWatch& watch) {
  const RequestKind kind{request.dtype, request.threads, request.isa, request.packed,
                         request.library};
  const auto known = known_libraries().find(kind);
  if (known != known_libraries().end()) return known->second;
  Libraries libraries{makers_of(request, cores, watch)};
  if (libraries.makers.size() == 1)
    libraries.choice.order = {0};
  else
    libraries.choice = choose_library(libraries.makers, request, cores, watch);
  return known_libraries().emplace(kind, std::move(libraries)).first->second;
}

/// By the library that won the trial, or another if that has no GEMM of this shape.
GemmOffer make_fastest_gemm(const GemmRequest& request, const std::vector<int>& cores,
                            HostThreadWatch& watch) {
  const Libraries& libraries = libraries_for(request, cores, watch);
  std::vector<std::string> reasons;
  for (const std::size_t index : libraries.choice.order) {
    GemmOffer offer = libraries.makers[index](request, cores, watch);
    if (offer.plan) return offer;
    reasons.push_back(offer.reason);
  }
  reasons.insert(reasons.end(), found_library_problems().begin(), found_library_problems().end());
  if (!reasons.empty()) return {nullptr, join(reasons, "; ")};
  return {nullptr, "no library with a " + std::string(to_string(request.dtype)) +
                       " GEMM was found at run time: set BENCHCTL_BLAS to one"};
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
    for (const auto& library : found_libraries())
      if (library->name() == request.library) return library->offer(request, cores, watch_);
    if (request.library != "best" && request.library != "found")
      return {nullptr, "this host has no library " + request.library};
    return make_fastest_gemm(request, cores, watch_);
  }

  Json trials() const override {
    Json all = Json::array();
    for (const auto& [kind, libraries] : known_libraries())
      if (!libraries.choice.tried.empty())
        all.push_back({{"dtype", to_string(kind.dtype)},
                       {"threads", kind.threads},
                       {"isa", kind.isa},
                       {"packed", kind.packed},
                       {"library", kind.library},
                       {"cpu_isa", cpu_isa()},
                       {"libraries", libraries.choice.tried}});
    return all;
  }

  /// Empty before anything was looked for.
  Json problems() const override {
    return known_libraries().empty() ? Json::array() : Json(found_library_problems());
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
