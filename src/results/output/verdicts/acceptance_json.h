// An acceptance as JSON: schemas/report_accept.json.
#pragma once

#include <vector>

#include "core/json.h"
#include "core/json_document.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/acceptance/acceptance.h"

namespace bench {

/// {verdict, hosts: [{host, verdict, reasons: [{metric, value, expected, gate, text}]}]} and more.
Json to_json(const Acceptance& acceptance);
/// The text of to_json() plus the keys of `extra`, in pieces (core/json_document.h).
void write_json(const Acceptance& acceptance, const Json& extra, const Write& write);
/// One of its hosts.
Json to_json(const HostAcceptance& host);

}  // namespace bench
