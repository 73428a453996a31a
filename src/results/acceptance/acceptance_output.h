// An acceptance for people and for programs: terminal, JSON (schemas/acceptance.json), JUnit, HTML
// certificates that stand alone and can be printed, and the packet that goes with a failed host.
#pragma once

#include <string>

#include "core/json_document.h"
#include "results/acceptance/acceptance.h"
#include "results/reports/text_style.h"

namespace bench {

std::string to_text(const Acceptance& acceptance, const TextStyle& style);

/// {verdict, hosts: [{host, verdict, reasons: [{metric, value, expected, gate, text}]}]} and more.
Json to_json(const Acceptance& acceptance);

/// The text of to_json() with the keys of `besides`, a piece at a time (core/json_document.h).
void write_json(const Acceptance& acceptance, const Json& besides, const Write& write);

/// One of its hosts.
Json to_json(const HostAcceptance& host);

/// One suite a host, one case a metric; what is inconclusive is an error, not a failure.
std::string to_junit(const Acceptance& acceptance);

/// The fleet; the pages of its hosts lie beside it as HOST.html.
std::string to_html(const Acceptance& acceptance);
/// One host's certificate.
std::string to_html(const Acceptance& acceptance, const HostAcceptance& host);

/// What a vendor is sent for a failed host: identity and serials, evidence, and the command that
/// reproduces the failure.
Json rma_packet(const Acceptance& acceptance, const HostAcceptance& host,
                const std::string& reproduce);
std::string to_text(const Json& rma_packet);

/// Names and serials of host and GPUs, as far as they could be read.
Json identity(const HostAcceptance& host);

/// "PASS", "FAIL", "INCONCLUSIVE".
std::string in_capitals(Verdict verdict);

/// One line for a scheduler: at most `most` characters.
std::string short_reason(const HostAcceptance& host, std::size_t most);

}  // namespace bench
