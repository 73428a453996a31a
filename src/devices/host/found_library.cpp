#include "devices/host/found_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "core/child_process.h"
#include "core/error.h"
#include "core/text.h"
#include "devices/host/found_blas.h"
#include "devices/host/found_onednn.h"

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

/// Of scripts/install --fastest, in its folder.
constexpr std::array kInstalled{"scipy_openblas32/lib/libscipy_openblas.so", "lib/libdnnl.so.3",
                                "lib/libmkl_rt.so"};

/// A library of a vendor: under the folder that a variable names, or else under the one that its
/// installer makes, which may have versions.
struct VendorLibrary {
  std::string given;
  fs::path parent;        // of the installer's folder
  std::string beginning;  // of that folder's name; the last of them is taken
  std::vector<std::string> files;
};

std::vector<VendorLibrary> vendor_libraries(const LibraryEnvironment& environment) {
  const fs::path opt = environment.root / "opt";
  return {{environment.mkl,
           opt / "intel/oneapi/mkl",
           "latest",
           {"lib/libmkl_rt.so", "lib/intel64/libmkl_rt.so"}},
          {environment.aocl,
           opt / "AMD/aocl",
           "aocl-linux",
           {"lib/libblis-mt.so", "gcc/lib/libblis-mt.so", "aocc/lib/libblis-mt.so"}},
          {environment.armpl, opt / "arm", "armpl", {"lib/libarmpl_lp64.so"}}};
}

/// "" if there is none.
fs::path last_folder(const fs::path& parent, const std::string& beginning) {
  fs::path last;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(parent, none))
    if (entry.path().filename().string().starts_with(beginning) && entry.path() > last)
      last = entry.path();
  return last;
}

}  // namespace

LibraryEnvironment LibraryEnvironment::of_process() {
  return {.home = environment_variable("HOME"),
          .given = environment_variable("BENCHCTL_BLAS"),
          .mkl = environment_variable("MKLROOT"),
          .aocl = environment_variable("AOCL_ROOT"),
          .armpl = environment_variable("ARMPL_DIR")};
}

std::vector<fs::path> library_paths(const LibraryEnvironment& environment) {
  std::vector<fs::path> paths;
  for (const std::string_view path : words_of(environment.given, ":")) paths.emplace_back(path);
  std::error_code none;
  const auto add_first = [&](const fs::path& folder, const auto& files) {
    for (const auto& file : files)
      if (fs::is_regular_file(folder / file, none)) return paths.push_back(folder / file);
  };
  std::vector<fs::path> prefixes{environment.root / "usr/local"};
  if (const fs::path home = environment.home; home.is_absolute())
    prefixes.push_back(home / ".local");
  for (const char* file : kInstalled)
    for (const fs::path& prefix : prefixes)
      add_first(prefix / "lib/benchctl/blas", std::array{file});
  for (const VendorLibrary& vendor : vendor_libraries(environment)) {
    const fs::path given = vendor.given;
    const fs::path folder =
        given.is_absolute() ? given : last_folder(vendor.parent, vendor.beginning);
    if (!folder.empty()) add_first(folder, vendor.files);
  }
  // Of two names of a file the first is kept.
  std::vector<fs::path> once;
  for (const fs::path& path : paths)
    if (std::ranges::none_of(once, [&](const fs::path& known) {
          return known == path || fs::equivalent(known, path, none);
        }))
      once.push_back(path);
  return once;
}

SharedLibrary::SharedLibrary(fs::path path)
    : path_(std::move(path)),
      handle_(dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | kOwnSymbolsFirst)) {
  if (handle_ == nullptr)
    throw Error(ErrorKind::environment, "cannot load " + path_.string() + ": " + dlerror(),
                "install what it needs, or remove it (from BENCHCTL_BLAS, if it is named there)");
}

void* SharedLibrary::find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

void SharedLibrary::require_own(const std::string& name) const {
  void* const linked = dlsym(RTLD_DEFAULT, name.c_str());
  if (linked != nullptr && (linked == find(name) || kOwnSymbolsFirst == 0))
    throw Error(ErrorKind::environment,
                path_.string() + " has the names of the library that this program uses already",
                "name another one, such as PyPI's scipy-openblas32");
}

namespace {

/// While a library is loaded: OpenBLAS starts its threads then, and ours do the work.
class OneBlasThread {
 public:
  OneBlasThread() : before_(environment_variable(kName)) { setenv(kName, "1", 1); }
  ~OneBlasThread() {
    if (before_.empty())
      unsetenv(kName);
    else
      setenv(kName, before_.c_str(), 1);
  }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  static constexpr const char* kName = "OPENBLAS_NUM_THREADS";
  std::string before_;
};

}  // namespace

std::unique_ptr<FoundLibrary> load_library(const fs::path& path) {
  const OneBlasThread one_thread;
  const SharedLibrary library(path);
  if (FoundOneDnn::is_one(library)) return std::make_unique<FoundOneDnn>(library);
  return std::make_unique<FoundBlas>(library);
}

namespace {

struct Loaded {
  std::vector<std::unique_ptr<FoundLibrary>> libraries = {};
  std::vector<std::string> problems = {};

  Loaded() {
    for (const fs::path& path : library_paths(LibraryEnvironment::of_process())) try {
        libraries.push_back(load_library(path));
      } catch (const Error& error) {
        problems.emplace_back(error.what());
      }
  }
};

const Loaded& loaded() {
  static const Loaded all;
  return all;
}

}  // namespace

const std::vector<std::unique_ptr<FoundLibrary>>& found_libraries() { return loaded().libraries; }
const std::vector<std::string>& found_library_problems() { return loaded().problems; }

}  // namespace bench
