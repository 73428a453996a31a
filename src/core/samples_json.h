// The JSON form of Samples and of what hangs on it (Limit, Check, Quality); part of core/record.h.
#pragma once

#include "core/fields.h"
#include "core/record.h"

namespace bench {

Json to_json(const Samples& samples);
/// Throws Error(input) for a wrong type, an unknown word, or values and flags of unequal length. A
/// value that is null is NaN.
Samples read_samples(Fields& fields);
Limit read_limit(Fields fields);

}  // namespace bench
