#include "runner/commands/report_pages.h"

#include "core/whole_file.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "runner/commands/report_output.h"

namespace bench {

void add_page_options(CLI::App& command, PageOptions& options) {
  add_value(command, "--html", options.html, "FILE", "Write the report as an HTML page");
  add_value(command, "--markdown", options.markdown, "FILE", "Write the report as Markdown");
}

void write_pages(const Document& document, const PageOptions& options) {
  if (!options.html.empty()) write_file(options.html, to_page(document));
  if (!options.markdown.empty()) write_file(options.markdown, to_markdown(document));
}

void show(const Document& document, const PageOptions& options) {
  print(to_terminal(document, style_of_stdout()));
  write_pages(document, options);
}

void show(const Json& json, const Document& document, const PageOptions& options) {
  print(json);
  write_pages(document, options);
}

}  // namespace bench
