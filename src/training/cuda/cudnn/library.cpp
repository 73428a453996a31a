#include "training/cuda/cudnn/library.h"

#include <dlfcn.h>

#include <array>

#include "core/error.h"

namespace bench::cudnn {

Library::Library(const std::string& path) : path_(path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    problem_ = "cannot load " + path + ": " + (why == nullptr ? "" : why);
    return;
  }
  find(library, "cudnnGetVersion", get_version_);
  find(library, "cudnnGetErrorString", text_);
  find(library, "cudnnGetLastErrorString", last_error_);
  find(library, "cudnnCreate", create);
  find(library, "cudnnDestroy", destroy);
  find(library, "cudnnSetStream", set_stream);
  find(library, "cudnnBackendCreateDescriptor", create_descriptor);
  find(library, "cudnnBackendDestroyDescriptor", destroy_descriptor);
  find(library, "cudnnBackendFinalize", finalize);
  find(library, "cudnnBackendSetAttribute", set_attribute);
  find(library, "cudnnBackendGetAttribute", get_attribute);
  find(library, "cudnnBackendExecute", execute);
  if (problem_.empty() && get_version_() < kOldestVersion)
    problem_ = "cuDNN " + version() + " is older than 9.10.2";
}

template <class Function>
void Library::find(void* library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (function == nullptr && problem_.empty()) problem_ = path_ + " has no " + symbol;
}

std::string Library::version() const {
  const std::size_t number = get_version_();
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

void Library::check(Status status, const std::string& what) const {
  if (status == kSuccess) return;
  std::array<char, 1024> details{};
  last_error_(details.data(), details.size() - 1);
  const char* words = text_(status);
  std::string text = "cuDNN: " + what + ": " + (words == nullptr ? "" : words);
  if (details[0] != '\0') text += std::string(": ") + details.data();
  throw Error(ErrorKind::environment, text);
}

}  // namespace bench::cudnn
