#include "runner/commands/command.h"

#include <cstdio>

#include "core/text.h"
#include "runner/site/site_settings.h"

namespace bench {

std::filesystem::path ReadingOptions::database() const { return database_path(db); }
std::filesystem::path ReadingOptions::runs() const { return runs_folder(database()); }

void add_reading_options(CLI::App& command, ReadingOptions& options) {
  command.add_flag("--json", options.json, "Print JSON (default: text)");
  add_database_option(command, options);
}

void add_database_option(CLI::App& command, ReadingOptions& options) {
  add_value(command, "--db", options.db, "FILE",
            "Use this results database; runs/ is next to it (default: $BENCHCTL_DB, then "
            "site.json, then ~/.local/state/benchctl/results.sqlite)");
}

CLI::Option* add_repeated(CLI::App& command, const std::string& name,
                          std::vector<std::string>& values, const std::string& text) {
  return command.add_option(name, values, text)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::map<std::string, std::string> labels_from(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> labels;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::usage, "--label " + printable(text) + ": expected KEY=VALUE",
                  "for example --label driver=550.54");
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) throw_errno("write to stdout");
}

void print_pieces(const std::function<void(const Write&)>& make) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string waiting;
  make([&](const std::string& piece) {
    waiting += piece;
    if (waiting.size() < kPiece) return;
    print(waiting);
    waiting.clear();
  });
  print(waiting);
}

void print(const Json& json) {
  print(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace bench
