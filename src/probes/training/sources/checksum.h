// A checksum of training data, so that another rank can make a batch again and compare. That of a
// batch is the sum (mod 2^64) of its samples': in any order, split over ranks in any way, it is the
// same; two samples that changed places, one lost or one twice change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "probes/training/sources/random.h"

namespace bench::training {

/// Of the bytes of one sample and of which one it is.
std::uint64_t sample_checksum(Split split, std::uint64_t index, std::span<const std::byte> bytes);

template <class Element>
std::uint64_t sample_checksum(Split split, std::uint64_t index, std::span<Element> elements) {
  return sample_checksum(split, index, std::as_bytes(elements));
}

}  // namespace bench::training
