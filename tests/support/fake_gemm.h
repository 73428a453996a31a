// A matrix library of three loops that takes a millisecond a product on a clock turned by hand and
// can be told to fail in the ways real ones do.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/block_scaled.h"
#include "core/elements.h"
#include "devices/gemm.h"
#include "probes/probe.h"
#include "probes/shared/gemm_check.h"
#include "probes/state.h"
#include "tests/support/fake_device.h"
#include "tests/support/probe_job.h"

namespace bench {

inline constexpr double kGemmClock = 4e9;

enum class GemmFault {
  none,
  sign_of_timed,
  last_bit_always,
  last_bit_now_and_then,
  last_bit_once,  // of the hundredth product
  unwritten,
  scales_ignored
};

class FakeGemm final : public Gemm {
 public:
  explicit FakeGemm(FakeDevice& device) : device_(device) {}

  std::string chip() const override { return "fake chip"; }
  GemmOffer prepare(const GemmRequest& request) override {
    if (!reason.empty()) return {nullptr, reason};
    return {std::make_unique<Plan>(*this, request), ""};
  }

  GemmFault fault = GemmFault::none;
  std::string reason;
  bool watches = false;  // each product

 private:
  static constexpr std::int64_t kFaultyProduct = 100;
  class Plan final : public GemmPlan {
   public:
    Plan(FakeGemm& library, const GemmRequest& r)
        : library_(library),
          request_(r),
          c_(static_cast<std::size_t>(r.shape.m * r.shape.n) * size_of(output())) {}

    std::string library() const override { return "fake"; }
    std::string version() const override { return "1.0"; }
    std::string implementation() const override { return "three loops"; }
    std::string isa() const override { return ""; }
    bool packed() const override { return false; }
    Dtype output() const override {
      if (request_.dtype == Dtype::f64) return Dtype::f64;
      return request_.dtype == Dtype::int8 ? Dtype::int32 : Dtype::f32;
    }
    void load(std::span<const std::byte> a, std::span<const std::byte> b) override {
      a_.assign(a.begin(), a.end());
      b_.assign(b.begin(), b.end());
    }
    void scale(const BlockScales& scales) override { scales_ = scales; }
    void clear() override {
      std::memset(c_.data(), 0xff, c_.size());
      pending_ = false;
    }
    void run(std::int64_t calls) override {
      library_.device_.time += Seconds{1e-3} * static_cast<double>(calls);
      ++runs_;
      const std::int64_t before = products_;
      products_ += calls;
      if (library_.fault == GemmFault::last_bit_once && before < kFaultyProduct &&
          products_ >= kFaultyProduct)
        ++different_;
      pending_ = true;
    }
    bool watch() override {
      different_ = 0;
      return library_.watches;
    }
    std::int64_t different() override { return library_.watches ? different_ : 0; }
    /// Many products are timed and few are looked at: only those are computed.
    std::vector<std::byte> result() const override {
      if (pending_) {
        multiply();
        inject();
        pending_ = false;
      }
      return c_;
    }
    std::optional<Hertz> clock() override { return Hertz{kGemmClock}; }

   private:
    double element(const std::vector<std::byte>& from, std::int64_t index, bool is_unsigned) const {
      const std::byte* at = from.data() + static_cast<std::size_t>(index) * size_of(request_.dtype);
      switch (request_.dtype) {
        case Dtype::f64:
          return read<double>(at);
        case Dtype::f32:
          return static_cast<double>(read<float>(at));
        case Dtype::bf16: {
          const std::uint32_t bits = std::uint32_t{read<std::uint16_t>(at)} << 16;
          return static_cast<double>(read<float>(reinterpret_cast<const std::byte*>(&bits)));
        }
        case Dtype::fp8_e4m3:
        case Dtype::mxfp8:
        case Dtype::nvfp4: {
          double value = 0.0;
          decode(at, request_.dtype, false, std::span(&value, 1));
          return value;
        }
        default:
          return is_unsigned ? read<std::uint8_t>(at) : read<std::int8_t>(at);
      }
    }
    template <class T>
    static T read(const std::byte* at) {
      T value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    template <class T>
    void write(std::int64_t index, double value) const {
      const T typed = static_cast<T>(value);
      std::memcpy(c_.data() + static_cast<std::size_t>(index) * sizeof typed, &typed, sizeof typed);
    }
    double scales(std::int64_t i, std::int64_t j, std::int64_t t) const {
      const auto block = static_cast<std::int64_t>(block_of(request_.dtype));
      if (block == 0 || library_.fault == GemmFault::scales_ignored) return 1.0;
      const auto at = [&](const std::vector<std::byte>& from, std::int64_t index) {
        return decode_scale(request_.dtype, from.at(static_cast<std::size_t>(index)));
      };
      return at(scales_.a, i * (request_.shape.k / block) + t / block) *
             at(scales_.b, t / block * request_.shape.n + j) * static_cast<double>(scales_.tensor);
    }
    void multiply() const {
      const auto [m, n, k] = request_.shape;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0.0;
          for (std::int64_t t = 0; t < k; ++t)
            sum += element(a_, i * k + t, true) * element(b_, t * n + j, false) * scales(i, j, t);
          if (output() == Dtype::f64) write<double>(i * n + j, sum);
          if (output() == Dtype::f32) write<float>(i * n + j, sum);
          if (output() == Dtype::int32) write<std::int32_t>(i * n + j, sum);
        }
    }
    void inject() const {
      switch (library_.fault) {
        case GemmFault::none:
        case GemmFault::scales_ignored:
          return;
        case GemmFault::sign_of_timed:  // the highest bit of the first element
          c_[size_of(output()) - 1] ^= std::byte{0x80};
          return;
        case GemmFault::last_bit_always:
          c_[0] ^= std::byte{1};
          return;
        case GemmFault::last_bit_now_and_then:
          if (runs_ % 2 == 0) c_[0] ^= std::byte{1};
          return;
        case GemmFault::last_bit_once:
          if (products_ == kFaultyProduct) c_[0] ^= std::byte{1};
          return;
        case GemmFault::unwritten:
          std::memset(c_.data() + c_.size() - size_of(output()), 0xff, size_of(output()));
      }
    }

    FakeGemm& library_;
    GemmRequest request_;
    std::vector<std::byte> a_, b_;
    BlockScales scales_;
    mutable std::vector<std::byte> c_;
    mutable bool pending_ = false;
    std::int64_t runs_ = 0, products_ = 0, different_ = 0;
  };

  FakeDevice& device_;
};

struct GemmJob : ProbeJob {
  FakeGemm fake{device};

  explicit GemmJob(const Json& params = Json::object()) : ProbeJob("gemm", small(params)) {
    device.fake_gemm = &fake;
  }

  static Json small(const Json& params) {
    Json all = {{"dtypes", {"f32"}}, {"shapes", {{8, 8, 8}}}, {"threads", {1}}};
    all.update(params);
    return all;
  }

  /// What was told of the bits of products, in order.
  std::vector<Json> hashes() const {
    std::vector<Json> found;
    for (const Record& record : sink.records)
      if (const auto* facts = std::get_if<Facts>(&record.body);
          facts != nullptr && facts->topic == "result_hash")
        found.push_back(facts->facts);
    return found;
  }

  Samples series(const std::string& metric) const {
    for (const Samples& samples : sink.samples())
      if (samples.metric == metric) return samples;
    throw std::runtime_error("no series " + metric);
  }
};

}  // namespace bench
