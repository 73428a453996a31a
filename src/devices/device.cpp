#include "devices/device.h"

#include "devices/group.h"

namespace bench {

// For devices with synchronous calls.
Seconds Device::timed(const std::function<void()>& piece, std::int64_t,
                      const std::function<void()>& meet) {
  if (meet) meet();
  const Seconds begin = now();
  piece();
  return now() - begin;
}

Collectives* Device::collectives(Group& group) { return group.collectives(); }

}  // namespace bench
