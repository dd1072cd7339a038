#include "common/memory.h"

#include <cstdlib>  // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

// Of tcmalloc; null in a program that has another allocator.
extern "C" __attribute__((weak)) void MallocExtension_ReleaseFreeMemory();

namespace tidemark {

void ReturnFreedMemory() {
  if (MallocExtension_ReleaseFreeMemory != nullptr) {
    MallocExtension_ReleaseFreeMemory();
    return;
  }
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace tidemark
