// Abseil's own checks of mutexes.
#ifndef TIDEMARK_COMMON_MUTEX_CHECKS_H_
#define TIDEMARK_COMMON_MUTEX_CHECKS_H_

namespace tidemark {

// Turns off that each lock looks for a cycle among all mutexes of the process, gRPC's included. The
// library that Debian ships does so in release programs, too, under one lock that all threads
// share. Has no effect in debug builds: there the check is wanted. To be called first in main.
void ForgoMutexChecks();

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_MUTEX_CHECKS_H_
