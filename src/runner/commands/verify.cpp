// benchctl verify DIR: whether a folder of certificates or RMA packets is as it was written, and
// who signed it.
#include <fmt/format.h>

#include "core/text.h"
#include "runner/commands/command.h"
#include "runner/seal/seal.h"

namespace bench {
namespace {

struct VerifyOptions {
  std::string folder;
  std::string signers;
  bool json = false;
};

/// A signature that was to be checked and is none, or is wrong, fails; one that nobody could
/// attribute leaves the question open.
ExitCode seal_code(const SealReport& report, const VerifyOptions& options) {
  const bool unsigned_but_asked = report.signature == Signature::none && !options.signers.empty();
  if (!report.intact() || report.signature == Signature::wrong || unsigned_but_asked)
    return ExitCode::failed;
  return report.signature == Signature::not_checked ? ExitCode::not_measured : ExitCode::ok;
}

Json seal_json(const SealReport& report, const std::string& folder) {
  return {{"folder", folder},
          {"files", report.files},
          {"intact", report.intact()},
          {"changed", report.changed},
          {"missing", report.missing},
          {"unlisted", report.unlisted},
          {"signature", to_string(report.signature)},
          {"signer", text_or_null(report.signer)},
          {"trouble", text_or_null(report.trouble)}};
}

std::string signature_text(const SealReport& report) {
  switch (report.signature) {
    case Signature::none:
      return "not signed";
    case Signature::not_checked:
      return "signed with key " + report.signer + "; add --signers FILE to check whose it is";
    case Signature::trusted:
      return "signed by " + report.signer;
    case Signature::wrong:
      break;
  }
  return "wrong signature: " + report.trouble;
}

std::string seal_text(const SealReport& report, const std::string& named) {
  const std::string folder = printable(named);
  const std::size_t altered = report.changed.size() + report.missing.size();
  std::string text =
      report.intact() ? fmt::format("PASS: {}: all {} files are as written\n", folder, report.files)
                      : fmt::format("FAIL: {}: {} of {} files changed or missing, {} added\n",
                                    folder, altered, report.files, report.unlisted.size());
  for (const std::string& name : report.changed) text += "  changed  " + name + "\n";
  for (const std::string& name : report.missing) text += "  missing  " + name + "\n";
  for (const std::string& name : report.unlisted) text += "  added    " + printable(name) + "\n";
  return text + printable(signature_text(report)) + "\n";
}

}  // namespace

void add_verify(CLI::App& app, CommandResult& result) {
  CLI::App* command =
      app.add_subcommand("verify", "Verify digests and signature of certificates or RMA packets");
  command->footer(
      "Example: benchctl accept --hosts hosts.json --html certificates --sign ~/.ssh/id_ed25519\n"
      "         benchctl verify certificates --signers allowed_signers\n"
      "A line of the signers' file: NAME KEYTYPE KEY, such as: alice@lab ssh-ed25519 AAAA...\n"
      "Exit codes: 0 all files are as written, and signed by a signer if --signers is given;\n"
      "1 they are not; 3 signed, but without --signers nobody knows by whom.");
  auto options = std::make_shared<VerifyOptions>();
  add_value(*command, "folder", options->folder, "DIR", "Verify this folder")->required();
  add_value(*command, "--signers", options->signers, "FILE",
            "Demand a signature by one of these keys, in the format of ssh-keygen's allowed "
            "signers");
  command->add_flag("--json", options->json, "Print JSON (default: text)");
  command->callback([options, &result] {
    const SealReport report = check_seal(options->folder, options->signers);
    options->json ? print(seal_json(report, options->folder))
                  : print(seal_text(report, options->folder));
    result.code = seal_code(report, *options);
  });
}

}  // namespace bench
