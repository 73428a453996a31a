#include "devices/host/found_onednn.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "core/error.h"
#include "devices/host/gemm_blas_plan.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace bench {
namespace {

using Object = OneDnnFunctions::Object;

// Constants of oneapi/dnnl/dnnl_types.h and dnnl_common_types.h, version 3.
constexpr int kSuccess = 0, kUnimplemented = 3;
constexpr unsigned kSequential = 1, kOpenMp = 2;  // runtimes
constexpr int kCpu = 1;
constexpr unsigned kDefaultFlags = 1;
constexpr int kAnyLayout = 1, kRowMajor = 3;  // dnnl_format_tag_any, dnnl_ab
constexpr int kQueryImplementation = 8, kQueryWeights = 131;
constexpr int kArgA = 1, kArgB = 33, kArgC = 17, kArgFrom = 1, kArgTo = 17;

struct Version {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};

struct Types {
  int a, b, c;
};
/// Nothing for types that oneDNN has no product of on CPUs.
std::optional<Types> types_of(Dtype dtype) {
  constexpr int kF16 = 1, kBf16 = 2, kF32 = 3, kS32 = 4, kS8 = 5, kU8 = 6;
  switch (dtype) {
    case Dtype::f32:
      return Types{kF32, kF32, kF32};
    case Dtype::bf16:
      return Types{kBf16, kBf16, kF32};
    case Dtype::f16:
      return Types{kF16, kF16, kF32};
    case Dtype::int8:
      return Types{kU8, kS8, kS32};
    default:
      return {};
  }
}

void require(int status, const char* what) {
  if (status != kSuccess)
    throw Error(ErrorKind::environment,
                "oneDNN cannot " + std::string(what) + " (status " + std::to_string(status) + ")");
}

/// An object of the library and what ends it.
class Owned {
 public:
  Owned() = default;
  explicit Owned(int (*destroy)(Object)) : destroy_(destroy) {}
  Owned(Owned&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), destroy_(other.destroy_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) destroy_(object_);
  }

  Object get() const { return object_; }
  Object* out() { return &object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object object_ = nullptr;
  int (*destroy_)(Object) = nullptr;
};

/// Calls of the library that make what they return.
class OneDnn {
 public:
  explicit OneDnn(const OneDnnFunctions& functions) : f(functions), engine_(f.engine_destroy) {
    require(f.engine_create(engine_.out(), kCpu, 0), "make an engine");
  }

  Object engine() const { return engine_.get(); }

  Owned stream() const {
    Owned made(f.stream_destroy);
    require(f.stream_create(made.out(), engine(), kDefaultFlags), "make a stream");
    return made;
  }

  Owned matrix(std::int64_t rows, std::int64_t columns, int type, int layout) const {
    Owned made(f.memory_desc_destroy);
    const std::array<std::int64_t, 2> sizes{rows, columns};
    require(f.memory_desc_create_with_tag(made.out(), 2, sizes.data(), type, layout),
            "describe a matrix");
    return made;
  }

  Owned memory(const void* description, void* data) const {
    Owned made(f.memory_destroy);
    require(f.memory_create(made.out(), description, engine(), data), "use the matrix memory");
    return made;
  }

  Owned primitive(const void* description) const {
    Owned made(f.primitive_destroy);
    require(f.primitive_create(made.out(), description), "prepare a GEMM");
    return made;
  }

  std::string implementation(const Owned& product) const {
    const char* name = nullptr;
    require(f.primitive_desc_query(product.get(), kQueryImplementation, 0, &name),
            "name an implementation");
    return name;
  }

  const OneDnnFunctions& f;

 private:
  Owned engine_;
};

struct Layouts {
  Owned a, b, c;
};

Layouts plain_layouts(const OneDnn& library, const GemmRequest& r, const Types& types) {
  return {library.matrix(r.shape.m, r.shape.k, types.a, kRowMajor),
          library.matrix(r.shape.k, r.shape.n, types.b, kRowMajor),
          library.matrix(r.shape.m, r.shape.n, types.c, kRowMajor)};
}

/// The first implementation within the requested instruction set; empty if there is none.
Owned find_product(const OneDnn& library, const GemmRequest& request, const Types& types) {
  const Layouts plain = plain_layouts(library, request, types);
  const Owned b = library.matrix(request.shape.k, request.shape.n, types.b,
                                 request.packed ? kAnyLayout : kRowMajor);
  Owned product(library.f.primitive_desc_destroy);
  const int status = library.f.matmul_primitive_desc_create(
      product.out(), library.engine(), plain.a.get(), b.get(), nullptr, plain.c.get(), nullptr);
  if (status == kUnimplemented) return {};
  require(status, "find a GEMM");
  do {
    if (allowed_isa(request.isa, onednn_isa(library.implementation(product)))) return product;
  } while (library.f.primitive_desc_next_impl(product.get()) == kSuccess);
  return {};
}

class FoundOneDnnPlan final : public GemmPlan {
 public:
  FoundOneDnnPlan(std::string name, const OneDnnFunctions& functions, const GemmRequest& request,
                  const Types& types, const std::vector<int>& cores, HostThreadWatch& watch)
      : name_(std::move(name)),
        threads_(cores, watch),
        library_(functions),
        stream_(library_.stream()),
        dtype_(request.dtype),
        plain_(plain_layouts(library_, request, types)),
        // Searched again: the choice depends on the number of threads.
        description_(find_product(library_, request, types)),
        product_(library_.primitive(description_.get())),
        weights_(functions.primitive_desc_query_md(description_.get(), kQueryWeights, 0)),
        a_(functions.memory_desc_get_size(plain_.a.get())),
        b_(functions.memory_desc_get_size(weights_)),
        c_(functions.memory_desc_get_size(plain_.c.get())),
        memory_a_(library_.memory(plain_.a.get(), a_.data())),
        memory_b_(library_.memory(weights_, b_.data())),
        memory_c_(library_.memory(plain_.c.get(), c_.data())),
        implementation_(library_.implementation(description_)),
        packed_(functions.memory_desc_equal(weights_, plain_.b.get()) == 0) {}

  std::string library() const override { return name_; }
  std::string implementation() const override { return implementation_; }
  std::string isa() const override { return onednn_isa(implementation_); }
  bool packed() const override { return packed_; }
  Dtype output() const override { return type_of_product(dtype_); }

  void load(std::span<const std::byte> a, std::span<const std::byte> b) override {
    const OneDnnFunctions& f = library_.f;
    if (a.size() != a_.bytes().size() || b.size() != f.memory_desc_get_size(plain_.b.get()))
      throw Error(ErrorKind::internal, "matrix sizes differ from the GEMM shape");
    std::memcpy(a_.data(), a.data(), a.size());
    // The library only reads from it.
    const Owned from = library_.memory(plain_.b.get(), const_cast<std::byte*>(b.data()));
    Owned description(f.primitive_desc_destroy);
    require(f.reorder_primitive_desc_create(description.out(), plain_.b.get(), library_.engine(),
                                            weights_, library_.engine(), nullptr),
            "pack a matrix");
    execute(library_.primitive(description.get()),
            std::array<OneDnnFunctions::Argument, 2>{
                {{kArgFrom, from.get()}, {kArgTo, memory_b_.get()}}});
    wait();
  }
  void clear() override { std::memset(c_.data(), 0xff, c_.bytes().size()); }

  void run(std::int64_t calls) override {
    const std::array<OneDnnFunctions::Argument, 3> arguments{
        {{kArgA, memory_a_.get()}, {kArgB, memory_b_.get()}, {kArgC, memory_c_.get()}}};
    for (; calls > 0; --calls) execute(product_, arguments);
    wait();
  }

  std::vector<std::byte> result() const override { return {c_.bytes().begin(), c_.bytes().end()}; }
  std::optional<Hertz> clock() override { return vector_clock(isa()); }
  std::optional<double> core_share() override { return threads_.core_share(isa()); }

 private:
  void execute(const Owned& primitive, std::span<const OneDnnFunctions::Argument> arguments) const {
    require(library_.f.primitive_execute(primitive.get(), stream_.get(),
                                         static_cast<int>(arguments.size()), arguments.data()),
            "run a GEMM");
  }
  void wait() const { require(library_.f.stream_wait(stream_.get()), "finish a GEMM"); }

  std::string name_;
  LibraryThreads threads_;  // before products, which depend on their number
  OneDnn library_;
  Owned stream_;
  Dtype dtype_;
  Layouts plain_;
  Owned description_, product_;
  const void* weights_;  // description_'s layout of B
  MatrixMemory a_, b_, c_;
  Owned memory_a_, memory_b_, memory_c_;
  std::string implementation_;
  bool packed_;
};

/// Whether its OpenMP is the one of this program, whose threads are pinned.
bool has_our_openmp(const SharedLibrary& library) {
#ifdef _OPENMP
  return library.find("omp_get_max_threads") == reinterpret_cast<void*>(&omp_get_max_threads);
#else
  return library.find("omp_get_max_threads") == nullptr;
#endif
}

}  // namespace

bool FoundOneDnn::is_one(const SharedLibrary& library) {
  return library.find("dnnl_version") != nullptr;
}

FoundOneDnn::FoundOneDnn(const SharedLibrary& library) {
  const std::string path = library.path().string();
  const Version& version = *library.find<const Version*()>("dnnl_version")();
  version_ = std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
             std::to_string(version.patch);
  library.require_own("dnnl_version");
  if (version.major != 3)
    throw Error(ErrorKind::environment, path + " is oneDNN " + version_ + ", not 3",
                "name a library of version 3");
  threads_ = version.cpu_runtime == kOpenMp;
  if (version.cpu_runtime != kSequential && !(threads_ && has_our_openmp(library)))
    throw Error(ErrorKind::environment, path + " has threads of its own, which cannot be pinned",
                "name a oneDNN with GNU OpenMP, such as PyPI's onednn-cpu-gomp");
  const auto get = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        library.find(std::string("dnnl_") + name));
    if (function == nullptr)
      throw Error(ErrorKind::environment, path + " has no dnnl_" + name,
                  "name another library of version 3");
  };
  OneDnnFunctions& f = functions_;
  get(f.engine_create, "engine_create");
  get(f.engine_destroy, "engine_destroy");
  get(f.stream_create, "stream_create");
  get(f.stream_wait, "stream_wait");
  get(f.stream_destroy, "stream_destroy");
  get(f.memory_desc_create_with_tag, "memory_desc_create_with_tag");
  get(f.memory_desc_equal, "memory_desc_equal");
  get(f.memory_desc_get_size, "memory_desc_get_size");
  get(f.memory_desc_destroy, "memory_desc_destroy");
  get(f.memory_create, "memory_create");
  get(f.memory_destroy, "memory_destroy");
  get(f.matmul_primitive_desc_create, "matmul_primitive_desc_create");
  get(f.reorder_primitive_desc_create, "reorder_primitive_desc_create");
  get(f.primitive_desc_next_impl, "primitive_desc_next_impl");
  get(f.primitive_desc_query, "primitive_desc_query");
  get(f.primitive_desc_query_md, "primitive_desc_query_md");
  get(f.primitive_desc_destroy, "primitive_desc_destroy");
  get(f.primitive_create, "primitive_create");
  get(f.primitive_execute, "primitive_execute");
  get(f.primitive_destroy, "primitive_destroy");
}

bool FoundOneDnn::has_gemm(Dtype dtype) const { return types_of(dtype).has_value(); }

GemmOffer FoundOneDnn::offer(const GemmRequest& request, const std::vector<int>& cores,
                             HostThreadWatch& watch) const {
  const std::string dtype(to_string(request.dtype));
  const std::optional<Types> types = types_of(request.dtype);
  if (!types) return {nullptr, name() + " has no " + dtype + " GEMM"};
  if (!threads_ && request.threads > 1) return {nullptr, name() + " was built without threads"};
  if (!find_product(OneDnn(functions_), request, *types))
    return {nullptr, name() + " has no " + dtype + " GEMM limited to " + request.isa + " here"};
  return {std::make_unique<FoundOneDnnPlan>(name(), functions_, request, *types, cores, watch), ""};
}

}  // namespace bench
