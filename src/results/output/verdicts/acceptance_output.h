// Renders an acceptance: terminal, JSON (schemas/acceptance.json), JUnit, self-contained HTML
// certificates, and the RMA packet of a failed host.
#pragma once

#include <string>

#include "core/json_document.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/acceptance/acceptance.h"

namespace bench {

std::string to_text(const Acceptance& acceptance, const TextStyle& style);

/// One suite per host, one case per metric; inconclusive counts as an error, not a failure.
std::string to_junit(const Acceptance& acceptance);

/// The fleet page; it links to HOST.html in the same folder.
std::string to_html(const Acceptance& acceptance);
/// The certificate of one host.
std::string to_html(const Acceptance& acceptance, const HostAcceptance& host);

/// The RMA packet for the vendor: identity and serials, evidence, and the command that reproduces
/// the failure.
Json rma_packet(const Acceptance& acceptance, const HostAcceptance& host,
                const std::string& reproduce);
std::string to_text(const Json& rma_packet);

/// Names and serials of host and GPUs, where readable.
Json identity(const HostAcceptance& host);

/// "PASS", "FAIL", "INCONCLUSIVE".
std::string in_capitals(Verdict verdict);

/// One line for a scheduler: at most `most` characters.
std::string short_reason(const HostAcceptance& host, std::size_t most);

}  // namespace bench
