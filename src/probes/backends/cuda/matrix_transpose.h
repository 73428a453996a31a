// The transpose of a dense row-major matrix of any element size, on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench {

/// `matrix` has rows x columns elements of `element_bytes`; the result columns x rows.
std::vector<std::byte> transposed(std::span<const std::byte> matrix, std::int64_t rows,
                                  std::int64_t columns, std::size_t element_bytes);

}  // namespace bench
