// rgat tiny on a graph of few nodes, whose features take no time to generate.
#pragma once

#include <algorithm>

#include "training/workloads/rgat.h"

namespace bench::training {

inline RgatSetting small_graph_rgat() {
  RgatSetting setting = rgat_setting("tiny");
  for (std::int64_t& nodes : setting.law.nodes) nodes = std::max<std::int64_t>(nodes / 32, 512);
  return setting;
}

}  // namespace bench::training
