#include "probes/device.h"

namespace bench {

// On a device whose calls end before they return, the clock around them tells it all.
Seconds Device::timed(const std::function<void()>& piece, std::int64_t) {
  const Seconds begin = now();
  piece();
  return now() - begin;
}

}  // namespace bench
