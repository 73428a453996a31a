// Every operator that a model can use. Each checks its shapes and throws Error(internal) with both;
// the rows of an activation are the tokens of the batch, sequence by sequence.
#pragma once

#include "probes/training/operators/add.h"
#include "probes/training/operators/attention.h"
#include "probes/training/operators/binary_cross_entropy.h"
#include "probes/training/operators/concat.h"
#include "probes/training/operators/cross.h"
#include "probes/training/operators/cross_entropy.h"
#include "probes/training/operators/dot_interaction.h"
#include "probes/training/operators/embedding.h"
#include "probes/training/operators/gelu.h"
#include "probes/training/operators/gelu_mlp.h"
#include "probes/training/operators/layer_norm.h"
#include "probes/training/operators/linear.h"
#include "probes/training/operators/relu.h"
#include "probes/training/operators/rms_norm.h"
#include "probes/training/operators/rope.h"
#include "probes/training/operators/swiglu.h"
