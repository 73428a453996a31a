#include "results/mlperf/log/python_value.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace bench::mlperf {
namespace {

const char* name_of_not_finite(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0.0 ? "Infinity" : "-Infinity";
}

}  // namespace

double PythonValue::number() const {
  if (const auto* flag = std::get_if<bool>(&value_)) return *flag ? 1.0 : 0.0;
  if (const auto* small = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*small);
  if (const auto* real = std::get_if<double>(&value_)) return *real;
  if (const BigInteger* big = big_integer()) return std::strtod(big->digits.c_str(), nullptr);
  return std::numeric_limits<double>::quiet_NaN();
}

std::optional<std::int64_t> PythonValue::integer() const {
  if (const auto* flag = std::get_if<bool>(&value_)) return *flag ? 1 : 0;
  if (const auto* small = std::get_if<std::int64_t>(&value_)) return *small;
  return {};
}

std::string_view PythonValue::text() const {
  const auto* text = std::get_if<std::string>(&value_);
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

const PythonValue::List& PythonValue::list() const {
  static const List kEmpty;
  const auto* list = std::get_if<List>(&value_);
  return list != nullptr ? *list : kEmpty;
}

const PythonValue::Dict& PythonValue::dict() const {
  static const Dict kEmpty;
  const auto* dict = std::get_if<Dict>(&value_);
  return dict != nullptr ? *dict : kEmpty;
}

const PythonValue* PythonValue::find(std::string_view key) const {
  for (const auto& [name, value] : dict())
    if (name == key) return &value;
  return nullptr;
}

bool PythonValue::truth() const {
  if (is_string()) return !text().empty();
  if (is_list()) return !list().empty();
  if (is_dict()) return !dict().empty();
  return is_number() && number() != 0.0;  // NaN is true
}

std::string_view PythonValue::type_name() const {
  if (is_none()) return "NoneType";
  if (is_bool()) return "bool";
  if (is_int()) return "int";
  if (is_float()) return "float";
  if (is_string()) return "str";
  return is_list() ? "list" : "dict";
}

Json PythonValue::to_json() const {
  if (is_bool()) return std::get<bool>(value_);
  if (const BigInteger* big = big_integer()) return big->digits;
  if (is_int()) return std::get<std::int64_t>(value_);
  if (is_float()) {
    const double real = std::get<double>(value_);
    return std::isfinite(real) ? Json(real) : Json(name_of_not_finite(real));
  }
  if (is_string()) return std::string(text());
  Json result = nullptr;
  if (is_list()) {
    result = Json::array();
    for (const PythonValue& value : list()) result.push_back(value.to_json());
  } else if (is_dict()) {
    result = Json::object();
    for (const auto& [key, value] : dict()) result[key] = value.to_json();
  }
  return result;
}

}  // namespace bench::mlperf
