// The hardware catalogue of this checkout, read once.
#pragma once

#include "runner/hardware/hardware_catalogue.h"

namespace bench {

inline const HardwareCatalogue& shipped_catalogue() {
  static const auto loaded = HardwareCatalogue::load("hosts/hardware");
  return loaded;
}

}  // namespace bench
