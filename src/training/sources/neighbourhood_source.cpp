#include "training/sources/neighbourhood_source.h"

#include <fmt/format.h>

#include "core/error.h"

namespace bench::training {

std::string_view name_of(NodeType type) {
  constexpr std::array<std::string_view, kNodeTypes> kNames{"paper", "author", "field",
                                                            "institute"};
  return kNames.at(static_cast<std::size_t>(type));
}

std::vector<NodeGroup> node_groups(const std::vector<std::int64_t>& fan_outs) {
  std::vector<NodeGroup> groups(1);
  groups[0].name = "seed";
  std::int64_t nodes = 1;
  for (std::size_t at = 0; at < groups.size(); ++at) {
    const NodeGroup parent = groups[at];
    const auto depth = static_cast<std::size_t>(parent.depth);
    if (depth == fan_outs.size()) break;
    if (fan_outs[depth] < 1)
      throw Error(ErrorKind::usage,
                  fmt::format("a fan-out of {} at depth {}", fan_outs[depth], depth),
                  "use fan-outs from 1 on");
    for (std::size_t relation = 0; relation < kRelationCount; ++relation) {
      if (kRelations[relation].of != parent.type) continue;
      const std::string name(kRelations[relation].name);
      groups.push_back({depth == 0 ? name : parent.name + "." + name, static_cast<int>(at),
                        relation, kRelations[relation].neighbours, parent.depth + 1,
                        parent.nodes * fan_outs[depth], nodes});
      nodes += groups.back().nodes;
    }
  }
  return groups;
}

}  // namespace bench::training
