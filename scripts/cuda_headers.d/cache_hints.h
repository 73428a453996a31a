// For scripts/cuda_headers: clang before 21 replaces the toolkit's sm_32_intrinsics.h and leaves the
// cache hints out (__ldcg, __ldcs, __stcs). They are read from the toolkit; what clang has already
// gets other names there.
#if __clang_major__ < 21
#undef __SM_32_INTRINSICS_H__
#undef __SM_32_INTRINSICS_HPP__
#define __ldg toolkit_ldg
#define __funnelshift_l toolkit_funnelshift_l
#define __funnelshift_lc toolkit_funnelshift_lc
#define __funnelshift_r toolkit_funnelshift_r
#define __funnelshift_rc toolkit_funnelshift_rc
#include <sm_32_intrinsics.h>
#undef __ldg
#undef __funnelshift_l
#undef __funnelshift_lc
#undef __funnelshift_r
#undef __funnelshift_rc
#endif
