#if BENCH_CURL
#include "probes/object_storage/curl_library.h"

#include "core/shared_library.h"

namespace bench::object_storage {
namespace {

/// The oldest with times in microseconds (CURLINFO_STARTTRANSFER_TIME_T).
constexpr unsigned kOldest = 0x073d00;  // 7.61.0
constexpr const char* kRemedy = "; install the package libcurl4 (dnf: libcurl)";

}  // namespace

CurlLibrary::CurlLibrary(const std::string& path) {
  SharedLibrary library(path);
  if (!library.is_open()) {
    problem_ = "cannot load libcurl: " + library.error() + kRemedy;
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
  if (!library.missing().empty()) {
    problem_ = path + " has no " + library.missing() + kRemedy;
    return;
  }
  const curl_version_info_data* about = version_info(CURLVERSION_NOW);
  if (about->version_num < kOldest)
    problem_ = std::string("libcurl ") + about->version +
               " is older than 7.61; install a newer package libcurl4 (dnf: libcurl)";
  else if (const CURLcode code = global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK)
    problem_ = path + ": curl_global_init: " + strerror(code);
}

const CurlLibrary& curl() {
  static const CurlLibrary library("libcurl.so.4");
  return library;
}

}  // namespace bench::object_storage
#endif
