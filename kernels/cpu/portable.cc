// The portable path. Compiled with flags of its own (see CMakeLists.txt): include nothing here whose inline functions
// another translation unit may share.

#include "kernels/cpu/simd_portable.h"
// The kernels are written over what it defines.
#include "kernels/cpu/table_inl.h"

namespace headstart::kernels {

const KernelTable& PortableKernels() { return kTable; }

}  // namespace headstart::kernels
