// A library opened at run time, so that a program starts without it. It is never closed: threads
// and tables of a library outlive the object that opened it.
#pragma once

#include <string>

namespace bench {

class SharedLibrary {
 public:
  explicit SharedLibrary(const std::string& path);

  bool is_open() const { return handle_ != nullptr; }
  /// Why it could not be opened, in the loader's words.
  const std::string& error() const { return error_; }
  /// Null if the library lacks it.
  template <class Function>
  void find(const char* symbol, Function*& function) {
    function = reinterpret_cast<Function*>(address(symbol));
  }
  /// The first symbol that it lacked; "" if it had all.
  const std::string& missing() const { return missing_; }

 private:
  void* address(const char* symbol);

  void* handle_;
  std::string error_ = {}, missing_ = {};
};

}  // namespace bench
