// The part of a model that one rank has: some of its layers (a stage of a pipeline, of one or
// several chunks), of each divided matrix some of its rows or columns (tensor parallelism, arXiv
// 1909.08053), of each layer's experts some (expert parallelism, arXiv 2006.16668), and of each
// sample some of its tokens (context parallelism).
#pragma once

#include <cstdint>
#include <utility>

#include "training/engine/context_part.h"

namespace bench::training {

struct ModelPart {
  int tensor_rank = 0;
  int tensor_ranks = 1;
  int stage = 0;
  int stages = 1;
  int chunks = 1;  // of each stage; those of a model pass through the stages in turn
  /// Tensor ranks divide the rows of what they do not divide otherwise, too (arXiv 2205.05198).
  bool sequence_parallel = false;
  /// Copies of the model of which each has a shard of every parameter (ZeRO, arXiv 1910.02054).
  int shard = 0;
  int shards = 1;
  bool keep_gathered = false;  // from the forward to the backward pass: ZeRO-2, else ZeRO-3
  ContextPart context = {};
  /// Copies of the rest of the model, with other samples, of which each has equally many experts.
  int expert_rank = 0;
  int expert_ranks = 1;

  bool is_whole() const {
    return tensor_ranks == 1 && stages == 1 && shards == 1 && context.is_whole() &&
           expert_ranks == 1;
  }
  /// Whether ranks with other samples need each other within a pass.
  bool passes_need_copies() const { return shards > 1 || expert_ranks > 1; }
  bool is_first_stage() const { return stage == 0; }
  bool is_last_stage() const { return stage == stages - 1; }
  /// Layers first to second - 1 of a chunk: equally many in each, or one more in later ones.
  std::pair<std::int64_t, std::int64_t> layers(std::int64_t all, int chunk = 0) const {
    const std::int64_t number = std::int64_t{chunk} * stages + stage;
    const std::int64_t numbers = std::int64_t{chunks} * stages;
    return {all * number / numbers, all * (number + 1) / numbers};
  }
  /// Tokens first to second - 1 of a vocabulary, which the tensor ranks divide.
  std::pair<std::int64_t, std::int64_t> tokens(std::int64_t vocabulary) const {
    return {vocabulary * tensor_rank / tensor_ranks, vocabulary * (tensor_rank + 1) / tensor_ranks};
  }
  bool operator==(const ModelPart&) const = default;
};

}  // namespace bench::training
