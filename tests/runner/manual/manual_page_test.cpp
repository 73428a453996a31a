#include "runner/manual/manual_page.h"

#include "runner/commands/command_line.h"
#include "runner/manual/command_tree.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("a manual page has the synopsis, options and notes of its command") {
  CLI::App app{"tool 1.0: do work", "tool"};
  std::string file, kind;
  bool json = false;
  CLI::App* run = app.add_subcommand("run", "Run a file");
  run->add_option("file", file, "Run this")->type_name("FILE")->required();
  run->add_option("-k,--kind", kind, "Choose a kind")->check(CLI::IsMember({"a", "b"}));
  run->add_flag("--json", json, "Print JSON");
  run->footer("Example: tool run x\n.y is a file");

  const auto pages = manual_pages(app);
  REQUIRE(pages.size() == 2);
  CHECK_THAT(pages.at("tool.1"), Contains("tool \\- do work\n") &&
                                     Contains(".TP\n\\fBtool\\-run\\fR(1)\nRun a file\n"));
  const std::string& page = pages.at("tool-run.1");
  CHECK_THAT(page, Contains(".TH \"TOOL-RUN\" 1 "));
  CHECK_THAT(page, Contains(".SH NAME\ntool\\-run \\- Run a file\n"));
  CHECK_THAT(page, Contains("\\fBtool run\\fR [\\fIOPTION\\fR]... \\fIFILE\\fR\n"));
  CHECK_THAT(page, Contains("\\fB\\-k, \\-\\-kind\\fR \\fIa|b\\fR\nChoose a kind\n"));
  CHECK_THAT(page, Contains("\\fB\\-\\-json\\fR\nPrint JSON\n"));
  // A line that begins with a dot would be a request to troff.
  CHECK_THAT(page, Contains("Example: tool run x\n\\&.y is a file\n"));
}

namespace {

void check_help(const CLI::App& command) {
  INFO(full_name(command));
  CHECK_FALSE(command.get_description().empty());
  CHECK_THAT(command.get_footer(), Contains("benchctl "));
  for (const CLI::Option* option : command.get_options()) {
    INFO(option->get_single_name());
    CHECK_FALSE(option->get_description().empty());
  }
  for (const CLI::App* one : subcommands(command)) check_help(*one);
}

}  // namespace

TEST_CASE("each command has an example, and each option a description") {
  CommandResult result;
  const auto app = make_command_line(result);
  check_help(*app);
  CHECK(manual_pages(*app).size() > 40);
}
