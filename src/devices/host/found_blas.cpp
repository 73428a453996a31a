#include "devices/host/found_blas.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "devices/host/gemm_blas_plan.h"

namespace bench {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111;  // CBLAS_ORDER, CBLAS_TRANSPOSE
constexpr int kFixedOffset = 173;                   // oneMKL's CBLAS_OFFSET: one for all of C

template <class T, class Int>
using Cblas = void (*)(int, int, int, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
/// oneMKL: gemm_bf16bf16f32 and gemm_f16f16f32.
using Cblas16 = void (*)(int, int, int, int, int, int, float, const void*, int, const void*, int,
                         float, float*, int);
/// oneMKL: gemm_s8u8s32. In row-major layout A is unsigned and B signed, each minus its offset.
using Cblas8 = void (*)(int, int, int, int, int, int, int, float, const void*, int, std::int8_t,
                        const void*, int, std::int8_t, float, std::int32_t*, int,
                        const std::int32_t*);

/// The kernels that oneMKL has loaded for this CPU: "avx512" of libmkl_avx512.so.3.
std::string mkl_kernels() {
  std::string found;
  const auto look = [](dl_phdr_info* info, std::size_t, void* result) {
    const std::string name = std::filesystem::path(info->dlpi_name).filename();
    for (const std::string kernels : {"avx10", "avx512", "avx2", "mc3", "def"})
      if (name.starts_with("libmkl_" + kernels + ".")) *static_cast<std::string*>(result) = kernels;
    return 0;
  };
  dl_iterate_phdr(look, &found);
  return found;
}

}  // namespace

GemmBlock block_of_thread(const GemmShape& shape, int threads, int thread) {
  constexpr std::int64_t kMultiple = 16;
  // As many rows of blocks as make them most nearly square.
  int rows = 1;
  double best = 1e300;
  for (int r = 1; r <= threads; ++r) {
    if (threads % r != 0) continue;
    const double height = static_cast<double>(shape.m) / r;
    const double width = static_cast<double>(shape.n) * r / threads;
    const double ratio = std::max(height, width) / std::min(height, width);
    if (ratio < best) {
      best = ratio;
      rows = r;
    }
  }
  const int columns = threads / rows;
  const auto part = [&](std::int64_t size, int parts, int index) {
    const auto begin = [&](int i) {
      const std::int64_t at = size * i / parts;
      return i == 0 || i == parts ? at
                                  : std::min(size, (at + kMultiple / 2) / kMultiple * kMultiple);
    };
    return std::pair(begin(index), begin(index + 1) - begin(index));
  };
  const auto [row, height] = part(shape.m, rows, thread / columns);
  const auto [column, width] = part(shape.n, columns, thread % columns);
  return {row, height, column, width};
}

FoundBlas::FoundBlas(const SharedLibrary& library) {
  find_interface(library);
  version_ = library.path().filename().string();
  kind_ = "blas";
  if (library.find(prefix_ + "openblas_get_config" + suffix_) != nullptr)
    describe_openblas(library);
  else if (library.find("MKL_Get_Version_String") != nullptr)
    describe_mkl(library);
  else if (library.find("bli_info_get_version_str") != nullptr)
    describe_blis(library);
  else if (library.find("armplversion") != nullptr)
    describe_armpl(library);
}

void FoundBlas::find_interface(const SharedLibrary& library) {
  for (const char* prefix : {"", "scipy_"})
    for (const char* suffix : {"", "64_"}) {
      if (dgemm_ != nullptr) break;
      prefix_ = prefix;
      suffix_ = suffix;
      dgemm_ = library.find(prefix_ + "cblas_dgemm" + suffix_);
      sgemm_ = library.find(prefix_ + "cblas_sgemm" + suffix_);
    }
  if (dgemm_ == nullptr || sgemm_ == nullptr)
    throw Error(ErrorKind::environment,
                library.path().string() + " is neither a BLAS with a CBLAS interface nor oneDNN",
                "name another library, such as PyPI's scipy-openblas32");
  wide_ = suffix_ == "64_";
  if (prefix_.empty() && suffix_.empty()) library.require_own("cblas_dgemm");
}

void FoundBlas::describe_openblas(const SharedLibrary& library) {
  const auto text = [&](const char* function) {
    auto* const found = library.find<const char*()>(prefix_ + function + suffix_);
    return found == nullptr ? std::string() : std::string(found());
  };
  kind_ = "openblas";
  const std::string config = text("openblas_get_config");  // "OpenBLAS 0.3.34 USE64BITINT ..."
  const auto words = words_of(std::string_view(config));
  if (words.size() > 1) version_ = words[1];
  wide_ = wide_ || std::ranges::find(words, "USE64BITINT") != words.end();
  kernels_ = text("openblas_get_corename");
  isa_ = openblas_isa(kernels_);
  if (auto* const parallel = library.find<int()>(prefix_ + "openblas_get_parallel" + suffix_))
    threads_ = parallel() != 0;
  if (auto* const set = library.find<void(int)>(prefix_ + "openblas_set_num_threads" + suffix_))
    set(1);
}

/// Its layers have to be set before it loads its kernels, which the first product does.
void FoundBlas::describe_mkl(const SharedLibrary& library) {
  constexpr int kIntegersOf32Bits = 0, kSequential = 1;
  kind_ = "mkl";
  if (auto* const set = library.find<int(int)>("MKL_Set_Interface_Layer")) set(kIntegersOf32Bits);
  auto* const set_threads = library.find<int(int)>("MKL_Set_Threading_Layer");
  if (set_threads == nullptr || set_threads(kSequential) != kSequential)
    throw Error(ErrorKind::environment,
                library.path().string() + " has threads of its own, which cannot be pinned",
                "name oneMKL's libmkl_rt, and unset MKL_THREADING_LAYER");
  std::array<char, 256> text{};
  library.find<void(char*, int)>("MKL_Get_Version_String")(text.data(), text.size() - 1);
  // "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build ..."
  const auto words = words_of(std::string_view(text.data()));
  const auto word = std::ranges::find(words, "Version");
  if (word != words.end() && word + 1 != words.end())
    version_ = word[1].substr(0, word[1].find('-'));
  bf16_ = library.find("cblas_gemm_bf16bf16f32");
  f16_ = library.find("cblas_gemm_f16f16f32");
  int8_ = library.find("cblas_gemm_s8u8s32");
  const double one = 1;
  double result = 0;
  multiply(Dtype::f64, {1, 1, 1}, {0, 1, 0, 1}, reinterpret_cast<const std::byte*>(&one),
           reinterpret_cast<const std::byte*>(&one), reinterpret_cast<std::byte*>(&result));
  kernels_ = mkl_kernels();
  isa_ = kernels_ == "avx10" || kernels_ == "avx512" ? "avx512" : kernels_ == "avx2" ? "avx2" : "";
}

void FoundBlas::describe_blis(const SharedLibrary& library) {
  kind_ = "blis";
  // "0.9.0", "AOCL-BLIS 5.1.0 Build 20250524"
  const std::string text = library.find<const char*()>("bli_info_get_version_str")();
  for (const std::string_view word : words_of(std::string_view(text)))
    if (!word.empty() && word[0] >= '0' && word[0] <= '9') {
      version_ = word;
      break;
    }
  if (auto* const begin = library.find<void()>("bli_init")) begin();
  if (auto* const bits = library.find<std::int64_t()>("bli_info_get_blas_int_type_size"))
    wide_ = bits() == 64;
  if (auto* const set = library.find<void(std::int64_t)>("bli_thread_set_num_threads")) set(1);
  auto* const id = library.find<int()>("bli_arch_query_id");
  auto* const words = library.find<const char*(int)>("bli_arch_string");
  if (id == nullptr || words == nullptr) return;
  kernels_ = words(id());
  isa_ = blis_isa(kernels_);
}

void FoundBlas::describe_armpl(const SharedLibrary& library) {
  kind_ = "armpl";
  int major = 0, minor = 0, patch = 0;
  const char* tag = nullptr;
  library.find<void(int*, int*, int*, const char**)>("armplversion")(&major, &minor, &patch, &tag);
  version_ = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string FoundBlas::isa(Dtype dtype) const {
  const CpuFeatures& cpu = cpu_features();
  // oneMKL multiplies these types in tiles where the CPU has some for them.
  const bool tiles = (dtype == Dtype::int8 && cpu.amx_int8) ||
                     (dtype == Dtype::bf16 && cpu.amx_bf16) ||
                     (dtype == Dtype::f16 && cpu.amx_fp16);
  return isa_ == "avx512" && tiles ? "amx" : isa_;
}

void* FoundBlas::function(Dtype dtype) const {
  switch (dtype) {
    case Dtype::f64:
      return dgemm_;
    case Dtype::f32:
      return sgemm_;
    case Dtype::bf16:
      return bf16_;
    case Dtype::f16:
      return f16_;
    case Dtype::int8:
      return int8_;
    default:
      return nullptr;
  }
}

namespace {

template <class T>
void multiply_block(void* gemm, bool wide, const GemmShape& shape, const GemmBlock& block,
                    const std::byte* a, const std::byte* b, std::byte* c) {
  const auto call = [&]<class Int>(Int) {
    const auto k = static_cast<Int>(shape.k), n = static_cast<Int>(shape.n);
    reinterpret_cast<Cblas<T, Int>>(gemm)(
        kRowMajor, kNoTranspose, kNoTranspose, static_cast<Int>(block.rows),
        static_cast<Int>(block.columns), k, T{1}, reinterpret_cast<const T*>(a), k,
        reinterpret_cast<const T*>(b), n, T{0}, reinterpret_cast<T*>(c), n);
  };
  if (wide)
    call(std::int64_t{});
  else
    call(std::int32_t{});
}

}  // namespace

void FoundBlas::multiply(Dtype dtype, const GemmShape& shape, const GemmBlock& block,
                         const std::byte* a, const std::byte* b, std::byte* c) const {
  if (block.rows <= 0 || block.columns <= 0) return;
  const auto offset = [](Dtype of, std::int64_t elements) {
    return elements * static_cast<std::int64_t>(size_of(of));
  };
  a += offset(dtype, block.row * shape.k);
  b += offset(dtype, block.column);
  c += offset(type_of_product(dtype), block.row * shape.n + block.column);
  void* const gemm = function(dtype);
  if (dtype == Dtype::f64) return multiply_block<double>(gemm, wide_, shape, block, a, b, c);
  if (dtype == Dtype::f32) return multiply_block<float>(gemm, wide_, shape, block, a, b, c);
  const auto rows = static_cast<int>(block.rows), columns = static_cast<int>(block.columns),
             k = static_cast<int>(shape.k), n = static_cast<int>(shape.n);
  if (dtype == Dtype::int8) {
    const std::int32_t no_offset = 0;
    return reinterpret_cast<Cblas8>(gemm)(kRowMajor, kNoTranspose, kNoTranspose, kFixedOffset, rows,
                                          columns, k, 1.0f, a, k, 0, b, n, 0, 0.0f,
                                          reinterpret_cast<std::int32_t*>(c), n, &no_offset);
  }
  reinterpret_cast<Cblas16>(gemm)(kRowMajor, kNoTranspose, kNoTranspose, rows, columns, k, 1.0f, a,
                                  k, b, n, 0.0f, reinterpret_cast<float*>(c), n);
}

namespace {

class FoundBlasPlan final : public BlasPlan {
 public:
  FoundBlasPlan(const FoundBlas& blas, const GemmRequest& request, const std::vector<int>& cores,
                HostThreadWatch& watch)
      : BlasPlan(request, cores, watch), blas_(blas) {
    for (int thread = 0; thread < request.threads; ++thread)
      blocks_.push_back(block_of_thread(request.shape, request.threads, thread));
  }

  std::string library() const override { return blas_.name(); }
  std::string version() const override {  // its number: see name()
    return blas_.kernels().empty() ? "" : "(" + blas_.kernels() + ")";
  }
  std::string implementation() const override { return blas_.kernels(); }
  std::string isa() const override { return blas_.isa(dtype_); }

 private:
  void multiply() override {
    threads_.run([&](int thread) {
      blas_.multiply(dtype_, shape_, blocks_[static_cast<std::size_t>(thread)], a_.data(),
                     b_.data(), c_.data());
    });
  }

  const FoundBlas& blas_;
  std::vector<GemmBlock> blocks_ = {};
};

}  // namespace

GemmOffer FoundBlas::offer(const GemmRequest& request, const std::vector<int>& cores,
                           HostThreadWatch& watch) const {
  if (!has_gemm(request.dtype))
    return {nullptr, name() + " has no " + std::string(to_string(request.dtype)) + " GEMM"};
  if (!allowed_isa(request.isa, isa(request.dtype)))
    return {nullptr, name() + " selected kernels for " +
                         (kernels_.empty() ? "this CPU" : kernels_) + ", not " + request.isa};
  if (!threads_ && request.threads > 1) return {nullptr, name() + " was built without threads"};
  return {std::make_unique<FoundBlasPlan>(*this, request, cores, watch), ""};
}

}  // namespace bench
