// Which of several libraries serves a GEMM: decided by a trial, because versions do not show which
// one knows this CPU.
#pragma once

#include <functional>
#include <vector>

#include "core/json.h"
#include "core/units.h"
#include "devices/host/gemm_backends.h"
#include "devices/host_clock.h"

namespace bench {

/// How a library offers a GEMM.
using MakeGemm = std::function<GemmOffer(const GemmRequest&, const std::vector<int>& cores,
                                         HostThreadWatch& watch)>;

struct LibraryChoice {
  /// Makers that may serve such requests, the chosen one first: without those that failed.
  std::vector<std::size_t> order = {};
  Json tried = Json::array();  // by maker, as "libraries" of Gemm::trials()
};

/// The GEMM that is tried in place of this one: the same for all shapes, so that a suite uses one
/// library.
GemmRequest trial_request(GemmRequest request);

/// Times trial_request() by each library, in order of preference: a later one replaces an earlier
/// one if it is a tenth faster, so that the choice seldom changes between runs. One whose result is
/// wrong, or that throws, may not serve. Takes a few tenths of a second.
LibraryChoice choose_library(const std::vector<MakeGemm>& makers, const GemmRequest& request,
                             const std::vector<int>& cores, HostThreadWatch& watch,
                             const std::function<Seconds()>& now = steady_now);

}  // namespace bench
