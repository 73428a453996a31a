// product_rates SECONDS TOKENS...: measures the GEMMs of one training step of GPT-2 124M on this
// many tokens, each on one thread, with the training kernels and the libraries of this build
// (scripts/evidence training_products). Prints one JSON array.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "core/json.h"
#include "devices/host_clock.h"
#include "training/host/host_kernels.h"
#include "training/kernels/memory.h"
#ifdef BENCH_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif
#ifdef BENCH_OPENBLAS
#include <cblas.h>
#endif

namespace bench::training {
namespace {

struct Sizes {
  std::string name;
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;

  double flops() const { return 2.0 * static_cast<double>(m * n * k); }
};

/// The GEMMs of a layer's four weights and of the head.
std::vector<Sizes> products_of(std::int64_t tokens) {
  struct Weight {
    const char* name;
    std::int64_t in, out;
  };
  std::vector<Sizes> all;
  for (const Weight& w : {Weight{"qkv", 768, 2304}, Weight{"out", 768, 768},
                          Weight{"up", 768, 3072}, Weight{"down", 3072, 768}}) {
    const std::string name = w.name;
    all.push_back({name + " forward", tokens, w.out, w.in, false, false});
    all.push_back({name + " input gradient", tokens, w.in, w.out, false, true});
    all.push_back({name + " weight gradient", w.in, w.out, tokens, true, false});
  }
  all.push_back({"head forward", tokens, 50257, 768, false, true});
  all.push_back({"head input gradient", tokens, 768, 50257, false, false});
  all.push_back({"head weight gradient", 50257, 768, tokens, true, false});
  return all;
}

struct Matrices {
  View a, b, c;
};

/// Enough sets of matrices to exceed any cache, used in turn.
class Rotation {
 public:
  explicit Rotation(const Sizes& s) {
    constexpr std::int64_t kBytes = 256'000'000;
    const std::int64_t each = 4 * (s.m * s.k + s.k * s.n + s.m * s.n);
    for (std::int64_t bytes = 0; bytes == 0 || bytes < kBytes; bytes += each)
      sets_.push_back({made(s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k),
                       made(s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n), made(s.m, s.n)});
  }
  const Matrices& next() { return sets_[at_++ % sets_.size()]; }

 private:
  /// Small integers, so that every sum is exact in f32.
  View made(std::int64_t rows, std::int64_t columns) {
    const MemoryBlock& block = blocks_.emplace_back(4 * rows * columns, "a factor");
    const View view{block.data(), rows, columns, Dtype::f32};
    for (std::int64_t i = 0; i < view.elements(); ++i)
      view.as<float>()[i] = static_cast<float>(i % 17) - 8.0F;
    return view;
  }
  std::vector<MemoryBlock> blocks_ = {};
  std::vector<Matrices> sets_ = {};
  std::size_t at_ = 0;
};

struct Library {
  std::string name;
  std::function<void(const Sizes&, const Matrices&)> multiply;
};

std::vector<Library> libraries(const KernelSet& kernels) {
  std::vector<Library> all;
  all.push_back({"ours", [&kernels](const Sizes& s, const Matrices& x) {
                   kernels.gemm->multiply({s.transpose_a, s.transpose_b}, x.a, x.b, x.c);
                 }});
#ifdef BENCH_ONEDNN
  all.push_back({"onednn", [](const Sizes& s, const Matrices& x) {
                   dnnl_sgemm(s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', s.m, s.n, s.k,
                              1.0F, x.a.as<float>(), x.a.columns, x.b.as<float>(), x.b.columns,
                              0.0F, x.c.as<float>(), x.c.columns);
                 }});
#endif
#ifdef BENCH_OPENBLAS
  openblas_set_num_threads(1);
  all.push_back({"openblas", [](const Sizes& s, const Matrices& x) {
                   const auto of = [](std::int64_t n) { return static_cast<blasint>(n); };
                   cblas_sgemm(CblasRowMajor, s.transpose_a ? CblasTrans : CblasNoTrans,
                               s.transpose_b ? CblasTrans : CblasNoTrans, of(s.m), of(s.n), of(s.k),
                               1.0F, x.a.as<float>(), of(x.a.columns), x.b.as<float>(),
                               of(x.b.columns), 0.0F, x.c.as<float>(), of(x.c.columns));
                 }});
#endif
  return all;
}

/// FLOP/s over `seconds`; the first call is not counted.
double rate(const Sizes& s, const Library& library, Rotation& rotation, double seconds) {
  library.multiply(s, rotation.next());
  const Seconds begin = steady_now();
  double flops = 0.0;
  while ((steady_now() - begin).value < seconds) {
    library.multiply(s, rotation.next());
    flops += s.flops();
  }
  return flops / (steady_now() - begin).value;
}

double weighted_sum(View c) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < c.elements(); ++i)
    sum += static_cast<double>(i % 7 + 1) * static_cast<double>(c.as<float>()[i]);
  return sum;
}

Json measure(const Sizes& s, std::int64_t tokens, const std::vector<Library>& all, double seconds) {
  Json row = {{"product", s.name}, {"tokens", tokens}, {"m", s.m},
              {"n", s.n},          {"k", s.k},         {"equal", true}};
  Rotation rotation(s);
  for (const Library& library : all)
    row["flops_per_second"][library.name] = rate(s, library, rotation, seconds);
  const Matrices& x = rotation.next();
  all.front().multiply(s, x);
  const double sum = weighted_sum(x.c);
  for (const Library& library : all) {
    library.multiply(s, x);
    if (weighted_sum(x.c) != sum) row["equal"] = false;
  }
  return row;
}

}  // namespace
}  // namespace bench::training

int main(int argc, char** argv) {
  using namespace bench::training;
  const KernelSet kernels = host_kernels(bench::Dtype::f32);
  bench::Json rows = bench::Json::array();
  for (int i = 2; i < argc; ++i)
    for (const auto& sizes : products_of(std::atoll(argv[i])))
      rows.push_back(measure(sizes, std::atoll(argv[i]), libraries(kernels), std::atof(argv[1])));
  std::puts(rows.dump().c_str());
}
