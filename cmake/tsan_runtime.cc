// Linked into every program of the ThreadSanitizer build. Debian's Abseil is not instrumented, so
// ThreadSanitizer does not see that its mutexes order anything, and would report every object that
// one guards. The definitions of Mutex, CondVar and Notification below come before the library's:
// they call it and tell ThreadSanitizer.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <string>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

// gRPC is not instrumented either: what it does inside is not looked at. Its mutexes are Abseil's.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libgrpc.so\ncalled_from_lib:libgrpc++.so\n";
}

namespace {

#define TM_TEXT_IMPL(x) #x
#define TM_TEXT(x) TM_TEXT_IMPL(x)

// The library's own definition: `name` is the mangled name after the two namespaces.
void* Next(const char* name) {
  const std::string inline_namespace = TM_TEXT(ABSL_OPTION_INLINE_NAMESPACE_NAME);
  const std::string prefix =
      "_ZN4absl" + std::to_string(inline_namespace.size()) + inline_namespace;
  const std::string rest = name;
  // A const member function has its K before the namespaces.
  const std::string mangled =
      rest.starts_with('K') ? "_ZNK" + prefix.substr(3) + rest.substr(1) : prefix + rest;
  void* symbol = dlsym(RTLD_NEXT, mangled.c_str());
  if (symbol == nullptr) __builtin_trap();  // another Abseil: mend the names below
  return symbol;
}

template <typename Result, typename Object, typename... Args>
Result Call(void* function, Object* object, Args... args) {
  return reinterpret_cast<Result (*)(Object*, Args...)>(function)(object, args...);
}

// A waiter's condition is evaluated by whoever unlocks, and by the waiter inside the library:
// always under the mutex, so each evaluation takes in and publishes what the mutex guards.
class Watched {
 public:
  Watched(absl::Mutex* mutex, const absl::Condition* inner) : mutex_(mutex), inner_(inner) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  const absl::Condition* condition() const { return &condition_; }

 private:
  static bool Evaluate(Watched* self) {
    __tsan_acquire(self->mutex_);
    const bool result = self->inner_->Eval();
    __tsan_release(self->mutex_);
    return result;
  }

  absl::Mutex* mutex_;
  const absl::Condition* inner_;
  absl::Condition condition_{&Watched::Evaluate, this};
};

template <typename Object, typename... Args>
void Enter(void* function, Object* mutex, Args... args) {
  __tsan_release(mutex);
  Call<void>(function, mutex, args...);
  __tsan_acquire(mutex);
}

template <typename Object, typename... Args>
bool EnterBool(void* function, Object* mutex, Args... args) {
  __tsan_release(mutex);
  const bool result = Call<bool>(function, mutex, args...);
  __tsan_acquire(mutex);
  return result;
}

void Leave(void* function, absl::Mutex* mutex) {
  __tsan_acquire(mutex);
  __tsan_release(mutex);
  Call<void>(function, mutex);
}

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

#define TM_NEXT(name)                  \
  ([]() -> void* {                     \
    static void* const f = Next(name); \
    return f;                          \
  }())

void Mutex::Lock() { Enter(TM_NEXT("5Mutex4LockEv"), this); }
void Mutex::Unlock() { Leave(TM_NEXT("5Mutex6UnlockEv"), this); }
bool Mutex::TryLock() { return EnterBool(TM_NEXT("5Mutex7TryLockEv"), this); }
void Mutex::ReaderLock() { Enter(TM_NEXT("5Mutex10ReaderLockEv"), this); }
void Mutex::ReaderUnlock() { Leave(TM_NEXT("5Mutex12ReaderUnlockEv"), this); }
bool Mutex::ReaderTryLock() { return EnterBool(TM_NEXT("5Mutex13ReaderTryLockEv"), this); }
void Mutex::Await(const Condition& cond) {
  const Watched watched(this, &cond);
  Enter(TM_NEXT("5Mutex5AwaitERKNS0_9ConditionE"), this, watched.condition());
}
void Mutex::LockWhen(const Condition& cond) {
  const Watched watched(this, &cond);
  Enter(TM_NEXT("5Mutex8LockWhenERKNS0_9ConditionE"), this, watched.condition());
}
void Mutex::ReaderLockWhen(const Condition& cond) {
  const Watched watched(this, &cond);
  Enter(TM_NEXT("5Mutex14ReaderLockWhenERKNS0_9ConditionE"), this, watched.condition());
}
bool Mutex::AwaitWithTimeout(const Condition& cond, Duration timeout) {
  const Watched watched(this, &cond);
  return EnterBool(TM_NEXT("5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE"), this,
                   watched.condition(), timeout);
}
bool Mutex::AwaitWithDeadline(const Condition& cond, Time deadline) {
  const Watched watched(this, &cond);
  return EnterBool(TM_NEXT("5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE"), this,
                   watched.condition(), deadline);
}
bool Mutex::LockWhenWithTimeout(const Condition& cond, Duration timeout) {
  const Watched watched(this, &cond);
  return EnterBool(TM_NEXT("5Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE"), this,
                   watched.condition(), timeout);
}
bool Mutex::LockWhenWithDeadline(const Condition& cond, Time deadline) {
  const Watched watched(this, &cond);
  return EnterBool(TM_NEXT("5Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE"), this,
                   watched.condition(), deadline);
}

void CondVar::Wait(Mutex* mutex) {
  __tsan_release(mutex);
  Call<void>(TM_NEXT("7CondVar4WaitEPNS0_5MutexE"), this, mutex);
  __tsan_acquire(mutex);
}
bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  __tsan_release(mutex);
  const bool result = Call<bool>(TM_NEXT("7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE"),
                                 this, mutex, timeout);
  __tsan_acquire(mutex);
  return result;
}
bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  __tsan_release(mutex);
  const bool result = Call<bool>(TM_NEXT("7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE"), this,
                                 mutex, deadline);
  __tsan_acquire(mutex);
  return result;
}

// A notification's flag stands behind its mutex; HasBeenNotified reads it in our code.
void Notification::Notify() {
  __tsan_release(static_cast<void*>(this));
  __tsan_release(static_cast<char*>(static_cast<void*>(this)) + sizeof(Mutex));
  Call<void>(TM_NEXT("12Notification6NotifyEv"), this);
}
void Notification::WaitForNotification() const {
  Call<void>(TM_NEXT("K12Notification19WaitForNotificationEv"), this);
  __tsan_acquire(const_cast<Notification*>(this));
}
bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  const bool result = Call<bool>(
      TM_NEXT("K12Notification30WaitForNotificationWithTimeoutENS0_8DurationE"), this, timeout);
  __tsan_acquire(const_cast<Notification*>(this));
  return result;
}

ABSL_NAMESPACE_END
}  // namespace absl
