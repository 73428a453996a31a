#include "devices/host/found_blas.h"

#include <dlfcn.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "devices/host/gemm_blas_plan.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// The program may be linked with another version of the same library, whose symbols would come
// first. Sanitizers refuse the flag.
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__)
constexpr int kOwnSymbolsFirst = RTLD_DEEPBIND;
#else
constexpr int kOwnSymbolsFirst = 0;
#endif

constexpr int kRowMajor = 101, kNoTranspose = 111;  // CBLAS_ORDER, CBLAS_TRANSPOSE

template <class T, class Int>
using Cblas = void (*)(int, int, int, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<fs::path> matches(const fs::path& pattern) {
  glob_t found{};
  std::vector<fs::path> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  return paths;
}

constexpr const char* kPackages[] = {"scipy_openblas32/lib/libscipy_openblas.so",
                                     "scipy_openblas64/lib/libscipy_openblas64_.so",
                                     "numpy.libs/libscipy_openblas*.so"};
constexpr const char* kVendors[] = {"opt/intel/oneapi/mkl/latest/lib/libmkl_rt.so.2",
                                    "opt/AMD/aocl/*/*/lib_LP64/libblis-mt.so",
                                    "opt/arm/armpl*/lib/libarmpl_lp64.so"};

}  // namespace

std::vector<fs::path> blas_libraries(const BlasEnvironment& environment) {
  std::vector<fs::path> candidates;
  for (const std::string_view path : words_of(environment.given, ":"))
    candidates.emplace_back(path);
  std::vector<fs::path> packages;
  if (!environment.virtual_env.empty())
    packages.push_back(fs::path(environment.virtual_env) / "lib/python3*/site-packages");
  for (const char* folder : {".local/lib/benchctl/blas", ".local/lib/python3*/site-packages"})
    if (!environment.home.empty()) packages.push_back(fs::path(environment.home) / folder);
  for (const char* folder :
       {"usr/local/lib/benchctl/blas", "usr/local/lib/python3*/dist-packages",
        "usr/local/lib/python3*/site-packages", "usr/lib/python3*/dist-packages",
        "usr/lib/python3*/site-packages", "usr/lib64/python3*/site-packages"})
    packages.push_back(environment.root / folder);
  const auto add = [&](const fs::path& pattern) {
    const auto found = matches(pattern);
    candidates.insert(candidates.end(), found.begin(), found.end());
  };
  for (const fs::path& folder : packages)
    for (const char* package : kPackages) add(folder / package);
  for (const char* vendor : kVendors) add(environment.root / vendor);
  std::vector<fs::path> existing;
  std::set<fs::path> seen;
  for (const fs::path& path : candidates) {
    std::error_code none;
    const fs::path real = fs::canonical(path, none);
    const bool named = environment.given.find(path.string()) != std::string::npos;
    if (seen.insert(real.empty() ? path : real).second &&
        (named || fs::is_regular_file(real, none)))
      existing.push_back(path);
  }
  return existing;
}

std::vector<fs::path> blas_libraries_here() {
  return blas_libraries(
      {"/", variable("HOME"), variable("VIRTUAL_ENV"), variable("BENCHCTL_BLAS")});
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

FoundBlas::FoundBlas(const fs::path& path) : path_(path) {
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | kOwnSymbolsFirst);
  if (library_ == nullptr)
    throw Error(ErrorKind::environment, "cannot load " + path.string() + ": " + dlerror(),
                "remove it from BENCHCTL_BLAS, or install what it needs");
  find_interface();
  describe();
}

/// OpenBLAS can be built with a prefix and a suffix of all names; "64_" stands for 64-bit integers.
void FoundBlas::find_interface() {
  for (const char* prefix : {"", "scipy_"})
    for (const char* suffix : {"", "64_"}) {
      if (dgemm_ != nullptr) return;
      prefix_ = prefix;
      suffix_ = suffix;
      wide_ = !suffix_.empty();
      dgemm_ = symbol(prefix_ + "cblas_dgemm" + suffix_);
      sgemm_ = symbol(prefix_ + "cblas_sgemm" + suffix_);
    }
  if (dgemm_ == nullptr || sgemm_ == nullptr)
    throw Error(ErrorKind::environment, path_.string() + " has no cblas_dgemm and cblas_sgemm",
                "name a library with a CBLAS interface");
}

/// Also limits a call to the thread that makes it.
void FoundBlas::describe() {
  using Text = const char* (*)();
  using Set = void (*)(int);
  if (void* config = symbol(prefix_ + "openblas_get_config" + suffix_)) {
    name_ = "openblas";
    const auto words = words_of(std::string_view(reinterpret_cast<Text>(config)()));
    if (words.size() > 1) version_ = std::string(words[1]);
    if (void* core = symbol(prefix_ + "openblas_get_corename" + suffix_))
      kernels_ = reinterpret_cast<Text>(core)();
    if (void* set = symbol(prefix_ + "openblas_set_num_threads" + suffix_))
      reinterpret_cast<Set>(set)(1);
  } else if (void* text = symbol("mkl_get_version_string")) {
    name_ = "mkl";
    std::string buffer(256, '\0');
    reinterpret_cast<void (*)(char*, int)>(text)(buffer.data(), static_cast<int>(buffer.size()));
    version_ = buffer.c_str();
    if (void* set = symbol("MKL_Set_Num_Threads")) reinterpret_cast<Set>(set)(1);
  } else if (void* version = symbol("bli_info_get_version_str")) {
    name_ = "blis";
    version_ = reinterpret_cast<Text>(version)();
    if (void* set = symbol("bli_thread_set_num_threads"))
      reinterpret_cast<void (*)(std::int64_t)>(set)(1);
  } else if (path_.filename().string().starts_with("libarmpl")) {
    name_ = "armpl";
  }
  if (!kernels_.empty()) version_ += " (" + kernels_ + ")";
}

std::string FoundBlas::isa() const { return name_ == "openblas" ? openblas_isa(kernels_) : ""; }

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
    std::set<std::pair<std::string, std::string>> seen;  // the same build in several environments
    for (const fs::path& path : blas_libraries_here()) try {
        auto one = std::make_unique<FoundBlas>(path);
        if (seen.emplace(one->name(), one->version()).second) libraries.push_back(std::move(one));
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
  std::string version() const override { return blas_.version(); }
  std::string implementation() const override {
    return blas_.kernels().empty() ? blas_.name() : blas_.kernels();
  }
  std::string isa() const override { return blas_.isa(); }

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
  const std::string what = blas.name() + " " + blas.version();
  if (request.dtype != Dtype::f64 && request.dtype != Dtype::f32)
    return {nullptr, what + " has no " + std::string(to_string(request.dtype)) + " product"};
  if (!allowed_isa(request.isa, blas.isa()))
    return {nullptr, what + " is not limited to " + request.isa};
  return {std::make_unique<FoundPlan>(blas, request, cores, watch), ""};
}

}  // namespace bench
