#include "inference/paged_cache.h"

#include <algorithm>

#include "training/engine/graph.h"

namespace bench::inference {

CacheBlocks::CacheBlocks(std::int64_t blocks) : blocks_(static_cast<std::size_t>(blocks)) {
  for (int i = static_cast<int>(blocks) - 1; i >= 0; --i) unused_.push_back(i);
}

int CacheBlocks::take() {
  training::require(available() > 0, "key-value cache", "no block is left");
  int block = 0;
  if (!unused_.empty()) {
    block = unused_.back();
    unused_.pop_back();
  } else {
    block = idle_.front();
    idle_.pop_front();
    known_.erase(at(block).entry);
    at(block).kept = false;
  }
  at(block).users = 1;
  return block;
}

void CacheBlocks::release(int block) {
  Block& one = at(block);
  training::require(one.users > 0, "key-value cache",
                    "block " + std::to_string(block) + " is in no use");
  if (--one.users > 0) return;
  if (one.kept)
    one.idle = idle_.insert(idle_.end(), block);
  else
    unused_.push_back(block);
}

CacheBlocks::Content CacheBlocks::keep(int block, Content before, const BlockTokens& tokens) {
  const auto [entry, added] = known_.try_emplace({before, tokens}, last_ + 1, block);
  if (added) {
    ++last_;
    at(block).kept = true;
    at(block).entry = entry;
  }
  return entry->second.first;
}

CacheBlocks::Prefix CacheBlocks::find(std::span<const std::int32_t> tokens) {
  Prefix found;
  for (std::size_t first = 0; first + kCacheTokens < tokens.size(); first += kCacheTokens) {
    BlockTokens of_block;
    std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(first), kCacheTokens,
                of_block.begin());
    const auto entry = known_.find({found.content, of_block});
    if (entry == known_.end()) break;
    const auto [content, block] = entry->second;
    if (at(block).users++ == 0) idle_.erase(at(block).idle);
    found.blocks.push_back(block);
    found.content = content;
  }
  return found;
}

}  // namespace bench::inference
