// Fields of a system description from the facts of one host; "" if unknown.
#pragma once

#include <cstdint>
#include <string>

#include "core/json.h"

namespace bench::mlperf {

/// The field as a string; "" for null, "none" and unreadable values.
std::string known_text(const Json& facts, const char* key);
/// The field as an integer; 0 if there is none.
std::int64_t known_count(const Json& facts, const char* key);

std::string cache_words(const Json& facts);          // "L1d: 64x 32 KiB, L2: 64x 1 MiB"
std::string memory_words(const Json& facts);         // "1.97 TiB"
std::string memory_module_words(const Json& facts);  // "32x 64 GiB DDR5 5600 MT/s"
std::string disk_words(const Json& facts);           // "8x 3.84 TB"
std::string network_words(const Json& facts);        // "8x 400 Gb/sec (4X NDR) InfiniBand, ..."
std::string nvlink_words(const Json& gpu);           // "18x NVLink"
std::string pcie_words(const Json& gpu);             // "PCIe Gen5 x16"

}  // namespace bench::mlperf
