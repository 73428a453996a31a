// A report as a terminal shows it.
#pragma once

#include <string>

#include "results/output/document/terminal.h"

namespace bench {

/// `more`: what else to_document() of this report takes.
template <typename Report, typename... More>
std::string to_text(const Report& report, const TextStyle& style, const More&... more) {
  return to_terminal(to_document(report, more...), style);
}

}  // namespace bench
