#include "probes/preprocessing/reference_bpe.h"

namespace bench::preprocessing {

ReferenceBpe::ReferenceBpe(const tokenizer::TokenizerSpec& spec) : spec_(spec) {
  for (std::size_t id = 0; id < spec.tokens.size(); ++id)
    if (!spec.tokens[id].empty())
      ids_.emplace(spec.tokens[id], static_cast<tokenizer::TokenId>(id));
  for (const tokenizer::Merge& merge : spec.merges)
    ranks_[{spec.tokens[merge.left], spec.tokens[merge.right]}] = merge.rank;
}

std::vector<tokenizer::TokenId> ReferenceBpe::encode(std::string_view piece) const {
  if (spec_.whole_pieces)
    if (const auto found = ids_.find(piece); found != ids_.end()) return {found->second};
  std::vector<std::string_view> parts;
  for (std::size_t i = 0; i < piece.size(); ++i) parts.push_back(piece.substr(i, 1));
  for (;;) {
    std::size_t best = parts.size();
    std::uint32_t lowest = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ranks_.find({parts[i], parts[i + 1]});
      if (found == ranks_.end() || (best < parts.size() && found->second >= lowest)) continue;
      best = i;
      lowest = found->second;
    }
    if (best == parts.size()) break;
    parts[best] = {parts[best].data(), parts[best].size() + parts[best + 1].size()};
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<tokenizer::TokenId> ids;
  for (const std::string_view part : parts) ids.push_back(ids_.at(part));
  return ids;
}

}  // namespace bench::preprocessing
