// NVIDIA's libcudnn, opened at run time: a program without it trains with its own attention.
#pragma once

#include <cstddef>
#include <string>

#include "training/cuda/cudnn/declarations.h"

namespace bench::cudnn {

inline constexpr const char* kDefaultLibrary = "libcudnn.so.9";
/// Since 9.8 graphs need no handle, and so no GPU; since 9.10 masked scores are minus infinity,
/// before the lowest finite number; attention of 9.10.0 and 9.10.1 is faulty (cudnn-frontend 1.24
/// refuses both).
inline constexpr std::size_t kOldestVersion = 91002;

class Library {
 public:
  /// It is never closed: cuDNN's threads and CUDA's tables outlive this object.
  explicit Library(const std::string& path = kDefaultLibrary);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Why it cannot be used, in which case nothing below may be called; else empty.
  const std::string& problem() const { return problem_; }
  /// "9.19.0".
  std::string version() const;
  std::size_t version_number() const { return get_version_(); }  // 91900
  /// Throws Error(environment): "cuDNN: finalize a tensor: CUDNN_STATUS_BAD_PARAM: ...".
  void check(Status status, const std::string& what) const;

  Status (*create)(Handle*) = nullptr;
  Status (*destroy)(Handle) = nullptr;
  Status (*set_stream)(Handle, void* stream) = nullptr;
  Status (*create_descriptor)(DescriptorType, BackendDescriptor*) = nullptr;
  Status (*destroy_descriptor)(BackendDescriptor) = nullptr;
  Status (*finalize)(BackendDescriptor) = nullptr;
  Status (*set_attribute)(BackendDescriptor, Attribute, AttributeType, std::int64_t count,
                          const void* values) = nullptr;
  Status (*get_attribute)(BackendDescriptor, Attribute, AttributeType, std::int64_t room,
                          std::int64_t* count, void* values) = nullptr;
  Status (*execute)(Handle, BackendDescriptor plan, BackendDescriptor pack) = nullptr;

 private:
  std::string problem_;
  std::size_t (*get_version_)() = nullptr;
  const char* (*text_)(Status) = nullptr;
  void (*last_error_)(char* text, std::size_t room) = nullptr;
};

}  // namespace bench::cudnn
