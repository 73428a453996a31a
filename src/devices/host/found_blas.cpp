#include "devices/host/found_blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/child_process.h"
#include "core/error.h"
#include "core/text.h"
#include "devices/host/gemm_blas_plan.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// The program may be linked with another version of the same library, whose symbols would come
// first. Sanitizers refuse the flag.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define BENCH_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BENCH_SANITIZED
#endif
#if defined(RTLD_DEEPBIND) && !defined(BENCH_SANITIZED)
constexpr int kOwnSymbolsFirst = RTLD_DEEPBIND;
#else
constexpr int kOwnSymbolsFirst = 0;
#endif

constexpr int kRowMajor = 101, kNoTranspose = 111;  // CBLAS_ORDER, CBLAS_TRANSPOSE

template <class T, class Int>
using Cblas = void (*)(int, int, int, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);

constexpr const char* kPackage = "lib/benchctl/blas/scipy_openblas32/lib/libscipy_openblas.so";

}  // namespace

std::vector<fs::path> blas_libraries(const BlasEnvironment& environment) {
  std::vector<fs::path> paths;
  for (const std::string_view path : words_of(environment.given, ":")) paths.emplace_back(path);
  std::vector<fs::path> installed{environment.root / "usr/local" / kPackage};
  if (const fs::path home = environment.home; home.is_absolute())
    installed.push_back(home / ".local" / kPackage);
  std::error_code none;
  for (const fs::path& path : installed)
    if (fs::is_regular_file(path, none)) paths.push_back(path);
  return paths;
}

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

void* FoundBlas::symbol(const std::string& name) const { return dlsym(library_, name.c_str()); }

namespace {

/// While it is loaded: OpenBLAS starts its threads then, and ours do the work.
class OneOpenBlasThread {
 public:
  OneOpenBlasThread() : before_(environment_variable(kName)) { setenv(kName, "1", 1); }
  ~OneOpenBlasThread() {
    if (before_.empty())
      unsetenv(kName);
    else
      setenv(kName, before_.c_str(), 1);
  }
  OneOpenBlasThread(const OneOpenBlasThread&) = delete;
  OneOpenBlasThread& operator=(const OneOpenBlasThread&) = delete;

 private:
  static constexpr const char* kName = "OPENBLAS_NUM_THREADS";
  std::string before_;
};

}  // namespace

FoundBlas::FoundBlas(const fs::path& path) : path_(path) {
  const OneOpenBlasThread one_thread;
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | kOwnSymbolsFirst);
  if (library_ == nullptr)
    throw Error(ErrorKind::environment, "cannot load " + path.string() + ": " + dlerror(),
                "remove it from BENCHCTL_BLAS, or install what it needs");
  find_interface();
  describe();
}

/// OpenBLAS can be built with a prefix and a suffix of all names.
void FoundBlas::find_interface() {
  for (const char* prefix : {"", "scipy_"})
    for (const char* suffix : {"", "64_"}) {
      if (dgemm_ != nullptr) break;
      prefix_ = prefix;
      suffix_ = suffix;
      dgemm_ = symbol(prefix_ + "cblas_dgemm" + suffix_);
      sgemm_ = symbol(prefix_ + "cblas_sgemm" + suffix_);
    }
  const std::string name = path_.string();
  if (dgemm_ == nullptr || sgemm_ == nullptr ||
      symbol(prefix_ + "openblas_get_config" + suffix_) == nullptr)
    throw Error(ErrorKind::environment, name + " is no OpenBLAS with a CBLAS interface",
                "name an OpenBLAS, such as PyPI's scipy-openblas32");
  const bool plain_names = prefix_.empty() && suffix_.empty();
  void* const linked = dlsym(RTLD_DEFAULT, "cblas_dgemm");
  if (plain_names && linked != nullptr && (linked == dgemm_ || kOwnSymbolsFirst == 0))
    throw Error(ErrorKind::environment,
                name + " has the names of the library that this program uses already",
                "name another OpenBLAS, such as PyPI's scipy-openblas32");
}

/// Also limits a call to the thread that makes it.
void FoundBlas::describe() {
  const auto text = [&](const char* function) {
    void* const found = symbol(prefix_ + function + suffix_);
    return found == nullptr ? std::string() : reinterpret_cast<const char* (*)()>(found)();
  };
  const std::string config = text("openblas_get_config");  // "OpenBLAS 0.3.34 USE64BITINT ..."
  const auto words = words_of(std::string_view(config));
  version_ = words.size() > 1 ? std::string(words[1]) : path_.filename().string();
  wide_ = std::ranges::find(words, "USE64BITINT") != words.end() || suffix_ == "64_";
  kernels_ = text("openblas_get_corename");
  if (void* parallel = symbol(prefix_ + "openblas_get_parallel" + suffix_))
    threads_ = reinterpret_cast<int (*)()>(parallel)() != 0;
  if (void* set = symbol(prefix_ + "openblas_set_num_threads" + suffix_))
    reinterpret_cast<void (*)(int)>(set)(1);
}

namespace {

template <class T>
void multiply_block(void* gemm, bool wide, const GemmShape& shape, const GemmBlock& block,
                    const T* a, const T* b, T* c) {
  if (block.rows <= 0 || block.columns <= 0) return;
  const auto call = [&]<class Int>(Int) {
    const auto k = static_cast<Int>(shape.k), n = static_cast<Int>(shape.n);
    reinterpret_cast<Cblas<T, Int>>(gemm)(
        kRowMajor, kNoTranspose, kNoTranspose, static_cast<Int>(block.rows),
        static_cast<Int>(block.columns), k, T{1}, a + block.row * shape.k, k, b + block.column, n,
        T{0}, c + block.row * shape.n + block.column, n);
  };
  if (wide)
    call(std::int64_t{});
  else
    call(std::int32_t{});
}

}  // namespace

void FoundBlas::multiply(const GemmShape& shape, const GemmBlock& block, const double* a,
                         const double* b, double* c) const {
  multiply_block(dgemm_, wide_, shape, block, a, b, c);
}

void FoundBlas::multiply(const GemmShape& shape, const GemmBlock& block, const float* a,
                         const float* b, float* c) const {
  multiply_block(sgemm_, wide_, shape, block, a, b, c);
}

namespace {

struct Loaded {
  std::vector<std::unique_ptr<FoundBlas>> libraries = {};
  std::vector<std::string> problems = {};

  Loaded() {
    for (const fs::path& path :
         blas_libraries({"/", environment_variable("HOME"), environment_variable("BENCHCTL_BLAS")}))
      try {
        libraries.push_back(std::make_unique<FoundBlas>(path));
      } catch (const Error& error) {
        problems.emplace_back(error.what());
      }
  }
};

const Loaded& loaded() {
  static const Loaded all;
  return all;
}

class FoundPlan final : public BlasPlan {
 public:
  FoundPlan(const FoundBlas& blas, const GemmRequest& request, const std::vector<int>& cores,
            HostThreadWatch& watch)
      : BlasPlan(request, cores, watch), blas_(blas) {
    for (int thread = 0; thread < request.threads; ++thread)
      blocks_.push_back(block_of_thread(request.shape, request.threads, thread));
  }

  std::string library() const override { return blas_.name(); }
  std::string version() const override { return "(" + blas_.kernels() + ")"; }  // see name()
  std::string implementation() const override { return blas_.kernels(); }
  std::string isa() const override { return openblas_isa(blas_.kernels()); }

 private:
  void multiply() override {
    threads_.run([&](int thread) {
      const GemmBlock& block = blocks_[static_cast<std::size_t>(thread)];
      if (dtype_ == Dtype::f64)
        blas_.multiply(shape_, block, a_.as<double>(), b_.as<double>(), c_.as<double>());
      else
        blas_.multiply(shape_, block, a_.as<float>(), b_.as<float>(), c_.as<float>());
    });
  }

  const FoundBlas& blas_;
  std::vector<GemmBlock> blocks_ = {};
};

}  // namespace

const std::vector<std::unique_ptr<FoundBlas>>& found_blas() { return loaded().libraries; }
const std::vector<std::string>& found_blas_problems() { return loaded().problems; }

GemmOffer make_found_gemm(const FoundBlas& blas, const GemmRequest& request,
                          const std::vector<int>& cores, HostThreadWatch& watch) {
  const std::string what = blas.name();
  if (request.dtype != Dtype::f64 && request.dtype != Dtype::f32)
    return {nullptr, what + " has no " + std::string(to_string(request.dtype)) + " product"};
  if (!allowed_isa(request.isa, openblas_isa(blas.kernels())))
    return {nullptr, what + " selected kernels for " + blas.kernels() + ", not " + request.isa};
  if (!blas.threads() && request.threads > 1) return {nullptr, what + " was built without threads"};
  return {std::make_unique<FoundPlan>(blas, request, cores, watch), ""};
}

}  // namespace bench
