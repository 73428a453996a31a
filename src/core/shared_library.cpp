#include "core/shared_library.h"

#include <dlfcn.h>

namespace bench {

SharedLibrary::SharedLibrary(const std::string& path)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* why = dlerror();
  error_ = why == nullptr ? "" : why;
}

void* SharedLibrary::address(const char* symbol) {
  void* found = dlsym(handle_, symbol);
  if (found == nullptr && missing_.empty()) missing_ = symbol;
  return found;
}

}  // namespace bench
