// Our words for cuDNN's numbers, against its header where the toolkit has one.
#if __has_include(<cudnn_graph.h>)

// Handles are said to be deprecated, but 9.19 proposes no engine for the current GPU without one.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <cudnn_graph.h>

#include "tests/support/catch.h"
#include "training/cuda/cudnn/library.h"

namespace bench::cudnn {
namespace {

template <class Ours>
void same(Ours ours, int theirs) {
  CHECK(static_cast<int>(ours) == theirs);
}

}  // namespace

TEST_CASE("cuDNN's descriptors and attributes have the numbers of its header") {
  using enum DescriptorType;
  same(pointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  same(engine_configuration, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  same(engine_heuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  same(execution_plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  same(operation_pointwise, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  same(operation_graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  same(variant_pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  same(tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  same(matmul, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  same(operation_matmul, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  same(reduction, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  same(operation_reduction, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  same(operation_reshape, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  same(Attribute::pointwise_mode, CUDNN_ATTR_POINTWISE_MODE);
  same(Attribute::pointwise_precision, CUDNN_ATTR_POINTWISE_MATH_PREC);
  same(Attribute::pointwise_axis, CUDNN_ATTR_POINTWISE_AXIS);
  same(Attribute::heuristics_mode, CUDNN_ATTR_ENGINEHEUR_MODE);
  same(Attribute::heuristics_graph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  same(Attribute::heuristics_results, CUDNN_ATTR_ENGINEHEUR_RESULTS);
  same(Attribute::plan_handle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
  same(Attribute::plan_configuration, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  same(Attribute::plan_workspace_bytes, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  same(Attribute::operation_pointwise_descriptor, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  same(Attribute::operation_pointwise_x, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  same(Attribute::operation_pointwise_b, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  same(Attribute::operation_pointwise_y, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  same(Attribute::operation_pointwise_t, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
  same(Attribute::graph_handle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  same(Attribute::graph_operations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  same(Attribute::tensor_alignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  same(Attribute::tensor_type, CUDNN_ATTR_TENSOR_DATA_TYPE);
  same(Attribute::tensor_sizes, CUDNN_ATTR_TENSOR_DIMENSIONS);
  same(Attribute::tensor_strides, CUDNN_ATTR_TENSOR_STRIDES);
  same(Attribute::tensor_id, CUDNN_ATTR_TENSOR_UNIQUE_ID);
  same(Attribute::tensor_virtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  same(Attribute::tensor_by_value, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  same(Attribute::pack_ids, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  same(Attribute::pack_pointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  same(Attribute::pack_workspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  same(Attribute::matmul_type, CUDNN_ATTR_MATMUL_COMP_TYPE);
  same(Attribute::operation_matmul_a, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
  same(Attribute::operation_matmul_b, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
  same(Attribute::operation_matmul_c, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
  same(Attribute::operation_matmul_descriptor, CUDNN_ATTR_OPERATION_MATMUL_DESC);
  same(Attribute::reduction_operator, CUDNN_ATTR_REDUCTION_OPERATOR);
  same(Attribute::reduction_type, CUDNN_ATTR_REDUCTION_COMP_TYPE);
  same(Attribute::operation_reduction_x, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
  same(Attribute::operation_reduction_y, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  same(Attribute::operation_reduction_descriptor, CUDNN_ATTR_OPERATION_REDUCTION_DESC);
  same(Attribute::operation_reshape_x, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
  same(Attribute::operation_reshape_y, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
#if CUDNN_VERSION >= 90800  // descriptions of devices
  same(device_properties, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  same(Attribute::heuristics_device, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  same(Attribute::device_json, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
#endif
}

TEST_CASE("cuDNN's types and modes have the numbers of its header") {
  using enum AttributeType;
  same(data_type, CUDNN_TYPE_DATA_TYPE);
  same(boolean, CUDNN_TYPE_BOOLEAN);
  same(int64, CUDNN_TYPE_INT64);
  same(pointer, CUDNN_TYPE_VOID_PTR);
  same(heuristic_mode, CUDNN_TYPE_HEUR_MODE);
  same(pointwise_mode, CUDNN_TYPE_POINTWISE_MODE);
  same(descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  same(reduction_operator, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE);
  same(character, CUDNN_TYPE_CHAR);
  same(DataType::f32, CUDNN_DATA_FLOAT);
  same(DataType::f16, CUDNN_DATA_HALF);
  same(DataType::int32, CUDNN_DATA_INT32);
  same(DataType::bf16, CUDNN_DATA_BFLOAT16);
  same(DataType::boolean, CUDNN_DATA_BOOLEAN);
  same(PointwiseMode::add, CUDNN_POINTWISE_ADD);
  same(PointwiseMode::multiply, CUDNN_POINTWISE_MUL);
  same(PointwiseMode::divide, CUDNN_POINTWISE_DIV);
  same(PointwiseMode::subtract, CUDNN_POINTWISE_SUB);
  same(PointwiseMode::exponential, CUDNN_POINTWISE_EXP);
  same(PointwiseMode::logarithm, CUDNN_POINTWISE_LOG);
  same(PointwiseMode::identity, CUDNN_POINTWISE_IDENTITY);
  same(PointwiseMode::greater_or_equal, CUDNN_POINTWISE_CMP_GE);
  same(PointwiseMode::index, CUDNN_POINTWISE_GEN_INDEX);
  same(PointwiseMode::select, CUDNN_POINTWISE_BINARY_SELECT);
  same(ReductionOperator::add, CUDNN_REDUCE_TENSOR_ADD);
  same(ReductionOperator::max, CUDNN_REDUCE_TENSOR_MAX);
  same(HeuristicMode::fallback, CUDNN_HEUR_MODE_FALLBACK);
  same(HeuristicMode::a, CUDNN_HEUR_MODE_A);
  same(kSuccess, CUDNN_STATUS_SUCCESS);
}

}  // namespace bench::cudnn

#endif
