// Renders an acceptance: terminal, JSON (schemas/acceptance.json), JUnit, self-contained HTML
// certificates, and the RMA packet of a failed host.
#pragma once

#include <string>

#include "core/json_document.h"
#include "results/acceptance/acceptance.h"
#include "results/reports/text_style.h"

namespace bench {

std::string to_text(const Acceptance& acceptance, const TextStyle& style);

/// {verdict, hosts: [{host, verdict, reasons: [{metric, value, expected, gate, text}]}]} and more.
Json to_json(const Acceptance& acceptance);

/// The text of to_json() plus the keys of `extra`, in pieces (core/json_document.h).
void write_json(const Acceptance& acceptance, const Json& extra, const Write& write);

/// One of its hosts.
Json to_json(const HostAcceptance& host);

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
