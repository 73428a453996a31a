// The parts of cuDNN 9's backend interface that we use, so that cudnn.h is not needed to build. The
// numbers do not change within version 9; cudnn_declarations_test.cpp compares them with an
// installed header.
#pragma once

namespace bench::cudnn {

using Status = int;  // cudnnStatus_t
inline constexpr Status kSuccess = 0;

using Handle = void*;             // cudnnHandle_t
using BackendDescriptor = void*;  // cudnnBackendDescriptor_t

enum class DescriptorType : int {
  pointwise = 0,
  engine_configuration = 3,
  engine_heuristics = 4,
  execution_plan = 5,
  operation_pointwise = 13,
  operation_graph = 15,
  variant_pack = 16,
  tensor = 17,
  matmul = 18,
  operation_matmul = 19,
  reduction = 21,
  operation_reduction = 22,
  operation_reshape = 31,
  device_properties = 38,  // since 9.8
};

enum class Attribute : int {
  pointwise_mode = 0,
  pointwise_precision = 1,
  pointwise_axis = 9,
  heuristics_mode = 200,
  heuristics_graph = 201,
  heuristics_results = 202,
  heuristics_device = 204,
  plan_handle = 400,
  plan_configuration = 401,
  plan_workspace_bytes = 402,
  operation_pointwise_descriptor = 750,
  operation_pointwise_x = 751,
  operation_pointwise_b = 752,
  operation_pointwise_y = 753,
  operation_pointwise_t = 758,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_type = 901,
  tensor_sizes = 902,
  tensor_strides = 903,
  tensor_id = 906,
  tensor_virtual = 907,
  tensor_by_value = 908,
  pack_ids = 1000,
  pack_pointers = 1001,
  pack_workspace = 1003,
  matmul_type = 1500,
  operation_matmul_a = 1520,
  operation_matmul_b = 1521,
  operation_matmul_c = 1522,
  operation_matmul_descriptor = 1523,
  reduction_operator = 1600,
  reduction_type = 1601,
  operation_reduction_x = 1610,
  operation_reduction_y = 1611,
  operation_reduction_descriptor = 1612,
  operation_reshape_x = 2200,
  operation_reshape_y = 2201,
  device_json = 2702,
};

enum class AttributeType : int {
  handle = 0,
  data_type = 1,
  boolean = 2,
  int64 = 3,
  pointer = 6,
  heuristic_mode = 8,
  pointwise_mode = 14,
  descriptor = 15,
  reduction_operator = 18,
  character = 24,
};

enum class DataType : int { f32 = 0, f16 = 2, int32 = 4, bf16 = 9, boolean = 11 };

enum class PointwiseMode : int {
  add = 0,
  multiply = 1,
  divide = 6,
  subtract = 9,
  exponential = 13,
  logarithm = 15,
  identity = 21,
  greater_or_equal = 303,
  index = 501,   // of each element, along an axis
  select = 601,  // x where the third is true, else b
};

enum class ReductionOperator : int { add = 0, max = 3 };

enum class HeuristicMode : int { fallback = 2, a = 3 };

}  // namespace bench::cudnn
