#include "devices/cuda/cublas_gemm.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/parallel.h"
#include "devices/cuda/candidates.h"
#include "devices/cuda/cublas_algorithms.h"
#include "devices/cuda/cuda_device.h"
#include "devices/cuda/cuda_error.h"
#include "devices/cuda/injected_fault.h"
#include "devices/cuda/result_digest.h"
#include "devices/cuda/result_watch.h"
#include "devices/cuda/rotation.h"
#include "devices/cuda/stream_timer.h"

namespace bench {
namespace {

constexpr std::size_t kTileLines = 128, kTileBlocks = 4, kTileBytes = kTileLines * kTileBlocks;
constexpr std::size_t kApart = 32;  // distance of adjacent lines

std::size_t tiles(std::size_t count, std::size_t of_tile) {
  return (count + of_tile - 1) / of_tile;
}

}  // namespace

std::vector<std::byte> packed_halves(std::span<const std::byte> elements) {
  if (elements.size() % 2 != 0)
    throw Error(ErrorKind::internal, "4-bit elements must be even in number");
  std::vector<std::byte> packed(elements.size() / 2);
  for (std::size_t i = 0; i < packed.size(); ++i)
    packed[i] = (elements[2 * i] & std::byte{0xf}) | (elements[2 * i + 1] << 4);
  return packed;
}

std::size_t scale_offset(std::size_t line, std::size_t block, std::size_t blocks_in_line) {
  const std::size_t tile =
      line / kTileLines * tiles(blocks_in_line, kTileBlocks) + block / kTileBlocks;
  const std::size_t side_by_side = line % kTileLines / kApart;
  return tile * kTileBytes + line % kApart * (kTileBytes / kApart) + side_by_side * kTileBlocks +
         block % kTileBlocks;
}

std::size_t scale_bytes(std::size_t lines, std::size_t blocks_in_line) {
  return tiles(lines, kTileLines) * tiles(blocks_in_line, kTileBlocks) * kTileBytes;
}

std::vector<std::byte> tiled_scales(std::span<const std::byte> scales, std::size_t lines,
                                    std::size_t blocks_in_line, std::size_t line_stride,
                                    std::size_t block_stride) {
  if (scales.size() != lines * blocks_in_line)
    throw Error(ErrorKind::internal, "number of scales differs from the number of blocks");
  std::vector<std::byte> tiled(scale_bytes(lines, blocks_in_line));
  for (std::size_t line = 0; line < lines; ++line)
    for (std::size_t block = 0; block < blocks_in_line; ++block)
      tiled[scale_offset(line, block, blocks_in_line)] =
          scales[line * line_stride + block * block_stride];
  return tiled;
}

namespace {

constexpr std::size_t kTile = 64;  // elements; two tiles fit the L1 cache

template <std::size_t element_bytes>
void transpose(const std::byte* from, std::byte* to, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kLeastElements = std::size_t{1} << 18;  // in a thread's part
  in_parts(tiles(rows, kTile), kLeastElements / (kTile * columns) + 1,
           [&](std::size_t first, std::size_t last) {
             for (std::size_t row = first * kTile; row < std::min(rows, last * kTile); row += kTile)
               for (std::size_t column = 0; column < columns; column += kTile)
                 for (std::size_t i = row; i < std::min(rows, row + kTile); ++i)
                   for (std::size_t j = column; j < std::min(columns, column + kTile); ++j)
                     std::memcpy(to + (j * rows + i) * element_bytes,
                                 from + (i * columns + j) * element_bytes, element_bytes);
           });
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

namespace {

std::size_t count(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

void upload(const DeviceMemory& to, std::span<const std::byte> from) {
  copy_now(to.as<>(), from.data(), from.size(), "copy a matrix to the GPU");
}

constexpr std::size_t kWatchedBytes = sizeof(WordPair);
constexpr std::int64_t kRareFault = 7;  // the product that a rare fault damages

/// Shared by all products of a device; outlives them.
struct CublasContext {
  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  cudaStream_t stream = nullptr;
  StreamTimer* timer = nullptr;
};

/// One product: its matrices on the GPU, its descriptors, and the algorithm in use.
class CublasPlan final : public GemmPlan {
 public:
  CublasPlan(const GemmRequest& request, const CublasTypes& types, const CublasContext& context)
      : shape_(request.shape),
        types_(types),
        transposed_b_(types.transposed_b || request.packed),
        descriptors_(cublas_product(request.shape, types, transposed_b_), types,
                     request.fast_accumulation),
        context_(context),
        alpha_(types.scale, 1.0),
        beta_(types.scale, 0.0),
        element_bytes_(size_of(request.dtype)),
        halves_(request.dtype == Dtype::nvfp4),
        strides_{aligned_for_rotation(stored_bytes(count(shape_.m, shape_.k))),
                 aligned_for_rotation(stored_bytes(count(shape_.k, shape_.n))),
                 aligned_for_rotation(count(shape_.m, shape_.n) * size_of(types.output))},
        result_bytes_(count(shape_.m, shape_.n) * size_of(types.output)),
        sets_(request.rotate ? rotation_sets(strides_.a + strides_.b + strides_.c, l2_bytes()) : 1),
        a_(sets_ * strides_.a),
        b_(sets_ * strides_.b),
        c_(sets_ * strides_.c) {
    if (types.block > 0) {
      a_scales_ = DeviceMemory(scale_bytes(static_cast<std::size_t>(shape_.m), blocks_in_line()));
      b_scales_ = DeviceMemory(scale_bytes(static_cast<std::size_t>(shape_.n), blocks_in_line()));
      descriptors_.set_scales(b_scales_.as<>(), a_scales_.as<>());
    }
    algorithms_ = cublas_algorithms(context.handle, descriptors_.get(), context.workspace_bytes,
                                    std::max(1, request.candidates));
  }

  /// Whether the library has an algorithm.
  bool found() const { return !algorithms_.empty(); }

  std::string library() const override { return "cublaslt"; }
  std::string version() const override { return cublas_version(); }
  std::string implementation() const override {
    return to_string(configuration_of(algorithms_.at(chosen_)));
  }

  std::string isa() const override { return ""; }
  bool packed() const override { return transposed_b_; }
  Dtype output() const override { return types_.output; }

  void load(std::span<const std::byte> a, std::span<const std::byte> b) override {
    if (a.size() != count(shape_.m, shape_.k) * element_bytes_ ||
        b.size() != count(shape_.k, shape_.n) * element_bytes_)
      throw Error(ErrorKind::internal, "matrix sizes differ from the GEMM shape");
    store(a_, a);
    if (transposed_b_)
      store(b_, transposed(b, shape_.k, shape_.n, element_bytes_));
    else
      store(b_, b);
    spread(a_, strides_.a);
    spread(b_, strides_.b);
  }

  void scale(const BlockScales& scales) override {
    if (types_.block == 0)
      throw Error(ErrorKind::internal, "scales given for a GEMM without scales");
    const auto m = static_cast<std::size_t>(shape_.m), n = static_cast<std::size_t>(shape_.n);
    const std::size_t blocks = blocks_in_line();
    upload(a_scales_, tiled_scales(scales.a, m, blocks, blocks, 1));
    upload(b_scales_, tiled_scales(scales.b, n, blocks, 1, n));
    alpha_ = CublasScalar(types_.scale, static_cast<double>(scales.tensor));
  }

  void tune() override {
    constexpr int kRounds = 8;
    chosen_ = fastest(algorithms_.size(), kRounds, [&](std::size_t which) {
      chosen_ = which;
      return seconds_of_chosen();
    });
  }

  void clear() override {
    check(cudaMemsetAsync(c_.as<>(), 0xff, c_.bytes(), context_.stream), "poison the result");
    check(cudaStreamSynchronize(context_.stream), "poison the result");
  }

  void run(std::int64_t calls) override {
    const cublasLtMatmulAlgo_t& algorithm = algorithms_.at(chosen_);
    for (; calls > 0; --calls) {
      set_ = set_ + 1 == sets_ ? 0 : set_ + 1;
      const std::byte* a = a_.as<std::byte>() + set_ * strides_.a;
      const std::byte* b = b_.as<std::byte>() + set_ * strides_.b;
      std::byte* c = c_.as<std::byte>() + set_ * strides_.c;
      check(cublasLtMatmul(context_.handle, descriptors_.operation(), alpha_.data(), b,
                           descriptors_.first(), a, descriptors_.second(), beta_.data(), c,
                           descriptors_.result(), c, descriptors_.result(), &algorithm,
                           context_.workspace, context_.workspace_bytes, context_.stream),
            "cublasLtMatmul");
      if (watch_) {
        if (++watched_ == kRareFault) inject_rare_fault_on_gpu(c);
        watch_->compare(c);
      }
    }
  }

  bool watch() override {
    if (result_bytes_ % kWatchedBytes != 0) return false;
    watched_ = 0;
    watch_.emplace(c_.as<std::byte>() + set_ * strides_.c, result_bytes_, context_.stream);
    misread_ = watch_->digest() != digest_of(result());
    return true;
  }
  std::int64_t different() override {
    return watch_ ? watch_->different() + (misread_ ? 1 : 0) : 0;
  }

  std::vector<std::byte> result() const override {
    std::vector<std::byte> bytes(result_bytes_);
    check(cudaStreamSynchronize(context_.stream), "the GEMM");
    copy_now(bytes.data(), c_.as<std::byte>() + set_ * strides_.c, bytes.size(), "read the result");
    inject_huge_value(bytes, size_of(types_.output));
    return bytes;
  }

  std::optional<Hertz> clock() override { return context_.timer->clock(); }

 private:
  double seconds_of_chosen() {
    run(1);  // the first call of an algorithm loads its kernel, which the timer's gate must not
             // hold
    check(cudaStreamSynchronize(context_.stream), "try an algorithm");
    return context_.timer->time([&] { run(1); }, 1).value;
  }

  /// GPU bytes of `elements` of A or B.
  std::size_t stored_bytes(std::size_t elements) const {
    return halves_ ? elements / 2 : elements * element_bytes_;
  }

  void store(const DeviceMemory& to, std::span<const std::byte> elements) const {
    if (halves_)
      upload(to, packed_halves(elements));
    else
      upload(to, elements);
  }

  std::size_t blocks_in_line() const { return static_cast<std::size_t>(shape_.k / types_.block); }

  /// Copies the first set to all others.
  void spread(const DeviceMemory& matrices, std::size_t stride) const {
    for (std::size_t set = 1; set < sets_; ++set)
      copy_now(matrices.as<std::byte>() + set * stride, matrices.as<>(), stride,
               "copy a matrix for the rotation");
  }

  const GemmShape shape_;
  const CublasTypes types_;
  const bool transposed_b_;
  CublasDescriptors descriptors_;
  const CublasContext context_;
  CublasScalar alpha_;
  const CublasScalar beta_;
  const std::size_t element_bytes_;  // on the host
  const bool halves_;                // two elements per byte on the GPU
  /// Bytes between the matrices of consecutive sets.
  struct Strides {
    std::size_t a = 0, b = 0, c = 0;
  };
  const Strides strides_;
  const std::size_t result_bytes_;
  const std::size_t sets_;            // of equal matrices, used in turn
  std::size_t set_ = 0;               // of the last call
  DeviceMemory a_, b_, c_;            // of all sets
  DeviceMemory a_scales_, b_scales_;  // of block-scaled products
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
  std::size_t chosen_ = 0;
  std::optional<ResultWatch> watch_;
  std::int64_t watched_ = 0;  // products so far
  bool misread_ = false;      // the GPU reads the watched result otherwise than the host
};

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;  // Hopper's kernels need 32 MiB

using LtHandle = CublasHandle<cublasLtHandle_t, cublasLtDestroy>;

class CublasGemm final : public Gemm {
 public:
  CublasGemm(int device, cudaStream_t stream, StreamTimer& timer)
      : stream_(stream), timer_(timer), workspace_(kWorkspaceBytes) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "query the GPU's properties");
    compute_capability_ = 10 * properties.major + properties.minor;
    chip_ = std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) +
            " multiprocessors";  // a slice of a GPU has the same name
    check(cublasLtCreate(handle_.out()), "cublasLtCreate");
  }

  std::string chip() const override { return chip_; }

  GemmOffer prepare(const GemmRequest& request) override {
    const std::string obstacle = cublas_obstacle(request, compute_capability_);
    if (!obstacle.empty()) return {nullptr, obstacle};
    const CublasContext context{handle_.get(), workspace_.as<>(), kWorkspaceBytes, stream_,
                                &timer_};
    auto plan = std::make_unique<CublasPlan>(request, *cublas_types(request.dtype), context);
    if (!plan->found()) return {nullptr, "cuBLASLt has no algorithm for this GEMM"};
    return {std::move(plan), ""};
  }

 private:
  const cudaStream_t stream_;
  StreamTimer& timer_;
  DeviceMemory workspace_;
  LtHandle handle_;
  int compute_capability_ = 0;
  std::string chip_;
};

}  // namespace

std::unique_ptr<Gemm> make_cublas_gemm(int device, cudaStream_t stream, StreamTimer& timer) {
  return std::make_unique<CublasGemm>(device, stream, timer);
}

}  // namespace bench
