#include "tests/training/recommender_cases.h"

#include <string>

namespace bench::training {
namespace {

using CaseList = std::vector<KernelCase>;

View floats(CaseTensors& tensors, std::int64_t rows, std::int64_t columns) {
  return tensors.values(rows, columns, Dtype::f32);
}

View float_result(CaseTensors& tensors, std::int64_t rows, std::int64_t columns) {
  return tensors.result(floats(tensors, rows, columns));
}

std::string when(bool add, const char* what = ", added") { return add ? what : ""; }

void add_rectifiers(CaseList& cases, std::int64_t n) {
  constexpr std::int64_t kRows = 37;
  for (const bool add : {false, true})
    for (const bool in_place : {false, true})
      cases.push_back(
          {"rectifier of " + std::to_string(n) + when(in_place, " in place") + when(add),
           [=](const KernelSet& set, CaseTensors& tensors) {
             const View x = float_result(tensors, kRows, n);
             const View y = in_place ? x : float_result(tensors, kRows, n);
             const View dy = float_result(tensors, kRows, n);
             const View dx = in_place ? dy : float_result(tensors, kRows, n);
             set.recommender->relu_forward(x, y);
             set.recommender->relu_backward(y, dy, dx, add);
           }});
}

/// A gradient is absent, written, or added to.
enum class Gradient { absent, written, added };
constexpr Gradient kGradients[] = {Gradient::absent, Gradient::written, Gradient::added};

const char* text(Gradient gradient) {
  if (gradient == Gradient::absent) return "absent";
  return gradient == Gradient::added ? "added" : "written";
}

View gradient_of(CaseTensors& tensors, Gradient gradient, std::int64_t rows, std::int64_t columns) {
  return gradient == Gradient::absent ? View{} : float_result(tensors, rows, columns);
}

void add_crosses(CaseList& cases, std::int64_t n) {
  constexpr std::int64_t kRows = 29;
  for (const Gradient of_x0 : kGradients)
    for (const Gradient of_u : kGradients)
      cases.push_back({"cross of " + std::to_string(n) + ", gradient of x0 " + text(of_x0) +
                           ", of u " + text(of_u),
                       [=](const KernelSet& set, CaseTensors& tensors) {
                         const View x0 = floats(tensors, kRows, n), u = floats(tensors, kRows, n);
                         CrossBackward back{x0, u, floats(tensors, kRows, n), {}, {}};
                         back.x0_gradient = gradient_of(tensors, of_x0, kRows, n);
                         back.u_gradient = gradient_of(tensors, of_u, kRows, n);
                         back.add_x0 = of_x0 == Gradient::added;
                         back.add_u = of_u == Gradient::added;
                         set.recommender->cross_backward(back);
                         set.recommender->cross_forward(x0, u, floats(tensors, kRows, n),
                                                        float_result(tensors, kRows, n));
                       }});
}

struct Features {
  std::int64_t count, width;
};

void add_dots(CaseList& cases, const Features& z) {
  constexpr std::int64_t kRows = 21;
  const std::int64_t rest = (z.count - 1) * z.width;
  const std::int64_t columns = z.width + z.count * (z.count - 1) / 2;
  for (const Gradient of_first : kGradients)
    for (const Gradient of_rest : kGradients)
      cases.push_back(
          {"pairs of " + std::to_string(z.count) + " features of " + std::to_string(z.width) +
               ", gradient of the first " + text(of_first) + ", of the rest " + text(of_rest),
           [=](const KernelSet& set, CaseTensors& tensors) {
             const View first = floats(tensors, kRows, z.width);
             const View others = floats(tensors, kRows, rest);
             DotBackward back{first, others, floats(tensors, kRows, columns), {}, {}};
             back.first_gradient = gradient_of(tensors, of_first, kRows, z.width);
             back.rest_gradient = gradient_of(tensors, of_rest, kRows, rest);
             back.add_first = of_first == Gradient::added;
             back.add_rest = of_rest == Gradient::added;
             set.recommender->dot_backward(back);
             set.recommender->dot_forward(first, others, float_result(tensors, kRows, columns));
           }});
}

struct Columns {
  std::int64_t from_width, from, to_width, to, count;
};

void add_copies(CaseList& cases, const Columns& c) {
  constexpr std::int64_t kRows = 19;
  for (const bool add : {false, true})
    cases.push_back({"columns " + std::to_string(c.from) + " of " + std::to_string(c.from_width) +
                         " to " + std::to_string(c.to) + " of " + std::to_string(c.to_width) +
                         ", " + std::to_string(c.count) + " of them" + when(add),
                     [=](const KernelSet& set, CaseTensors& tensors) {
                       const View from = floats(tensors, kRows, c.from_width);
                       const View to = float_result(tensors, kRows, c.to_width);
                       set.recommender->copy_columns(from, c.from, to, c.to, c.count, add);
                     }});
}

void add_zeros(CaseList& cases) {
  constexpr std::int64_t kRows = 19, kWidth = 94;
  for (const std::int64_t from : {0, 16, 83})
    cases.push_back({"11 columns from " + std::to_string(from) + " set to zero",
                     [=](const KernelSet& set, CaseTensors& tensors) {
                       const View x = float_result(tensors, kRows, kWidth);
                       set.recommender->zero_columns(x, from, 11);
                     }});
}

/// Scores of all pairs of rows with a bias, and their gradients.
void add_pairs(CaseList& cases) {
  for (const bool add : {false, true})
    cases.push_back(
        {"products of all rows" + when(add), [=](const KernelSet& set, CaseTensors& tensors) {
           constexpr std::int64_t kRows = 96, kWidth = 16;
           const View u = floats(tensors, kRows, kWidth), v = floats(tensors, kRows, kWidth);
           const View dy = floats(tensors, kRows, kRows);
           const View y = float_result(tensors, kRows, kRows);
           const View du = float_result(tensors, kRows, kWidth);
           const View dv = float_result(tensors, kRows, kWidth);
           GemmOptions forward{false, true};
           forward.bias = floats(tensors, 1, kRows);
           GemmOptions of_u{false, false}, of_v{true, false};
           if (add) of_u.addend = du;
           if (add) of_v.addend = dv;
           set.gemm->multiply(forward, u, v, y);
           set.gemm->multiply(of_u, dy, v, du);
           set.gemm->multiply(of_v, dy, u, dv);
         }});
}

void add_click_losses(CaseList& cases) {
  for (const std::int64_t clicks : {64, 301})
    for (const double scale : {0.0, 1.0 / 64})
      cases.push_back(
          {"loss of " + std::to_string(clicks) + " clicks" + when(scale > 0, ", trained"),
           [=](const KernelSet& set, CaseTensors& tensors) {
             const View logits = tensors.result(tensors.values(clicks, 1, Dtype::f32, 8.0));
             const View labels = tensors.labels(clicks);
             const View losses = tensors.result(tensors.values(clicks, 1, Dtype::f64));
             set.recommender->binary_cross_entropy(logits, labels, scale, losses);
           }});
}

/// The last layer: one column, whose products and sums are of vectors.
void add_head(CaseList& cases) {
  for (const bool add : {false, true})
    cases.push_back(
        {"layer of one result" + when(add), [=](const KernelSet& set, CaseTensors& tensors) {
           constexpr std::int64_t kRows = 96, kIn = 94;
           const View x = floats(tensors, kRows, kIn), w = floats(tensors, kIn, 1);
           const View dy = floats(tensors, kRows, 1);
           const View y = float_result(tensors, kRows, 1);
           const View dx = float_result(tensors, kRows, kIn);
           const View dw = float_result(tensors, kIn, 1);
           const View of_bias = float_result(tensors, 1, 1);
           GemmOptions forward;
           forward.bias = floats(tensors, 1, 1);
           GemmOptions of_weight{true, false}, of_input{false, true};
           if (add) of_weight.addend = dw;
           if (add) of_input.addend = dx;
           set.gemm->multiply(forward, x, w, y);
           set.gemm->multiply(of_weight, x, dy, dw);
           set.gemm->multiply(of_input, dy, w, dx);
           set.elementwise->column_sums(dy, of_bias, add);
         }});
}

}  // namespace

std::vector<KernelCase> recommender_cases() {
  CaseList cases;
  for (const std::int64_t n : {13, 256}) {  // without and with a multiple of 4
    add_rectifiers(cases, n);
    add_crosses(cases, n);
  }
  for (const Features& z : {Features{13, 16}, Features{6, 5}, Features{27, 128}, Features{2, 1}})
    add_dots(cases, z);
  for (const Columns& c :
       {Columns{64, 0, 192, 0, 64}, Columns{192, 64, 128, 0, 128}, Columns{16, 4, 94, 0, 12},
        Columns{94, 16, 16, 0, 16}, Columns{24, 3, 24, 8, 16}, Columns{16, 0, 24, 7, 16},
        Columns{20, 8, 20, 4, 5}})
    add_copies(cases, c);
  add_zeros(cases);
  add_pairs(cases);
  add_click_losses(cases);
  add_head(cases);
  return cases;
}

}  // namespace bench::training
