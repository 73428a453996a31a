// CRC-32C (Castagnoli): the checksum of iSCSI, ext4 and most checkpoint formats. Polynomial
// 0x1EDC6F41, reflected, initial value and final xor all ones; RFC 3720, B.4 has examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::storage {

/// `before` is the checksum of the preceding bytes. Uses the CPU's CRC instructions if it has them,
/// in four lanes at once.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// The same with tables, on any CPU.
std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace bench::storage
