// Digests and signatures of folders that are handed on: certificates, RMA packets, submissions.
// SHA256SUMS lists all files of a folder, as sha256sum(1) writes it; SHA256SUMS.sig is an SSH
// signature of it (ssh-keygen -Y, namespace "benchctl"). Both can be checked without benchctl.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr const char* kSumsName = "SHA256SUMS";
inline constexpr const char* kSignatureName = "SHA256SUMS.sig";

struct FileSum {
  std::string name;    // relative to the folder
  std::string sha256;  // 64 lower-case hex digits
};

/// Reads SHA256SUMS. Throws Error(input) for a line that sha256sum would not write, and for a name
/// that is absolute, leads out of the folder, or has a control character.
std::vector<FileSum> sums_from_text(std::string_view text, const std::string& origin);

/// Files that were written into a folder, by their names relative to it.
struct WrittenFolder {
  std::filesystem::path folder;
  std::vector<std::string> names;
};

/// The line of sha256sum(1) for a file: its digest and `name`.
std::string sum_line(const std::filesystem::path& file, const std::string& name);

/// Writes SHA256SUMS of the files, and signs it if `key` names an SSH key: a private key file, or a
/// public one whose private key the SSH agent has. An older signature is removed. Throws
/// Error(environment), or Error(input) if the key cannot be used.
void seal(const WrittenFolder& written, const std::string& key);

enum class Signature {
  none,         // there is none
  not_checked,  // valid, but nobody said whose keys count
  trusted,      // by one of the signers
  wrong,        // of other sums, or by nobody among the signers
};
const char* to_string(Signature signature);

struct SealReport {
  std::vector<std::string> changed, missing, unlisted;  // names of files
  std::size_t files = 0;                                // that are listed
  Signature signature = Signature::none;
  std::string signer;   // name in the signers' file, or the key's fingerprint; "" if unknown
  std::string trouble;  // why the signature is wrong
  bool intact() const { return changed.empty() && missing.empty() && unlisted.empty(); }
};

/// `signers`: a file of names and public keys as in ALLOWED SIGNERS of ssh-keygen(1); "" for none.
/// Throws Error(input) if the folder has no SHA256SUMS or it is malformed, Error(environment) if a
/// signature cannot be checked for lack of ssh-keygen.
SealReport check_seal(const std::filesystem::path& folder, const std::string& signers);

}  // namespace bench
