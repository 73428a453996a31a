#include "devices/cuda/result_watch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>

#include "core/error.h"
#include "core/parallel.h"
#include "devices/cuda/result_digest.h"
#include "devices/cuda/stream_kernels.h"

namespace bench {

std::uint64_t digest_of(std::span<const std::byte> bytes) {
  constexpr std::size_t kLeastWords = std::size_t{1} << 17;  // in a thread's part
  std::atomic<std::uint64_t> digest = 0;
  in_parts((bytes.size() + 7) / 8, kLeastWords, [&](std::size_t first, std::size_t last) {
    std::uint64_t sum = 0;
    for (std::size_t place = first; place < last; ++place) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + 8 * place,
                  std::min<std::size_t>(8, bytes.size() - 8 * place));
      sum += word_digest(word, place);
    }
    digest += sum;
  });
  return digest;
}

ResultWatch::ResultWatch(const void* result, std::size_t bytes, cudaStream_t stream)
    : bytes_(bytes),
      stream_(stream),
      sums_(kSumSlots * sizeof(std::uint64_t)),
      different_(2 * sizeof(std::uint64_t)) {
  if (bytes_ % sizeof(WordPair) != 0)
    throw Error(ErrorKind::internal, "a watched result is not a multiple of 16 bytes");
  check(cudaMemsetAsync(sums_.as<>(), 0, sums_.bytes(), stream_), "clear the sums");
  check(cudaMemsetAsync(different_.as<>(), 0, different_.bytes(), stream_), "clear the counter");
  launch_digest(result, bytes_, sums_.as<std::uint64_t>(), stream_);
  launch_take_digest(sums_.as<std::uint64_t>(), 0, different_.as<std::uint64_t>(), stream_);
  std::uint64_t found[2] = {};
  check(cudaStreamSynchronize(stream_), "the digest");
  copy_now(found, different_.as<>(), sizeof found, "read the digest");
  expected_ = found[1];
  check(cudaMemsetAsync(different_.as<>(), 0, different_.bytes(), stream_), "clear the counter");
}

void ResultWatch::compare(const void* result) {
  launch_digest(result, bytes_, sums_.as<std::uint64_t>(), stream_);
  launch_take_digest(sums_.as<std::uint64_t>(), expected_, different_.as<std::uint64_t>(), stream_);
}

std::int64_t ResultWatch::different() {
  std::uint64_t count = 0;
  check(cudaStreamSynchronize(stream_), "the comparison of results");
  copy_now(&count, different_.as<>(), sizeof count, "read the number of different results");
  return static_cast<std::int64_t>(count);
}

}  // namespace bench
