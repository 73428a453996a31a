#include "devices/nccl/nccl_environment.h"

#include <array>
#include <charconv>
#include <string>

#include "core/text.h"

namespace bench {
namespace {

// In the order of nccl_common.h, which only grew since 2.20.
constexpr std::array<std::string_view, 7> kAlgorithms = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr std::array<std::string_view, 3> kProtocols = {"LL", "LL128", "SIMPLE"};

/// The text after `before`; nothing if it does not occur.
std::optional<std::string_view> behind(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  return text.substr(at + before.size());
}

bool of_a_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; }

std::string_view first_word(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && of_a_word(text[length])) ++length;
  return text.substr(0, length);
}

std::optional<int> first_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return {};
  return value;
}

/// "RING", or the name for the number 1; "" for an unknown number.
template <std::size_t N>
std::string name_of(std::string_view word, const std::array<std::string_view, N>& names) {
  const bool named = !word.empty() && word[0] >= 'A' && (word[0] <= 'Z' || word[0] >= 'a');
  if (named) return std::string(word);
  const auto number = first_number(word);
  if (!number) return "";
  return static_cast<std::size_t>(*number) < N
             ? std::string(names[static_cast<std::size_t>(*number)])
             : std::string();
}

/// {Lo..Hi}={0..23}: 24 channels.
std::optional<int> channels_in(std::string_view text) {
  const auto range = behind(text, "channel{Lo..Hi}={");
  if (!range) return {};
  const auto low = first_number(*range);
  const auto rest = behind(*range, "..");
  const auto high = rest ? first_number(*rest) : std::nullopt;
  if (!low || !high || *high < *low || *high - *low > 1023) return {};
  return *high - *low + 1;
}

std::optional<CollectiveChoice> tuned(std::string_view how) {
  const auto algorithm = behind(how, "Algo ");
  const auto protocol = behind(how, " proto ");
  if (!algorithm || !protocol) return {};
  CollectiveChoice choice{name_of(first_word(*algorithm), kAlgorithms),
                          name_of(first_word(*protocol), kProtocols), channels_in(how)};
  if (choice.algorithm.empty()) return {};
  return choice;
}

std::optional<CollectiveChoice> symmetric(std::string_view how) {
  const auto kernel = behind(how, "Kernel ");
  if (!kernel || first_word(*kernel).empty()) return {};
  const auto channels = behind(how, " nchannels ");
  return CollectiveChoice{"SYMMETRIC " + std::string(first_word(*kernel)), "",
                          channels ? first_number(*channels) : std::nullopt};
}

/// "NET/IB" of "NET/IB/0/GDRDMA"; else the first part.
std::string transport_of(std::string_view via) {
  const std::string_view kind = first_word(via);
  if (kind != "NET" || via.size() <= kind.size() || via[kind.size()] != '/')
    return std::string(kind);
  const std::string_view network = first_word(via.substr(kind.size() + 1));
  return network.empty() ? std::string(kind) : std::string(kind) + "/" + std::string(network);
}

/// The names in " [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>".
void note_cards(std::string_view list, UsedPaths& paths) {
  list = list.substr(0, list.find(';'));
  for (auto at = list.find('['); at != std::string_view::npos; at = list.find('[', at + 1)) {
    const auto close = list.find(']', at);
    if (close == std::string_view::npos) return;
    if (!first_number(list.substr(at + 1))) continue;  // [RO] is not a NIC
    const std::string_view name = first_word(list.substr(close + 1));
    if (!name.empty()) paths.network_cards.emplace(name);
  }
}

}  // namespace

std::optional<CollectiveChoice> tuning_choice(std::string_view line) {
  const auto how = behind(line, " Bytes -> ");
  if (!how) return {};
  if (how->starts_with("Algo ")) return tuned(*how);
  if (how->starts_with("Kernel ")) return symmetric(*how);
  if (how->starts_with("cudaMemcpy")) return CollectiveChoice{"COPY_ENGINE", ""};
  return {};
}

void note_paths(std::string_view line, UsedPaths& paths) {
  if (const auto via = behind(line, " via "); via && line.find(" : ") != std::string_view::npos) {
    const std::string transport = transport_of(*via);
    if (transport == "P2P" || transport == "SHM" || transport == "COLLNET" ||
        transport.starts_with("NET/"))
      paths.transports.insert(transport);
  }
  if (line.find("Connected NVLS tree") != std::string_view::npos ||
      line.find("NVLS comm 0x") != std::string_view::npos)
    paths.transports.insert("NVLS");
  if (line.find("Proceeding without NVLS") != std::string_view::npos)
    paths.transports.erase("NVLS");  // started, but rejected by the fabric
  for (const std::string_view network : {"NET/IB : Using", "NET/Socket : Using"})
    if (const auto cards = behind(line, network)) note_cards(*cards, paths);
}

CardKind card_kind(const SystemFiles& files, const std::string& name) {
  if (name.empty()) return CardKind::unknown;
  if (files.exists("sys/class/infiniband/" + name)) return CardKind::rdma;
  if (files.exists("sys/class/net/" + name)) return CardKind::interface;
  return CardKind::unknown;
}

std::map<std::string, std::string> nccl_environment(const PathRequest& paths, CardKind card) {
  std::map<std::string, std::string> variables;
  if (paths.isolation == Isolation::nvlink)
    variables = {
        {"NCCL_P2P_LEVEL", "NVL"}, {"NCCL_SHM_DISABLE", "1"}, {"NCCL_NET_DISABLE_INTRA", "1"}};
  if (paths.isolation == Isolation::network)
    variables = {{"NCCL_P2P_DISABLE", "1"},
                 {"NCCL_SHM_DISABLE", "1"},
                 {"NCCL_NVLS_ENABLE", "0"},
                 {"NCCL_MNNVL_ENABLE", "0"},
                 {"NCCL_PXN_DISABLE", "1"}};
  if (card == CardKind::rdma) {
    variables["NCCL_NET"] = "IB";
    variables["NCCL_IB_HCA"] = "=" + paths.network_card;
  }
  if (card == CardKind::interface) {
    variables["NCCL_NET"] = "Socket";
    variables["NCCL_SOCKET_IFNAME"] = "=" + paths.network_card;
  }
  return variables;
}

std::string nccl_path_obstacle(const PathRequest& asked, CardKind card, const PathRequest* joined) {
  if (joined != nullptr && !(*joined == asked))
    return "NCCL reads its transport settings once per process, and this process already used "
           "others";
  if (!asked.network_card.empty() && card == CardKind::unknown)
    return "this host has no NIC '" + asked.network_card +
           "' under /sys/class/infiniband or /sys/class/net";
  if (asked.isolation == Isolation::nvlink && !asked.network_card.empty())
    return "network_card has no effect with isolation nvlink";
  return "";
}

}  // namespace bench
