// libcurl, opened at run time: a rank that measures no object store starts without it and its TLS
// library.
#pragma once

#include <curl/curl.h>

#include <string>

namespace bench::object_storage {

class CurlLibrary {
 public:
  explicit CurlLibrary(const std::string& path);
  CurlLibrary(const CurlLibrary&) = delete;
  CurlLibrary& operator=(const CurlLibrary&) = delete;

  /// Why it cannot be used, in which case nothing below may be called; else empty.
  const std::string& problem() const { return problem_; }
  /// "libcurl/7.88.1 OpenSSL/3.0.19 ...".
  std::string version() const { return version_text(); }

  decltype(&curl_easy_init) init = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  decltype(&curl_easy_reset) reset = nullptr;
  decltype(&curl_easy_setopt) setopt = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  decltype(&curl_easy_getinfo) getinfo = nullptr;
  decltype(&curl_easy_strerror) strerror = nullptr;
  decltype(&curl_slist_append) append = nullptr;
  decltype(&curl_slist_free_all) free_all = nullptr;

 private:
  std::string problem_;
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_version_info) version_info = nullptr;
  decltype(&::curl_version) version_text = nullptr;
};

/// The one of this process. The first call opens it.
const CurlLibrary& curl();

}  // namespace bench::object_storage
