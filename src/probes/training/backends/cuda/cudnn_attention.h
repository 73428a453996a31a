// Attention by cuDNN on the GPU that is current: plans for each shape, made once for all lanes.
#pragma once

#include <memory>

#include "probes/training/backends/cuda/cudnn/attention_choice.h"
#include "probes/training/backends/cuda/device_context.h"

namespace bench::training {

/// Shared by all lanes. If libcudnn is missing or does not start, our own attention is used, and its
/// text() says why.
std::shared_ptr<cudnn::AttentionChoices> cudnn_attention(std::shared_ptr<DeviceContext> context,
                                                         std::shared_ptr<Memory> memory);

}  // namespace bench::training
