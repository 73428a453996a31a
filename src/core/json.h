// JSON as this project reads and writes it: keys sorted, so that equal values have equal text.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

// The compiled members live in json.cpp: a fifth of the time to compile a test.
extern template class nlohmann::basic_json<>;

namespace bench {

using Json = nlohmann::json;

/// Deeper nesting than this is refused: nothing of ours is that deep, and hostile input is.
inline constexpr int kMaxJsonDepth = 64;

/// Parses one JSON text. Throws Error(input) naming `origin`, line and column, for a syntax error,
/// a duplicate key or nesting past kMaxJsonDepth. `also` sees each part as it is parsed, as
/// nlohmann's parser callback does, and drops it by returning false.
Json parse_json(std::string_view text, const std::string& origin,
                const Json::parser_callback_t& also = {});

/// The same without a reason: nothing for what is not valid JSON, such as a value that was edited
/// by hand.
std::optional<Json> try_parse_json(std::string_view text);

/// The text with bytes that are not UTF-8 replaced, as dump() does.
std::string replace_invalid_utf8(std::string_view text);

/// Reads and parses a file. Throws Error(environment) when it cannot be read, Error(input) as
/// above.
Json read_json(const std::filesystem::path& path);

/// The file as bytes, from offset `from`. Throws Error(environment).
std::string read_file(const std::filesystem::path& path, std::uintmax_t from = 0);

/// One line of text. Bytes that are not UTF-8 are replaced, never a reason to fail; NaN and
/// infinities become null.
std::string dump(const Json& value);

/// A short form of a value for error messages: at most about 60 characters.
std::string excerpt(const Json& value);

// A value of JSON as a person reads it.

/// Text without its quotes; anything else as JSON writes it.
inline std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump(value);
}

/// What a person writes for a value: JSON where the text is JSON, else the text itself, so that
/// dtype=f32 needs no quotes.
inline Json value_of_text(const std::string& text) {
  return try_parse_json(text).value_or(Json(text));
}

}  // namespace bench
