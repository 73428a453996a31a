#include "tests/training/diffusion_cases.h"

#include <string>

namespace bench::training {
namespace {

constexpr std::int64_t kSamples = 3, kOfSample = 7;

/// Values that a kernel writes, or adds to.
View diffusion_result(CaseTensors& tensors, std::int64_t rows, std::int64_t columns, Dtype dtype) {
  return tensors.result(tensors.values(rows, columns, dtype));
}

KernelCase modulation(Dtype dtype, std::int64_t n, bool add, bool in_place) {
  return {
      "modulation of " + std::to_string(n) + (add ? ", added" : "") + (in_place ? " in place" : ""),
      [=](const KernelSet& set, CaseTensors& tensors) {
        const std::int64_t rows = kSamples * kOfSample;
        const View x = tensors.values(rows, n, dtype);
        const View vectors = tensors.values(kSamples, 2 * n, dtype);
        ModulateBackward back{x, vectors, {}, {}, {}, add, add};
        back.y_gradient = diffusion_result(tensors, rows, n, dtype);
        back.x_gradient = in_place ? back.y_gradient : diffusion_result(tensors, rows, n, dtype);
        back.vectors_gradient = diffusion_result(tensors, kSamples, 2 * n, dtype);
        set.diffusion->modulate(x, vectors, diffusion_result(tensors, rows, n, dtype));
        set.diffusion->modulate_backward(back);
      }};
}

KernelCase gates(Dtype dtype, std::int64_t n, bool add, bool in_place) {
  return {"gates of " + std::to_string(n) + (add ? ", added" : "") + (in_place ? " in place" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const std::int64_t rows = kSamples * kOfSample;
            const View x = tensors.values(rows, n, dtype);
            const View by = tensors.values(kSamples, n, dtype);
            const View residual = diffusion_result(tensors, rows, n, dtype);
            const View y = in_place ? residual : diffusion_result(tensors, rows, n, dtype);
            const View empty = diffusion_result(tensors, rows, n, dtype);
            GateBackward back{x, by, tensors.values(rows, n, dtype), {}, {}, add, add};
            back.x_gradient = diffusion_result(tensors, rows, n, dtype);
            back.gates_gradient = diffusion_result(tensors, kSamples, n, dtype);
            set.diffusion->gate(x, by, residual, y);
            set.diffusion->zero(empty);
            set.diffusion->gate_backward(back);
          }};
}

KernelCase squared_errors(Dtype dtype, std::int64_t n, double scale) {
  return {"squared error of " + std::to_string(n) + (scale > 0 ? ", trained" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const View predictions = diffusion_result(tensors, 19, n, dtype);
            const View losses = diffusion_result(tensors, 19, 1, Dtype::f64);
            set.diffusion->squared_error(predictions, tensors.values(19, n, dtype), scale, losses);
          }};
}

}  // namespace

std::vector<KernelCase> diffusion_cases(Dtype dtype) {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {13, 256}) {
    for (const bool in_place : {false, true})
      for (const bool add : {false, true}) {
        if (!add || !in_place) cases.push_back(modulation(dtype, n, add, in_place));
        cases.push_back(gates(dtype, n, add, in_place));
      }
    for (const double scale : {0.0, 1.0 / 64}) cases.push_back(squared_errors(dtype, n, scale));
  }
  return cases;
}

}  // namespace bench::training
