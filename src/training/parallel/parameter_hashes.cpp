#include "training/parallel/parameter_hashes.h"

#include <fmt/format.h>

#include <span>

#include "training/engine/content_hash.h"

namespace bench::training {
namespace {

constexpr std::size_t kDigits = 16;  // of a hash as text, which any group can gather

std::span<const std::byte> bytes_in(View view) {
  return {view.as<const std::byte>(),
          static_cast<std::size_t>(view.elements()) * size_of(view.dtype)};
}

std::string first_difference(const std::vector<std::string>& ranks,
                             const std::vector<TensorHash>& hashes) {
  const auto digits = [&](std::size_t rank, std::size_t tensor) {
    return ranks[rank].substr(tensor * kDigits, kDigits);
  };
  for (std::size_t rank = 1; rank < ranks.size(); ++rank)
    for (std::size_t i = 0; i < hashes.size() && ranks[rank] != ranks[0]; ++i)
      if (digits(rank, i) != digits(0, i))
        return fmt::format("rank {} and rank 0 differ in '{}': hashes {} and {}", rank,
                           hashes[i].name, digits(rank, i), digits(0, i));
  return "";
}

}  // namespace

std::vector<TensorHash> tensor_hashes(const Replica& replica) {
  std::vector<TensorHash> hashes;
  const Weights here = replica.weights().on_host();
  const Graph& graph = *replica.plan().graph;
  for (const int id : graph.parameters())
    hashes.push_back(
        {graph.tensor(id).name, content_hash(bytes_in(here.view(replica.plan(), id)))});
  return hashes;
}

std::uint64_t combined_hash(const std::vector<TensorHash>& hashes) {
  std::vector<std::uint64_t> words;
  for (const TensorHash& hash : hashes) words.push_back(hash.hash);
  return content_hash(std::as_bytes(std::span(words)));
}

std::string find_replica_difference(Group& group, const std::vector<TensorHash>& own) {
  std::string digits;
  for (const TensorHash& hash : own) digits += hash_text(hash.hash);
  return broadcast_text(group, first_difference(group.gather(digits), own));
}

}  // namespace bench::training
