// libcurl, opened at run time: a rank that measures no server starts without it and its TLS
// library.
#pragma once

#include <curl/curl.h>

#include <string>

namespace bench {

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
  decltype(&curl_multi_init) multi_init = nullptr;
  decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&curl_multi_setopt) multi_setopt = nullptr;
  decltype(&curl_multi_add_handle) multi_add = nullptr;
  decltype(&curl_multi_remove_handle) multi_remove = nullptr;
  decltype(&curl_multi_assign) multi_assign = nullptr;
  decltype(&curl_multi_socket_action) multi_action = nullptr;
  decltype(&curl_multi_info_read) multi_read = nullptr;
  decltype(&curl_multi_strerror) multi_strerror = nullptr;

 private:
  std::string problem_;
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_version_info) version_info = nullptr;
  decltype(&::curl_version) version_text = nullptr;
};

/// The one of this process. The first call opens it.
const CurlLibrary& curl();

}  // namespace bench
