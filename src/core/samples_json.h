// JSON form of Samples and their parts (Limit, Check, Quality); part of core/record.h.
#pragma once

#include "core/fields.h"
#include "core/record.h"

namespace bench {

Json to_json(const Samples& samples);
/// Throws Error(input) for wrong types, unknown words, and values and flags of different length.
/// Null values are NaN.
Samples read_samples(Fields& fields);
Limit read_limit(Fields fields);

}  // namespace bench
