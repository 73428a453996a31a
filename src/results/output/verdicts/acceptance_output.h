// An acceptance as documents and JUnit.
#pragma once

#include <string>

#include "results/output/document/document.h"
#include "results/verdicts/acceptance/acceptance.h"

namespace bench {

/// As a page it links to HOST.html in the same folder.
Document to_document(const Acceptance& acceptance);
/// The certificate of one host.
Document certificate(const Acceptance& acceptance, const HostAcceptance& host);

/// One suite per host, one case per metric; inconclusive counts as an error, not a failure.
std::string to_junit(const Acceptance& acceptance);

/// One line for a scheduler: at most `most` characters.
std::string short_reason(const HostAcceptance& host, std::size_t most);

}  // namespace bench
