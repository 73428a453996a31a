// How a command shows a report: as text or JSON on stdout, and as pages in files where asked.
#pragma once

#include <string>

#include "core/json.h"
#include "results/output/document/document.h"
#include "runner/commands/command.h"

namespace bench {

struct PageOptions {
  std::string html, markdown;  // files; "" for none
  bool any() const { return !html.empty() || !markdown.empty(); }
};
void add_page_options(CLI::App& command, PageOptions& options);

/// Writes what the options ask for. Throws Error(environment).
void write_pages(const Document& document, const PageOptions& options);

/// Text that fits stdout; writes the pages.
void show(const Document& document, const PageOptions& options);
/// JSON; writes the pages.
void show(const Json& json, const Document& document, const PageOptions& options);

}  // namespace bench
