#include "core/dtype.h"

#include "core/names.h"

namespace bench {
namespace {

constexpr NameTable<Dtype, 12> kDtypes{{{{Dtype::f64, "f64"},
                                         {Dtype::f32, "f32"},
                                         {Dtype::tf32, "tf32"},
                                         {Dtype::bf16, "bf16"},
                                         {Dtype::f16, "f16"},
                                         {Dtype::fp8_e4m3, "fp8_e4m3"},
                                         {Dtype::fp8_e5m2, "fp8_e5m2"},
                                         {Dtype::mxfp8, "mxfp8"},
                                         {Dtype::nvfp4, "nvfp4"},
                                         {Dtype::int8, "int8"},
                                         {Dtype::int32, "int32"},
                                         {Dtype::int64, "int64"}}}};

}  // namespace

std::string_view to_string(Dtype dtype) { return kDtypes.name(dtype); }
Dtype dtype_from(std::string_view name) { return kDtypes.value(name, "dtype"); }

std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
    case Dtype::int64:
      return 8;
    case Dtype::f32:
    case Dtype::tf32:
    case Dtype::int32:
      return 4;
    case Dtype::bf16:
    case Dtype::f16:
      return 2;
    case Dtype::fp8_e4m3:
    case Dtype::fp8_e5m2:
    case Dtype::mxfp8:
    case Dtype::nvfp4:
    case Dtype::int8:
      return 1;
  }
  return 0;
}

bool is_integer(Dtype dtype) {
  return dtype == Dtype::int8 || dtype == Dtype::int32 || dtype == Dtype::int64;
}

}  // namespace bench
