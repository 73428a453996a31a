#include "runner/seal/seal.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "core/error.h"
#include "core/json.h"
#include "core/sha256.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "runner/launch/process.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNamespace = "benchctl";
constexpr std::size_t kDigits = 64;
constexpr std::chrono::seconds kPatience{60};  // a key on a token waits for a touch

bool is_digest(std::string_view text) {
  return text.size() == kDigits &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_harmless(const std::string& name) {
  if (name.empty() || printable(name) != name) return false;
  const fs::path path(name);
  return path.is_relative() && path.has_filename() && path.lexically_normal() == path &&
         std::ranges::find(path, fs::path("..")) == path.end();
}

/// Names of all regular files below the folder, but for the seal itself. Links are not followed:
/// what they lead to is not of this folder.
std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::erase_if(
      names, [](const std::string& name) { return name == kSumsName || name == kSignatureName; });
  std::ranges::sort(names);
  return names;
}

struct Answer {
  Exit exit;
  std::string output, error;
};

/// Throws Error(environment) if ssh-keygen is missing or does not end.
Answer ssh_keygen(const std::vector<std::string>& words, std::string_view input = {}) {
  Command command{{find_program("ssh-keygen"), "-Y"}, {}};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  Process process(command);
  Printed printed;
  if (!run_until(process, std::chrono::steady_clock::now() + kPatience, 4096, printed, input))
    throw Error(ErrorKind::environment, "ssh-keygen -Y " + words.front() + " timed out",
                "use a key without a passphrase, or add it to ssh-agent and name the .pub file");
  return {process.reap(), printed.output, printed.error};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string said_by(const Answer& answer) {
  const std::string said =
      printable(first_line(answer.error.empty() ? answer.output : answer.error));
  return said.empty() ? answer.exit.text() : said;
}

/// "Good "benchctl" signature with ED25519 key SHA256:..." -> "SHA256:...".
std::string fingerprint(const std::string& said) {
  const auto begin = said.find("SHA256:");
  return begin == std::string::npos ? "" : first_line(said.substr(begin));
}

void check_signature(const fs::path& folder, const std::string& sums, const std::string& signers,
                     SealReport& report) {
  const std::string signature = (folder / kSignatureName).string();
  if (!fs::exists(signature)) return;
  const Answer valid = ssh_keygen({"check-novalidate", "-n", kNamespace, "-s", signature}, sums);
  if (!valid.exit.clean()) {
    report.signature = Signature::wrong;
    report.trouble = said_by(valid);
    return;
  }
  report.signature = Signature::not_checked;
  report.signer = fingerprint(valid.output);
  if (signers.empty()) return;
  const Answer who = ssh_keygen({"find-principals", "-s", signature, "-f", signers});
  const std::string name = first_line(who.output);
  const Answer trusted =
      !who.exit.clean() || name.empty()
          ? who
          : ssh_keygen({"verify", "-n", kNamespace, "-s", signature, "-f", signers, "-I", name},
                       sums);
  report.signature = trusted.exit.clean() && !name.empty() ? Signature::trusted : Signature::wrong;
  if (report.signature == Signature::trusted)
    report.signer = name;
  else
    report.trouble = "its key " + report.signer + " is not in " + signers;
}

}  // namespace

std::vector<FileSum> sums_from_text(std::string_view text, const std::string& origin) {
  std::vector<FileSum> sums;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    const std::string where = origin + ":" + std::to_string(number);
    if (line.size() <= kDigits + 2 || !is_digest(line.substr(0, kDigits)) || line[kDigits] != ' ' ||
        (line[kDigits + 1] != ' ' && line[kDigits + 1] != '*'))
      throw Error(ErrorKind::input,
                  where + ": not a line of sha256sum: '" + printable(line.substr(0, 100)) + "'",
                  "expected 64 hexadecimal digits, two spaces and a file name");
    FileSum sum{std::string(line.substr(kDigits + 2)), std::string(line.substr(0, kDigits))};
    if (!is_harmless(sum.name))
      throw Error(ErrorKind::input,
                  where + ": file name '" + printable(sum.name) + "' is not below the folder",
                  "do not trust this folder");
    sums.push_back(std::move(sum));
  }
  return sums;
}

std::string sum_line(const fs::path& file, const std::string& name) {
  return sha256(read_file(file)) + "  " + name + "\n";
}

void seal(const WrittenFolder& written, const std::string& key) {
  std::string sums;
  for (const std::string& name : written.names) sums += sum_line(written.folder / name, name);
  // ssh-keygen would ask whether to replace it.
  std::error_code ignored;
  fs::remove(written.folder / kSignatureName, ignored);
  const fs::path file = written.folder / kSumsName;
  write_file(file, sums);
  if (key.empty()) return;
  const Answer answer =
      ssh_keygen({"sign", "-n", kNamespace, "-f", key, fs::absolute(file).string()});
  if (!answer.exit.clean())
    throw Error(ErrorKind::input, "cannot sign with " + printable(key) + ": " + said_by(answer),
                "name a private SSH key, or a public one whose private key is in ssh-agent");
}

const char* to_string(Signature signature) {
  switch (signature) {
    case Signature::none:
      return "none";
    case Signature::not_checked:
      return "not checked";
    case Signature::trusted:
      return "trusted";
    case Signature::wrong:
      break;
  }
  return "wrong";
}

SealReport check_seal(const fs::path& folder, const std::string& signers) {
  const fs::path file = folder / kSumsName;
  if (!fs::exists(file))
    throw Error(ErrorKind::input, folder.string() + ": no " + kSumsName,
                "name a folder that benchctl wrote, such as that of `benchctl accept --html`");
  const std::string text = read_file(file);
  SealReport report;
  std::set<std::string> listed;
  for (const FileSum& sum : sums_from_text(text, file.string())) {
    listed.insert(sum.name);
    const fs::path path = folder / sum.name;
    if (!fs::exists(fs::symlink_status(path)))
      report.missing.push_back(sum.name);
    else if (!fs::is_regular_file(fs::symlink_status(path)) ||
             sha256(read_file(path)) != sum.sha256)
      report.changed.push_back(sum.name);
  }
  report.files = listed.size();
  for (const std::string& name : files_of(folder))
    if (!listed.contains(name)) report.unlisted.push_back(name);
  check_signature(folder, text, signers, report);
  return report;
}

}  // namespace bench
