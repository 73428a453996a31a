// Includes with inline functions that other files share. They must precede the point where a file
// sets its target, or the linker might use the copy compiled for that instruction set in those
// files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "training/host/host_kernels.h"
#include "training/kernels/checked_id.h"
#include "training/kernels/functors/divided_softmax.h"
#include "training/kernels/functors/policy_row.h"
