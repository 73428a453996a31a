// Which of several libraries serves a GEMM: decided by a trial, because versions do not show which
// one knows this CPU.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/json.h"
#include "devices/host/gemm_backends.h"

namespace bench {

/// How a library offers a GEMM.
using MakeGemm = std::function<GemmOffer(const GemmRequest&, const std::vector<int>& cores,
                                         HostThreadWatch& watch)>;

struct LibraryChoice {
  std::optional<std::size_t> chosen = {};  // of the makers
  Json tried = Json::array();              // by maker, as "libraries" of Gemm::trials()
};

/// Times a product of size 512 by each library, in order of preference: a later one replaces an
/// earlier one if it is a tenth faster, so that the choice seldom changes between runs. One whose
/// product is wrong is not chosen. The product has the request's type, threads and restrictions;
/// takes a few tenths of a second.
LibraryChoice choose_library(const std::vector<MakeGemm>& makers, const GemmRequest& request,
                             const std::vector<int>& cores, HostThreadWatch& watch);

}  // namespace bench
