// An acceptance as JSON (schemas/acceptance.json), and the RMA packet of a failed host.
#pragma once

#include <string>

#include "core/json.h"
#include "core/json_document.h"
#include "results/verdicts/acceptance/acceptance.h"

namespace bench {

/// {verdict, hosts: [{host, verdict, reasons: [{metric, value, expected, gate, text}]}]} and more.
Json to_json(const Acceptance& acceptance);
/// The text of to_json() plus the keys of `extra`, in pieces (core/json_document.h).
void write_json(const Acceptance& acceptance, const Json& extra, const Write& write);

/// Names and serials of host and GPUs, where readable.
Json identity(const HostAcceptance& host);

/// The RMA packet for the vendor: identity and serials, evidence, and the command that reproduces
/// the failure.
Json rma_packet(const Acceptance& acceptance, const HostAcceptance& host,
                const std::string& reproduce);
std::string to_text(const Json& rma_packet);

}  // namespace bench
