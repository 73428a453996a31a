// Reproduces Python's json.loads (3.11, the C scanner), including its errors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "mlperf/log/python_value.h"

namespace bench::mlperf {

/// The nesting depth above which Python raises RecursionError in the official checker's main
/// program, including its own frames.
inline constexpr int kMostNested = 985;
/// The number of digits above which Python raises ValueError (sys.get_int_max_str_digits).
inline constexpr std::size_t kMostDigits = 4300;

/// Reads JSON values from a string, which must outlive the reader.
class PythonJsonReader {
 public:
  explicit PythonJsonReader(std::string_view text) : text_(text) {}

  /// Reads the value that starts here (without leading white space) into *value, or only validates
  /// it for nullptr. On false, error() has the reason and reading must stop.
  bool read(PythonValue* value);
  /// The same for a string, which is appended to *value.
  bool read_string(std::string* value);
  /// Reads a string; `text` points into what is read, or to `escaped` if the string has escape
  /// sequences.
  bool read_text(std::string_view& text, std::string& escaped);
  /// Skips white space and consumes `wanted`; false without an error if something else follows.
  bool take(char wanted) {
    skip_space();
    if (at_end() || byte(at_) != wanted) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && is_space(byte(at_))) ++at_;
  }

  /// The byte at this offset; NUL past the end.
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? byte(at_ + ahead) : '\0';
  }
  bool at_end() const { return at_ == text_.size(); }
  std::size_t at() const { return at_; }
  std::string_view from(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  bool fail(const char* why);  // always false
  bool enter();                // enters an object or list; false: too deep

  const char* error() const { return error_; }
  bool too_deep() const { return too_deep_; }  // RecursionError instead of ValueError

 private:
  /// Without the standard library's check of the index, which takes a tenth of the time.
  char byte(std::size_t at) const { return text_.data()[at]; }
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  bool read_literal(std::string_view name, PythonValue* value, PythonValue&& meaning);
  bool read_number(PythonValue* value);
  bool read_list(PythonValue* value);
  bool read_dict(PythonValue* value);
  bool read_member(PythonValue::Dict* dict);
  bool read_escape(std::string* value);
  std::optional<unsigned> four_hex(std::size_t begin) const;
  std::size_t digits_from(std::size_t begin) const;

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  const char* error_ = "";
  bool too_deep_ = false;
};

/// Parses a decimal number, correctly rounded; infinity if out of range.
double rounded_decimal(std::string_view text);

}  // namespace bench::mlperf
