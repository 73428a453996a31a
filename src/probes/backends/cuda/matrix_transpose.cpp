#include "probes/backends/cuda/matrix_transpose.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace bench {
namespace {

constexpr std::size_t kTile = 64;  // elements; two tiles stay in the first cache

template <std::size_t element_bytes>
void transpose(const std::byte* from, std::byte* to, std::size_t rows, std::size_t columns) {
  for (std::size_t row = 0; row < rows; row += kTile)
    for (std::size_t column = 0; column < columns; column += kTile)
      for (std::size_t i = row; i < std::min(rows, row + kTile); ++i)
        for (std::size_t j = column; j < std::min(columns, column + kTile); ++j)
          std::memcpy(to + (j * rows + i) * element_bytes, from + (i * columns + j) * element_bytes,
                      element_bytes);
}

}  // namespace

std::vector<std::byte> transposed(std::span<const std::byte> matrix, std::int64_t rows,
                                  std::int64_t columns, std::size_t element_bytes) {
  const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns);
  if (matrix.size() != m * n * element_bytes)
    throw Error(ErrorKind::internal, "the size of the matrix to transpose differs from its shape");
  std::vector<std::byte> result(matrix.size());
  switch (element_bytes) {
    case 1:
      transpose<1>(matrix.data(), result.data(), m, n);
      break;
    case 2:
      transpose<2>(matrix.data(), result.data(), m, n);
      break;
    case 4:
      transpose<4>(matrix.data(), result.data(), m, n);
      break;
    case 8:
      transpose<8>(matrix.data(), result.data(), m, n);
      break;
    default:
      throw Error(ErrorKind::internal,
                  "no element has " + std::to_string(element_bytes) + " bytes");
  }
  return result;
}

}  // namespace bench
