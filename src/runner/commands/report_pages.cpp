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
  add_verbose(command, options.verbose);
}

void write_pages(const Document& document, const PageOptions& options) {
  if (!options.html.empty()) write_file(options.html, to_page(document));
  if (!options.markdown.empty()) write_file(options.markdown, to_markdown(document));
}

void show(const std::function<Document()>& document, const std::function<Json()>& json,
          bool as_json, const PageOptions& options) {
  if (as_json) print(json());
  if (as_json && !options.any()) return;
  const Document made = document();
  if (!as_json) print(to_terminal(made, style_of_stdout(options.verbose)));
  write_pages(made, options);
}

}  // namespace bench
