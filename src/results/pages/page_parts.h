// Style and script of a page.
#pragma once

namespace bench {

extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace bench
