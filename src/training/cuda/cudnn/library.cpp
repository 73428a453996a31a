#include "training/cuda/cudnn/library.h"

#include <array>

#include "core/error.h"
#include "core/shared_library.h"

namespace bench::cudnn {

Library::Library(const std::string& path) {
  SharedLibrary library(path);
  if (!library.is_open()) {
    problem_ = "cannot load " + path + ": " + library.error();
    return;
  }
  library.find("cudnnGetVersion", get_version_);
  library.find("cudnnGetErrorString", text_);
  library.find("cudnnGetLastErrorString", last_error_);
  library.find("cudnnCreate", create);
  library.find("cudnnDestroy", destroy);
  library.find("cudnnSetStream", set_stream);
  library.find("cudnnBackendCreateDescriptor", create_descriptor);
  library.find("cudnnBackendDestroyDescriptor", destroy_descriptor);
  library.find("cudnnBackendFinalize", finalize);
  library.find("cudnnBackendSetAttribute", set_attribute);
  library.find("cudnnBackendGetAttribute", get_attribute);
  library.find("cudnnBackendExecute", execute);
  if (!library.missing().empty())
    problem_ = path + " has no " + library.missing();
  else if (get_version_() < kOldestVersion)
    problem_ = "cuDNN " + version() + " is older than 9.10.2";
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
