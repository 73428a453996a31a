// Keys and values of the sequences that a decoder works on, in blocks of 16 positions
// (PagedAttention, arXiv 2309.06180): a sequence takes blocks as it grows, and full ones serve
// every sequence with the same beginning.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "inference/decoder_kernels.h"
#include "training/kernels/memory.h"

namespace bench::inference {

struct CacheShape {
  std::int64_t layers = 0, kv_heads = 0, head_dim = 0;

  /// Values of a position, with zeros up to whole vectors.
  std::int64_t padded_dim() const {
    return (head_dim + kCacheTokens - 1) / kCacheTokens * kCacheTokens;
  }
  std::int64_t head_elements() const { return kCacheTokens * (head_dim + padded_dim()); }
  /// Of a block of all layers, in f32.
  std::int64_t block_bytes() const { return layers * kv_heads * head_elements() * 4; }
};

/// The memory: for each layer, block and head the keys [head_dim, 16] and the values [16,
/// padded_dim]. Zeros at first; a block that is used again still holds what it held.
class PagedCache {
 public:
  /// Throws Error(environment) if out of memory.
  PagedCache(const CacheShape& shape, std::int64_t blocks)
      : shape_(shape), blocks_(blocks), memory_(blocks * shape.block_bytes(), "key-value cache") {}

  const CacheShape& shape() const { return shape_; }
  std::int64_t blocks() const { return blocks_; }
  std::int64_t bytes() const { return memory_.bytes(); }
  float* keys(std::int64_t layer, int block, std::int64_t head) const {
    return reinterpret_cast<float*>(memory_.data()) +
           ((layer * blocks_ + block) * shape_.kv_heads + head) * shape_.head_elements();
  }
  float* values(std::int64_t layer, int block, std::int64_t head) const {
    return keys(layer, block, head) + kCacheTokens * shape_.head_dim;
  }

 private:
  CacheShape shape_;
  std::int64_t blocks_;
  training::MemoryBlock memory_;
};

/// The tokens of a full block, and what stood before it.
using BlockTokens = std::array<std::int32_t, kCacheTokens>;

/// Which blocks are in use, by how many sequences, and which full ones are kept for sequences that
/// begin alike. Tokens are compared, not hashes of them.
class CacheBlocks {
 public:
  explicit CacheBlocks(std::int64_t blocks);

  /// Blocks that take() can give: unused ones, and kept ones that no sequence uses.
  std::int64_t available() const {
    return static_cast<std::int64_t>(unused_.size() + idle_.size());
  }
  /// A block for one sequence; if necessary the kept one that was idle longest. Throws
  /// Error(internal) if none is available.
  int take();
  void release(int block);
  /// Content 0 is the beginning of every sequence.
  using Content = std::uint64_t;
  /// That of a full block whose tokens follow `before`; from now on it serves other sequences too.
  Content keep(int block, Content before, const BlockTokens& tokens);

  struct Prefix {
    std::vector<int> blocks = {};  // in use by one sequence more
    Content content = 0;           // of the last one
  };
  /// The longest beginning of these tokens that is there, without the last token.
  Prefix find(std::span<const std::int32_t> tokens);

 private:
  using Key = std::pair<Content, BlockTokens>;
  struct Block {
    int users = 0;
    bool kept = false;
    std::list<int>::iterator idle = {};  // if kept without users
    std::map<Key, std::pair<Content, int>>::iterator entry = {};
  };
  Block& at(int block) { return blocks_[static_cast<std::size_t>(block)]; }

  std::vector<Block> blocks_;
  std::vector<int> unused_ = {};
  std::list<int> idle_ = {};  // longest idle first
  std::map<Key, std::pair<Content, int>> known_ = {};
  Content last_ = 0;
};

}  // namespace bench::inference
