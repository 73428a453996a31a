// Matrix libraries that this machine has besides those that the program was built with: found at
// run time, and loaded when a GEMM asks for them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "devices/host/gemm_backends.h"

namespace bench {

/// Where libraries are looked for.
struct LibraryEnvironment {
  std::filesystem::path root = "/";   // stands for "/", in tests
  std::string home = {}, given = {};  // $HOME and $BENCHCTL_BLAS; "": not set
  /// $MKLROOT, $AOCL_ROOT and $ARMPL_DIR, as environment modules set them.
  std::string mkl = {}, aocl = {}, armpl = {};

  static LibraryEnvironment of_process();
};
/// Files that are libraries of this kind: those in $BENCHCTL_BLAS, separated by colons, what
/// `scripts/install --fastest` installed, and oneMKL, AOCL-BLIS and Arm Performance Libraries where
/// their variables or their installers put them. Each once.
std::vector<std::filesystem::path> library_paths(const LibraryEnvironment& environment);

/// A loaded file. It stays for the rest of the process: matrix libraries have threads and cannot be
/// unloaded.
class SharedLibrary {
 public:
  /// Throws Error(environment) if it cannot be loaded.
  explicit SharedLibrary(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  void* find(const std::string& name) const;  // nullptr: it has no such function
  /// A function of the given type; nullptr if it has none of this name.
  template <class Function>
  Function* find(const std::string& name) const {
    return reinterpret_cast<Function*>(find(name));
  }
  /// Throws Error(environment) if this program has a function of this name that would serve the
  /// library's own calls, or if it is the library that the program uses.
  void require_own(const std::string& name) const;

 private:
  std::filesystem::path path_;
  void* handle_ = nullptr;
};

class FoundLibrary {
 public:
  virtual ~FoundLibrary() = default;
  /// With the version ("openblas-0.3.34.481.3"): results of two versions are different series.
  virtual std::string name() const = 0;
  virtual bool has_gemm(Dtype dtype) const = 0;
  virtual GemmOffer offer(const GemmRequest& request, const std::vector<int>& cores,
                          HostThreadWatch& watch) const = 0;
};

/// Loads a library of any known kind. Throws Error(environment) if that fails, if it is of no known
/// kind, or if it is the one that the program uses already.
std::unique_ptr<FoundLibrary> load_library(const std::filesystem::path& path);

/// All that load, each once in a process, and why others do not.
const std::vector<std::unique_ptr<FoundLibrary>>& found_libraries();
const std::vector<std::string>& found_library_problems();

}  // namespace bench
