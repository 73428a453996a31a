// A JSON value that its copies share. The 100,000 jobs of a tournament have a few different
// parameters.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/json.h"

namespace bench {

class SharedJson {
 public:
  /// {}
  SharedJson() : value_(empty()) {}
  SharedJson(Json value) : value_(std::make_shared<const Json>(std::move(value))) {}
  /// As for Json, braces around one value make a list of it.
  SharedJson(Json::initializer_list_t value) : SharedJson(Json(value)) {}

  const Json& get() const { return *value_; }
  operator const Json&() const { return *value_; }
  const Json* operator->() const { return value_.get(); }
  /// Throw like Json::at() for a key that is missing.
  const Json& at(const std::string& key) const { return value_->at(key); }
  const Json& operator[](const std::string& key) const { return value_->at(key); }
  friend bool operator==(const SharedJson& a, const SharedJson& b) {
    return a.value_ == b.value_ || *a.value_ == *b.value_;
  }
  friend bool operator==(const SharedJson& a, const Json& b) { return *a.value_ == b; }

  /// For changes that its copies do not see. The reference is valid until the next assignment.
  Json& own() {
    const auto copy = std::make_shared<Json>(*value_);
    value_ = copy;
    return *copy;
  }

 private:
  static const std::shared_ptr<const Json>& empty() {
    static const auto object = std::make_shared<const Json>(Json::object());
    return object;
  }

  std::shared_ptr<const Json> value_;
};

}  // namespace bench
