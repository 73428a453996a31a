// How a command shows a report: as text or JSON on stdout, and as pages in files where asked.
#pragma once

#include <functional>
#include <string>

#include "core/json.h"
#include "results/output/document/document.h"
#include "runner/commands/command.h"

namespace bench {

struct PageOptions {
  std::string html, markdown;  // files; "" for none
  bool verbose = false;        // of the text: TextStyle
  bool any() const { return !html.empty() || !markdown.empty(); }
};
void add_page_options(CLI::App& command, PageOptions& options);

/// Writes what the options ask for. Throws Error(environment).
void write_pages(const Document& document, const PageOptions& options);

/// Prints the report as text that fits stdout, or as JSON, and writes the pages. Calls only what is
/// needed, each once.
void show(const std::function<Document()>& document, const std::function<Json()>& json,
          bool as_json, const PageOptions& options);

}  // namespace bench
