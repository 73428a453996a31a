// Over which paths the ranks of a collective reach each other: what is asked for, what a library
// says it uses, and whether the two agree.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/json.h"

namespace bench {

/// `nvlink`: nothing else between the GPUs of a host. `network`: nothing but network cards, inside
/// a host too.
enum class Isolation { none, nvlink, network };

std::string_view to_string(Isolation isolation);
Isolation isolation_from(std::string_view name);

struct PathRequest {
  Isolation isolation = Isolation::none;
  std::string network_card;  // the only one to be used: "mlx5_0", "eth0"; empty: any
  bool operator==(const PathRequest&) const = default;
};

/// What is asked of a rank on a rail (core/part_variables.h): where no card is named, its own.
PathRequest on_own_rail(PathRequest asked);

/// What one rank, or all of them, said. Empty sets: nothing was said.
struct UsedPaths {
  std::set<std::string> transports;     // "P2P", "SHM", "NET/IB", "NET/Socket", "COLLNET", "NVLS"
  std::set<std::string> network_cards;  // those the library was ready to use
  void merge(const UsedPaths& other);
};

/// {"transports": [...], "network_cards": [...]}
Json to_json(const UsedPaths& paths);
/// Of what to_json() gives.
UsedPaths used_paths_from_json(const Json& json);

/// What was used against the request: "nvlink only was asked for, but SHM was used"; "" when it
/// agrees as far as anything is known.
std::string path_violation(const PathRequest& asked, const UsedPaths& used);

}  // namespace bench
