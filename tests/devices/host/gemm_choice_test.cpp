// The trial that decides which library serves a GEMM, with libraries of which the result and the
// time are known.
#include "devices/host/gemm_choice.h"

#include "core/elements.h"
#include "core/error.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

/// A clock that only plans move on.
double clock_s = 0.0;

/// Computes only the rows that a trial compares, and takes as long as it is made to.
class TimedPlan final : public GemmPlan {
 public:
  TimedPlan(std::string name, double seconds, double error, GemmShape shape)
      : name_(std::move(name)), seconds_(seconds), error_(error), shape_(shape) {}

  std::string library() const override { return name_; }
  std::string implementation() const override { return ""; }
  std::string isa() const override { return "avx2"; }
  bool packed() const override { return false; }
  Dtype output() const override { return Dtype::f64; }
  void load(std::span<const std::byte> a, std::span<const std::byte> b) override {
    a_.resize(static_cast<std::size_t>(shape_.m * shape_.k));
    b_.resize(static_cast<std::size_t>(shape_.k * shape_.n));
    c_.assign(static_cast<std::size_t>(shape_.m * shape_.n), 0.0);
    decode(a.data(), Dtype::f64, false, a_);
    decode(b.data(), Dtype::f64, false, b_);
  }
  void clear() override {}
  void run(std::int64_t) override {
    clock_s += seconds_;
    for (const std::int64_t row : {std::int64_t{0}, shape_.m / 2 - 1, shape_.m - 1})
      for (std::int64_t column = 0; column < shape_.n; ++column)
        c_[static_cast<std::size_t>(row * shape_.n + column)] = product(row, column);
    c_.back() += error_;
  }
  std::vector<std::byte> result() const override {
    const auto bytes = std::as_bytes(std::span(c_));
    return {bytes.begin(), bytes.end()};
  }
  std::optional<Hertz> clock() override { return {}; }

 private:
  double product(std::int64_t row, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t i = 0; i < shape_.k; ++i)
      sum += a_[static_cast<std::size_t>(row * shape_.k + i)] *
             b_[static_cast<std::size_t>(i * shape_.n + column)];
    return sum;
  }

  std::string name_;
  double seconds_;
  double error_;
  GemmShape shape_;
  std::vector<double> a_ = {}, b_ = {}, c_ = {};
};

MakeGemm timed(std::string name, double seconds, double error = 0) {
  return [=](const GemmRequest& request, const std::vector<int>&, HostThreadWatch&) {
    return GemmOffer{std::make_unique<TimedPlan>(name, seconds, error, request.shape), ""};
  };
}

GemmOffer refuses(const GemmRequest&, const std::vector<int>&, HostThreadWatch&) {
  return {nullptr, "has no GEMM"};
}

GemmOffer throws(const GemmRequest&, const std::vector<int>&, HostThreadWatch&) {
  throw Error(ErrorKind::environment, "out of order");
}

LibraryChoice choice_of(const std::vector<MakeGemm>& makers) {
  HostThreadWatch watch;
  return choose_library(makers, {.dtype = Dtype::f64, .shape = {8, 8, 8}}, {0}, watch,
                        [] { return Seconds{clock_s}; });
}

using Order = std::vector<std::size_t>;

}  // namespace

TEST_CASE("the fastest library is chosen, and all that were tried are named") {
  const LibraryChoice choice = choice_of({timed("slow", 0.5), refuses, timed("fast", 0.25)});
  CHECK(choice.order == Order{2, 0, 1});  // the others may have GEMMs of other shapes
  REQUIRE(choice.tried.size() == 3);
  CHECK(choice.tried[0].at("chosen") == false);
  CHECK(choice.tried[0].at("flops").get<double>() == Approx(2.0 * 512 * 512 * 512 / 0.5));
  CHECK(choice.tried[1] == Json{{"reason", "has no GEMM"}});
  CHECK(choice.tried[2].at("library") == "fast");
  CHECK(choice.tried[2].at("chosen") == true);
}

TEST_CASE("the preferred library is kept unless another is a tenth faster") {
  CHECK(choice_of({timed("preferred", 0.30), timed("hardly faster", 0.28)}).order == Order{0, 1});
  CHECK(choice_of({timed("preferred", 0.30), timed("faster", 0.27)}).order == Order{1, 0});
}

TEST_CASE("a library whose result is wrong, or that fails, does not serve, however fast it is") {
  const LibraryChoice choice = choice_of({timed("right", 0.5), timed("wrong", 0.1, 1.0), throws});
  CHECK(choice.order == Order{0});
  CHECK(choice.tried[1].at("wrong") == true);
  CHECK(!choice.tried[1].contains("flops"));
  CHECK(choice.tried[2].at("reason").get<std::string>().find("out of order") != std::string::npos);
  CHECK(choice_of({timed("wrong", 0.1, 0.5)}).order.empty());
}

}  // namespace bench
