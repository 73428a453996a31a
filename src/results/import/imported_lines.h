// The lines of a file from outside, one at a time and of bounded length, with errors that name file
// and line.
#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace bench {

// What of a dumped environment may be kept.

/// Variables that explain a result (NCCL_, CUDA_, UCX_, OMPI_MCA_, OMP_, ...), without names or
/// values that look like secrets. An allow list, as a token in an unknown variable cannot be
/// recognised.
struct KeptEnvironment {
  Json variables = Json::object();
  std::size_t dropped = 0;
};

/// `list` is an array of "NAME=value". Throws Error(input) for anything else.
KeptEnvironment harmless_environment(const Json& list, const std::string& origin);

/// A name or a value that may be a secret: TOKEN, PASSWORD, KEY, CREDENTIAL, ... or user:pass@.
bool looks_secret(std::string_view name, std::string_view value);

class ImportedLines {
 public:
  /// Both are borrowed. `origin` is the file's name in messages.
  ImportedLines(std::istream& text, const std::string& origin) : text_(text), origin_(origin) {}

  /// False at the end. Throws Error(input) for a line longer than 16 MiB. Without its line break,
  /// be it \n or \r\n.
  bool next();
  const std::string& line() const { return line_; }
  std::size_t number() const { return number_; }  // from 1
  /// Throws Error(input) if the last line has no line break, as its last number may be truncated.
  void demand_whole() const;
  /// Throws Error(input) with file, line number, the start of the line and the reason `what`.
  [[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) const;
  const std::string& origin() const { return origin_; }

 private:
  std::istream& text_;
  const std::string& origin_;
  std::string line_;
  std::size_t number_ = 0;
  bool whole_ = true;
};

/// The JSON document that the text begins with, after blanks; nothing if it begins otherwise.
std::optional<Json> leading_json(std::istream& text, const std::string& origin);

/// A JSON document after lines of other text, as tools print warnings before it.
struct JsonAfterLines {
  Json document;
  std::size_t skipped = 0;  // lines before it
};
/// Throws Error(input) with `hint` if no line begins with '{'.
JsonAfterLines json_after_lines(std::istream& text, const std::string& origin,
                                const std::string& hint);

/// The text after `word`, trimmed; "" if it does not begin with it.
std::string text_after(std::string_view text, std::string_view word);

/// The cells of a line between separators, also empty ones.
std::vector<std::string_view> cells_of(std::string_view line, char separator);

/// Parses a finite number that spans the whole text.
bool read_number(std::string_view text, double& value);
bool read_whole_number(std::string_view text, std::int64_t& value);

/// A valid name for a case or parameter: not empty, at most 255 bytes, no control bytes.
bool is_plain_name(std::string_view text);

/// Whether it is exactly one host's name, as hosts files allow them.
bool is_host_name(const std::string& text);

}  // namespace bench
