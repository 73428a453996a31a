#include "devices/host/gemm_blas_plan.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "devices/facts/cpu_facts.h"
#include "devices/host/clock.h"
#include "devices/host/gemm_backends.h"
#include "devices/host/host_cpus.h"

#ifdef BENCH_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

namespace bench {
namespace {

// With huge pages of another size (64 KiB base pages: 512 MiB) the advice has no effect.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

MatrixMemory::MatrixMemory(std::size_t bytes)
    : size_(bytes), mapped_((bytes + 2 * kHugePage - 1) / kHugePage * kHugePage) {
  void* mapped = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw_errno("get " + std::to_string(mapped_) + " bytes for a matrix", "use a smaller shape");
  data_ = static_cast<std::byte*>(mapped);
  madvise(data_, mapped_, MADV_HUGEPAGE);  // only advice
  std::memset(data_, 0, mapped_);
}

MatrixMemory::MatrixMemory(MatrixMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

MatrixMemory::~MatrixMemory() {
  if (data_ != nullptr) munmap(data_, mapped_);
}

Dtype type_of_product(Dtype dtype) {
  if (dtype == Dtype::int8) return Dtype::int32;
  return dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32;
}

#ifdef BENCH_ONEDNN

namespace {

using dnnl::memory;

memory::data_type source_type(Dtype dtype) {
  return dtype == Dtype::bf16   ? memory::data_type::bf16
         : dtype == Dtype::int8 ? memory::data_type::u8
                                : memory::data_type::f32;
}

memory::data_type weights_type(Dtype dtype) {
  return dtype == Dtype::int8 ? memory::data_type::s8 : source_type(dtype);
}

memory::data_type result_type(Dtype dtype) {
  return dtype == Dtype::int8 ? memory::data_type::s32 : memory::data_type::f32;
}

struct Layouts {
  memory::desc a, b, c;
};

Layouts plain_layouts(const GemmRequest& r) {
  const auto rows = memory::format_tag::ab;
  return {{{r.shape.m, r.shape.k}, source_type(r.dtype), rows},
          {{r.shape.k, r.shape.n}, weights_type(r.dtype), rows},
          {{r.shape.m, r.shape.n}, result_type(r.dtype), rows}};
}

/// The first implementation of the library within the requested instruction set; empty if there is
/// none.
dnnl::matmul::primitive_desc find_product(const GemmRequest& request, const dnnl::engine& engine) {
  const Layouts layouts = plain_layouts(request);
  memory::desc b = layouts.b;
  if (request.packed)
    b = {{request.shape.k, request.shape.n}, weights_type(request.dtype), memory::format_tag::any};
#if DNNL_VERSION_MAJOR >= 3
  dnnl::matmul::primitive_desc product(engine, layouts.a, b, layouts.c, dnnl::primitive_attr(),
                                       true);
#else
  // next_impl() uses it again, so it must not be a temporary.
  const dnnl::matmul::desc operation(layouts.a, b, layouts.c);
  dnnl::matmul::primitive_desc product(operation, engine, true);
#endif
  if (!product) return product;
  do {
    if (allowed_isa(request.isa, onednn_isa(product.impl_info_str()))) return product;
  } while (product.next_impl());
  return {};
}

class OneDnnPlan final : public GemmPlan {
 public:
  OneDnnPlan(const GemmRequest& request, const std::vector<int>& cores, HostThreadWatch& watch,
             const dnnl::engine& engine)
      : threads_(cores, watch),
        engine_(engine),
        stream_(engine),
        dtype_(request.dtype),
        layouts_(plain_layouts(request)),
        // Searched again: the choice depends on the number of threads.
        description_(find_product(request, engine)),
        product_(description_),
        a_(layouts_.a.get_size()),
        b_(description_.weights_desc().get_size()),
        c_(layouts_.c.get_size()),
        arguments_{{DNNL_ARG_SRC, memory(layouts_.a, engine, a_.data())},
                   {DNNL_ARG_WEIGHTS, memory(description_.weights_desc(), engine, b_.data())},
                   {DNNL_ARG_DST, memory(layouts_.c, engine, c_.data())}} {}

  std::string library() const override { return "onednn"; }
  std::string version() const override { return onednn_version(); }
  std::string implementation() const override { return description_.impl_info_str(); }
  std::string isa() const override { return onednn_isa(implementation()); }
  bool packed() const override { return description_.weights_desc() != layouts_.b; }
  Dtype output() const override { return type_of_product(dtype_); }

  void load(std::span<const std::byte> a, std::span<const std::byte> b) override {
    if (a.size() != a_.bytes().size() || b.size() != layouts_.b.get_size())
      throw Error(ErrorKind::internal, "matrix sizes differ from the GEMM shape");
    std::memcpy(a_.data(), a.data(), a.size());
    // The library only reads from it.
    memory plain(layouts_.b, engine_, const_cast<std::byte*>(b.data()));
    dnnl::reorder(plain, arguments_.at(DNNL_ARG_WEIGHTS))
        .execute(stream_, plain, arguments_.at(DNNL_ARG_WEIGHTS));
    stream_.wait();
  }
  void clear() override { std::memset(c_.data(), 0xff, c_.bytes().size()); }

  void run(std::int64_t calls) override {
    for (; calls > 0; --calls) product_.execute(stream_, arguments_);
    stream_.wait();
  }

  std::vector<std::byte> result() const override { return {c_.bytes().begin(), c_.bytes().end()}; }
  std::optional<Hertz> clock() override { return vector_clock(isa()); }
  std::optional<double> core_share() override { return threads_.core_share(isa()); }

 private:
  LibraryThreads threads_;  // first: products depend on their number
  dnnl::engine engine_;
  dnnl::stream stream_;
  Dtype dtype_;
  Layouts layouts_;
  dnnl::matmul::primitive_desc description_;
  dnnl::matmul product_;
  MatrixMemory a_, b_, c_;
  std::unordered_map<int, memory> arguments_;
};

}  // namespace

GemmOffer make_onednn_gemm(const GemmRequest& request, const std::vector<int>& cores,
                           HostThreadWatch& watch) {
  const std::string name(to_string(request.dtype));
  if (request.dtype != Dtype::f32 && request.dtype != Dtype::bf16 && request.dtype != Dtype::int8)
    return {nullptr, "oneDNN has no " + name + " GEMM"};
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    if (!find_product(request, engine))
      return {nullptr, "oneDNN has no " + name + " GEMM limited to " + request.isa + " here"};
    return {std::make_unique<OneDnnPlan>(request, cores, watch, engine), ""};
  } catch (const dnnl::error& error) {
    throw Error(ErrorKind::environment, "oneDNN: " + std::string(error.what()) + " (status " +
                                            std::to_string(error.status) + ")");
  }
}

#else

GemmOffer make_onednn_gemm(const GemmRequest&, const std::vector<int>&, HostThreadWatch&) {
  return {nullptr, "built without oneDNN"};
}

#endif

namespace {

#ifdef _OPENMP
void set_threads(int count) {
  omp_set_dynamic(0);
  omp_set_num_threads(count);
}

/// Calls `each(thread)` on every thread of the pool; returns their number.
template <class Each>
int on_all_threads(const Each& each) {
  std::atomic<int> count{0};
#pragma omp parallel
  {
    each(omp_get_thread_num());
    ++count;
  }
  return count;
}
#else
void set_threads(int) {}

template <class Each>
int on_all_threads(const Each& each) {
  each(0);
  return 1;
}
#endif

}  // namespace

LibraryThreads::LibraryThreads(const std::vector<int>& cores, HostThreadWatch& watch)
    : count_(static_cast<int>(cores.size())), watch_(watch), caller_affinity_(allowed_cpus()) {
  set_threads(count_);
  std::atomic<int> failed{0};
  const int got = on_all_threads([&](int thread) {
    try {
      pin_to(cores.at(static_cast<std::size_t>(thread)));
      watch_.add_current_thread();
    } catch (const std::exception&) {  // must not leave the parallel region
      ++failed;
    }
  });
  if (got == count_ && failed == 0) return;
  pin_to(caller_affinity_);
  throw Error(ErrorKind::environment,
              "OpenMP gave " + std::to_string(got) + " threads, but " + std::to_string(count_) +
                  " were requested, and " + std::to_string(failed.load()) + " could not be pinned",
              "check OMP_THREAD_LIMIT, and that this build has OpenMP");
}

void LibraryThreads::run(const std::function<void(int)>& work) { on_all_threads(work); }

std::optional<double> LibraryThreads::core_share(const std::string& isa) {
  if (!cores_) cores_.emplace(count_, isa);
  return cores_->smallest([](const auto& work) { on_all_threads(work); });
}

LibraryThreads::~LibraryThreads() {
  on_all_threads([&](int thread) {
    if (thread != 0) watch_.remove_current_thread();
  });
  set_threads(1);
  try {
    pin_to(caller_affinity_);
  } catch (const Error&) {  // the caller stays pinned
  }
}

}  // namespace bench
