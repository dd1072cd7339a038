// What the allocator does with memory.
#ifndef TIDEMARK_COMMON_MEMORY_H_
#define TIDEMARK_COMMON_MEMORY_H_

namespace tidemark {

// Gives what was freed back to the system, where the allocator (tcmalloc, if the program has it, or
// the C library's) would keep it for later. Takes up to a second after gigabytes; other threads go
// on, but may wait to allocate.
void ReturnFreedMemory();

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_MEMORY_H_
