#!/usr/bin/env bash
# deploy/check.sh must find each kind of fault that is planted here, at its line, and nothing in
# clean files. Usage: check_test.sh SOURCE_ROOT
set -euo pipefail

source_root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir -p "$tree/deploy" "$tree/common" "$tree/scheduler/core" "$tree/scheduler/engine" \
  "$tree/scheduler/store" "$tree/scheduler/rpc" "$tree/scheduler/cli" "$tree/executor" \
  "$tree/tests/support"
cp "$source_root/deploy/check.sh" "$source_root/deploy/lib.sh" "$tree/deploy"
cp "$source_root/.clang-format" "$tree"
cd "$tree"
git init -q .

# plant FILE: the text on stdin. A line marked "// FAULT" is one that must be found.
plant() { cat >"$1"; }

plant common/clean.cc <<'END'
#include "common/clean.h"

#include <string>

#include "absl/strings/str_cat.h"
// In a comment absl::Now(), sleep(1) and rand() are only words.
int next_time(int time) { return time; }
END
plant scheduler/core/clean.cc <<'END'
#include <vector>

#include "absl/time/time.h"
#include "common/status.h"
#include "scheduler/core/clean.h"
END
plant scheduler/store/clean.cc <<'END'
#include <pqxx/pqxx>

#include "scheduler/engine/ports.h"
void F(pqxx::work& w);
END
plant scheduler/core/includes.cc <<'END'
#include <spdlog/spdlog.h>  // FAULT

#include "absl/synchronization/mutex.h"  // FAULT
#include "common/log.h"                  // FAULT
#include "scheduler/engine/ports.h"      // FAULT
END
plant scheduler/engine/includes.cc <<'END'
#include <grpcpp/grpcpp.h>  // FAULT

#include "scheduler/store/store.h"  // FAULT
END
plant scheduler/rpc/includes.cc <<'END'
#include <pqxx/pqxx>  // FAULT

#include "scheduler/store/store.h"  // FAULT
END
plant scheduler/cli/includes.cc <<'END'
#include "scheduler/core/job.h"  // FAULT
END
plant executor/includes.cc <<'END'
#include "scheduler/core/job.h"  // FAULT
END
plant executor/clock.cc <<'END'
int a = std::rand();                          // FAULT
auto b = absl::Now();                         // FAULT
auto c = std::chrono::system_clock::now();    // FAULT
void F() { absl::SleepFor(absl::Seconds(1)); }  // FAULT
void G() { std::this_thread::sleep_for(d); }  // FAULT
std::random_device device;                    // FAULT
time_t t = time(nullptr);                     // FAULT
END
plant common/scheduling.cc <<'END'
#include "scheduler/core/job.h"  // FAULT
END
plant tests/sleep.cc <<'END'
void F() { usleep(100); }  // FAULT
END
plant tests/support/sleep.cc <<'END'
void F() { usleep(100); }
END
plant scheduler/store/badly_formatted.cc <<'END'
int   a;  // FAULT
END
seq 600 | sed 's|.*|// line &|' >common/long.cc

# All but the file that is there for it.
clang-format-19 -i $(git ls-files -o '*.cc' | grep -v badly_formatted)
git add .
git -c user.name=t -c user.email=t@t commit -q -m planted

failures=0
complain() {
  failures=$((failures + 1))
  echo "check_test: $*"
}

code=0
deploy/check.sh --no-tidy >out 2>&1 || code=$?
[ "$code" = 1 ] || complain "exit code $code for a tree with faults, expected 1"
expected=$(git grep -n 'FAULT' -- '*.cc' | cut -d: -f1,2 | sort)
found=$(grep -oE '^[a-z/_]+\.(cc|h):[0-9]+' out | grep -v '^common/long.cc' | sort -u)
if ! diff <(echo "$expected") <(echo "$found"); then
  complain "what was planted (<) is not what was found (>)"
fi
grep -q '^common/long.cc:1: 600 lines' out || complain "the long file was not named"
[ "$(grep -c 'What to do:' out)" -ge 8 ] || complain "a fault without a mend"

git rm -q -f $(git grep -l FAULT -- '*.cc')
deploy/check.sh --no-tidy >out 2>&1 || complain "faults were found in a clean tree"

if [ "$failures" != 0 ]; then
  cat out
  exit 1
fi
