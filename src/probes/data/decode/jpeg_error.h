// How libjpeg tells of errors: it jumps. Functions that set the mark have no objects to destroy
// between it and the calls of libjpeg.
#pragma once

#include <jerror.h>
#include <jpeglib.h>
#include <stddef.h>
#include <stdio.h>  // jpeglib.h takes FILE and size_t for known

#include <csetjmp>

namespace bench::data {

struct JpegErrors {
  jpeg_error_mgr manager = {};  // first: libjpeg hands back a pointer to it
  std::jmp_buf mark = {};
  char text[JMSG_LENGTH_MAX] = {};
  bool cut_short = false;

  /// Makes it the receiver of what a libjpeg object reports.
  jpeg_error_mgr* attach() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr object) {
      auto* errors = reinterpret_cast<JpegErrors*>(object->err);
      object->err->format_message(object, errors->text);
      std::longjmp(errors->mark, 1);
    };
    manager.emit_message = [](j_common_ptr object, int level) {
      if (level >= 0) return;  // a trace
      auto* errors = reinterpret_cast<JpegErrors*>(object->err);
      const int code = object->err->msg_code;
      if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER) errors->cut_short = true;
      ++object->err->num_warnings;
    };
    manager.output_message = [](j_common_ptr) {};
    return &manager;
  }
};

}  // namespace bench::data
