// Which buffers the operations of a step use, which of them share one, and what tells the data of
// one operation from those of another. From the schedule alone, so that memory is known before it
// is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "devices/group.h"
#include "probes/traffic/step_schedule.h"

namespace bench {

using GroupSizes = std::array<int, kTrafficGroupCount>;
GroupSizes group_sizes(const TrafficSplit& split, const TrafficPlace& place);

/// Of one operation in a group of so many ranks, in elements.
std::int64_t in_elements(const TrafficOp& op, int ranks);
std::int64_t out_elements(const TrafficOp& op, int ranks);

struct BufferPlan {
  struct Buffer {
    std::int64_t in = 0, out = 0;  // elements
    std::int64_t numbers = 0;      // of control
  };
  std::vector<Buffer> buffers = {};
  std::vector<std::size_t> buffer_of_slot = {};
  /// The same for all ranks of an operation's group and for both ends of a message. Operations that
  /// share a buffer have one; others differ.
  std::vector<std::uint64_t> seed_of_slot = {};
  std::int64_t received = 0;  // elements: parts of all ranks, before they are summed
  std::int64_t padded = 0;    // elements: a bucket in equal parts
  Dtype dtype = Dtype::f32;

  double bytes() const;
};

/// `shared`: operations of equal name, kind, group and pass use one buffer, as large as the largest
/// needs. Those of control have their own always.
BufferPlan make_buffer_plan(const StepSchedule& schedule, const GroupSizes& ranks, Dtype dtype,
                            bool shared);

/// Whether any rank needs more than `buffer_bytes` without sharing. Every rank calls it: data of
/// shared buffers differ from others, so ranks must agree.
bool shares_buffers(Group& all, const StepSchedule& schedule, const GroupSizes& ranks, Dtype dtype,
                    std::int64_t buffer_bytes);

/// Why an operation is larger than a call of the library can be; "" if it is not.
std::string call_obstacle(const TrafficOp& op, int ranks, Dtype dtype, bool sums_by_library);

}  // namespace bench
