// What ranks tell each other about tables, over a group's data plane.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/group.h"

namespace bench::training {

/// All-to-all: block r of `send` goes to rank r, block r of `received` comes from it; each of
/// `elements`.
void exchange(Group& group, const std::vector<float>& send, std::vector<float>& received,
              std::int64_t elements);
void exchange(Group& group, const std::vector<std::int32_t>& send,
              std::vector<std::int32_t>& received, std::int64_t elements);
/// Every rank's numbers, as many from each, in the order of the ranks.
std::vector<float> gather_all(Group& group, const std::vector<float>& mine);

/// Modulo 2^64.
std::uint64_t sum_over_ranks(Group& group, std::uint64_t value);
/// Does `work` on every rank; where it throws on any, all throw: that rank what it threw, the
/// others that `what` failed on another rank.
template <class Work>
void all_or_none(Group& group, const std::string& what, const Work& work);

/// Throws Error(environment) on ranks where nothing failed when somewhere something did.
void agree_on_failure(Group& group, bool failed, const std::string& what);

template <class Work>
void all_or_none(Group& group, const std::string& what, const Work& work) {
  try {
    work();
  } catch (...) {
    agree_on_failure(group, true, what);
    throw;
  }
  agree_on_failure(group, false, what);
}

}  // namespace bench::training
