#include "tests/training/neighbour_cases.h"

#include <string>

namespace bench::training {
namespace {

constexpr std::int64_t kAttendingNodes = 5;

KernelCase attention_over_neighbours(Dtype dtype, const NeighbourShape& shape, bool add) {
  return {"attention over " + std::to_string(shape.fan_out) + " neighbours, heads of " +
              std::to_string(shape.head_dim) + (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const std::int64_t rows = kAttendingNodes * shape.fan_out, width = shape.width();
            const auto result = [&](std::int64_t of_rows, std::int64_t columns) {
              return tensors.result(tensors.values(of_rows, columns, dtype));
            };
            NeighbourBackward back;
            back.in.values = tensors.values(rows, width, dtype);
            back.in.own = tensors.values(kAttendingNodes, shape.heads, dtype, 2.0);
            back.in.vector = tensors.values(1, width, dtype, 0.5);
            set.neighbours->attention(shape, back.in, result(kAttendingNodes, width));
            back.output_gradient = tensors.values(kAttendingNodes, width, dtype);
            back.values_gradient = result(rows, width);
            back.own_gradient = result(kAttendingNodes, shape.heads);
            back.vector_gradient = result(1, width);
            back.add_values = back.add_own = back.add_vector = add;
            set.neighbours->attention_backward(shape, back);
          }};
}

}  // namespace

std::vector<KernelCase> neighbour_cases(Dtype dtype) {
  std::vector<KernelCase> cases;
  for (const bool add : {false, true})
    for (const NeighbourShape& shape :
         {NeighbourShape{4, 2, 16}, NeighbourShape{15, 1, 7}, NeighbourShape{1, 3, 33}})
      cases.push_back(attention_over_neighbours(dtype, shape, add));
  return cases;
}

}  // namespace bench::training
