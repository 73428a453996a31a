#if BENCH_CURL
#include "probes/shared/curl_library.h"

#include "core/shared_library.h"

namespace bench {
namespace {

/// The oldest with times in microseconds (CURLINFO_STARTTRANSFER_TIME_T).
constexpr unsigned kOldestCurl = 0x073d00;  // 7.61.0
constexpr const char* kCurlRemedy = "; install the package libcurl4 (dnf: libcurl)";

}  // namespace

CurlLibrary::CurlLibrary(const std::string& path) {
  SharedLibrary library(path);
  if (!library.is_open()) {
    problem_ = "cannot load libcurl: " + library.error() + kCurlRemedy;
    return;
  }
  library.find("curl_global_init", global_init);
  library.find("curl_version_info", version_info);
  library.find("curl_version", version_text);
  library.find("curl_easy_init", init);
  library.find("curl_easy_cleanup", cleanup);
  library.find("curl_easy_reset", reset);
  library.find("curl_easy_setopt", setopt);
  library.find("curl_easy_perform", perform);
  library.find("curl_easy_getinfo", getinfo);
  library.find("curl_easy_strerror", strerror);
  library.find("curl_slist_append", append);
  library.find("curl_slist_free_all", free_all);
  library.find("curl_multi_init", multi_init);
  library.find("curl_multi_cleanup", multi_cleanup);
  library.find("curl_multi_setopt", multi_setopt);
  library.find("curl_multi_add_handle", multi_add);
  library.find("curl_multi_remove_handle", multi_remove);
  library.find("curl_multi_assign", multi_assign);
  library.find("curl_multi_socket_action", multi_action);
  library.find("curl_multi_info_read", multi_read);
  library.find("curl_multi_strerror", multi_strerror);
  if (!library.missing().empty()) {
    problem_ = path + " has no " + library.missing() + kCurlRemedy;
    return;
  }
  const curl_version_info_data* about = version_info(CURLVERSION_NOW);
  if (about->version_num < kOldestCurl)
    problem_ = std::string("libcurl ") + about->version +
               " is older than 7.61; install a newer package libcurl4 (dnf: libcurl)";
  else if (const CURLcode code = global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK)
    problem_ = path + ": curl_global_init: " + strerror(code);
}

const CurlLibrary& curl() {
  static const CurlLibrary library("libcurl.so.4");
  return library;
}

}  // namespace bench
#endif
