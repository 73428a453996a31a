// The part of SQLite that the store uses: statements with typed parameters, and errors with hints.
// No other code includes SQLite.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include "core/json.h"

namespace bench {

/// True if the file is not a database or its pages contradict each other.
bool is_damage(const SQLite::Exception& error);
bool is_busy(const SQLite::Exception& error);

/// Settings of every connection, as the file may have been made by anyone: its schema may call no
/// functions with side effects, values have a bound, and damaged pages are noticed when read.
void distrust(SQLite::Database& db);

/// Opening a named pipe as a database would wait for ever. Throws Error(input) unless it is a
/// regular file or missing.
void refuse_special_file(const std::filesystem::path& path);

/// Throws the matching Error; `path` is the database.
[[noreturn]] void rethrow(const SQLite::Exception& error, const std::filesystem::path& path);

/// A row to write: parameters in the order of the statement's question marks.
class Insert {
 public:
  Insert(SQLite::Database& db, const char* sql) : statement_(db, sql) {}

  Insert& add(const std::string& text) { return statement_.bind(++next_, text), *this; }
  Insert& add(std::string_view text) { return add(std::string(text)); }
  Insert& add(const char* text) { return add(std::string(text)); }
  Insert& add(const Json& json) { return add(dump(json)); }
  Insert& add(bool value) { return integer(value ? 1 : 0); }
  Insert& add(int value) { return integer(value); }
  Insert& add(std::int64_t value) { return integer(value); }
  Insert& add(std::size_t value) { return integer(static_cast<std::int64_t>(value)); }
  /// NaN and infinities become NULL.
  Insert& add(double value) {
    ++next_;
    if (std::isfinite(value))
      statement_.bind(next_, value);
    else
      statement_.bind(next_);
    return *this;
  }
  Insert& add(const std::optional<double>& value) { return add(value.value_or(NAN)); }
  Insert& null() { return statement_.bind(++next_), *this; }

  /// Writes the row and prepares for the next.
  void write() {
    statement_.exec();
    statement_.reset();
    next_ = 0;
  }

 private:
  Insert& integer(std::int64_t value) { return statement_.bind(++next_, value), *this; }

  SQLite::Statement statement_;
  int next_ = 0;
};

}  // namespace bench
