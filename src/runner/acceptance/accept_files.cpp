#include "runner/acceptance/accept_files.h"

#include <algorithm>

#include "results/acceptance/acceptance_output.h"
#include "results/text_file.h"
#include "runner/acceptance/drain.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

const Reason* first_failure(const HostAcceptance& host) {
  for (const Reason& reason : host.reasons)
    if (reason.verdict == Verdict::fail) return &reason;
  return nullptr;
}

/// A host that passed, else the first other host.
std::string partner_of(const HostAcceptance& host, const Acceptance& acceptance) {
  std::string partner;
  for (const HostAcceptance& other : acceptance.hosts) {
    if (other.host == host.host) continue;
    if (other.verdict == Verdict::pass) return other.host;
    if (partner.empty() && other.verdict != Verdict::fail) partner = other.host;
  }
  return partner;
}

Inventory only(const Inventory& inventory, const std::vector<std::string>& names) {
  Inventory part = inventory;
  part.groups.clear();
  std::erase_if(part.hosts, [&](const Host& host) {
    return std::ranges::find(names, host.name) == names.end();
  });
  return part;
}

void write_packet(const fs::path& folder, const Acceptance& acceptance, const HostAcceptance& host,
                  const Inventory& inventory, const std::string& suite) {
  const Reason* reason = first_failure(host);
  std::vector<std::string> names = {host.host};
  if (reason != nullptr && reason->gate == "pairs") names.push_back(partner_of(host, acceptance));
  const fs::path hosts = fs::absolute(folder / host.host / "hosts.json");
  std::vector<std::string> words = {"benchctl", "run", suite, "--hosts", hosts.string()};
  if (reason != nullptr && !reason->case_name.empty())
    words.insert(words.end(), {"--only", reason->case_name});
  const Json packet = rma_packet(acceptance, host, shell_words(words));
  write_file(hosts, to_json(only(inventory, names)).dump(1) + "\n");
  write_file(folder / host.host / "packet.json",
             packet.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  write_file(folder / host.host / "packet.txt", to_text(packet));
}

}  // namespace

void write_certificates(const fs::path& folder, const Acceptance& acceptance) {
  write_file(folder / "index.html", to_html(acceptance));
  for (const HostAcceptance& host : acceptance.hosts)
    write_file(folder / (host.host + ".html"), to_html(acceptance, host));
}

void write_junit(const fs::path& file, const Acceptance& acceptance) {
  write_file(file, to_junit(acceptance));
}

void write_rma_packets(const fs::path& folder, const Acceptance& acceptance,
                       const Inventory& inventory, const std::string& suite) {
  for (const HostAcceptance& host : acceptance.hosts)
    if (host.verdict == Verdict::fail) write_packet(folder, acceptance, host, inventory, suite);
}

}  // namespace bench
