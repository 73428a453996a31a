// oneDNN 3 found at run time (found_library.h), through its C interface: a newer one than that of
// the build, whose version 2 has another interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devices/host/found_library.h"

namespace bench {

/// The functions of oneDNN 3 that products need. Its objects are opaque pointers; calls return a
/// status, 0 for success (oneapi/dnnl/dnnl.h).
struct OneDnnFunctions {
  using Object = void*;
  struct Argument {
    int argument;
    Object memory;
  };

  int (*engine_create)(Object*, int kind, std::size_t index) = nullptr;
  int (*engine_destroy)(Object) = nullptr;
  int (*stream_create)(Object*, Object engine, unsigned flags) = nullptr;
  int (*stream_wait)(Object) = nullptr;
  int (*stream_destroy)(Object) = nullptr;
  int (*memory_desc_create_with_tag)(Object*, int dimensions, const std::int64_t* sizes, int type,
                                     int tag) = nullptr;
  int (*memory_desc_equal)(const void*, const void*) = nullptr;
  std::size_t (*memory_desc_get_size)(const void*) = nullptr;
  int (*memory_desc_destroy)(Object) = nullptr;
  int (*memory_create)(Object*, const void* description, Object engine, void* data) = nullptr;
  int (*memory_destroy)(Object) = nullptr;
  int (*matmul_primitive_desc_create)(Object*, Object engine, const void* a, const void* b,
                                      const void* bias, const void* c,
                                      const void* attributes) = nullptr;
  int (*reorder_primitive_desc_create)(Object*, const void* from, Object from_engine,
                                       const void* to, Object to_engine,
                                       const void* attributes) = nullptr;
  int (*primitive_desc_next_impl)(Object) = nullptr;
  int (*primitive_desc_query)(const void*, int what, int index, void* result) = nullptr;
  const void* (*primitive_desc_query_md)(const void*, int what, int index) = nullptr;
  int (*primitive_desc_destroy)(Object) = nullptr;
  int (*primitive_create)(Object*, const void* description) = nullptr;
  int (*primitive_execute)(const void*, Object stream, int arguments,
                           const Argument* list) = nullptr;
  int (*primitive_destroy)(Object) = nullptr;
};

class FoundOneDnn final : public FoundLibrary {
 public:
  static bool is_one(const SharedLibrary& library);
  /// Throws Error(environment) if it is not version 3, has threads that this program cannot pin, or
  /// is the library that the program uses.
  explicit FoundOneDnn(const SharedLibrary& library);

  std::string name() const override { return "onednn-" + version_; }
  bool has_gemm(Dtype dtype) const override;
  GemmOffer offer(const GemmRequest& request, const std::vector<int>& cores,
                  HostThreadWatch& watch) const override;

 private:
  OneDnnFunctions functions_ = {};
  std::string version_ = {};
  bool threads_ = true;
};

}  // namespace bench
