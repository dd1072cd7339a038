#!/bin/bash
# Proves the tests: each patch here breaks one rule of the evaluation, and the suite must notice.
#   tests/core/time/mutants/run.sh [WORK_FOLDER]
# Copies what the tests need, builds it, sees that all pass, then applies one patch after the other.
# Exit code 0: every mutant was caught. ctest runs it with -DTIDEMARK_MUTANTS=ON (label mutants).
set -euo pipefail
root=$(cd "$(dirname "$0")/../../../.." && pwd)
work=${1:-$(mktemp -d)}
tree=$work/tree
tests=(cron_cases_test cron_parse_test zone_test schedule_test timeline_test cron_next_test)

mkdir -p "$tree/scheduler/core" "$tree/scheduler/cli" "$tree/tests/core" "$tree/tests/data"
cp -r "$root/cmake" "$root/common" "$tree/"
cp -r "$root/scheduler/core/time" "$tree/scheduler/core/"
cp "$root"/scheduler/cli/cron_command.* "$tree/scheduler/cli/"
cp -r "$root/tests/core/time" "$tree/tests/core/"
cp -r "$root/tests/data/cron_cases.tsv" "$root/tests/data/zoneinfo" "$tree/tests/data/"
cat > "$tree/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(mutants LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)
include(TidemarkBuild)
enable_testing()
add_subdirectory(common)
add_subdirectory(scheduler/core/time)
add_subdirectory(tests/core/time)
CMAKE

cmake -S "$tree" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g0" > "$work/configure.log"
export TZDIR=$tree/tests/data/zoneinfo

build() { cmake --build "$work/build" --target "$@" > "$work/build.log" 2>&1; }

# Prints the first test program that fails, nothing when all pass. Builds one after the other: most
# mutants are caught by the first.
first_failure() {
  local test
  for test in "${tests[@]}"; do
    build "$test" || { echo "build"; return; }
    if ! timeout 120 "$work/build/bin/$test" > "$work/test.log" 2>&1; then
      echo "$test"
      return
    fi
  done
  build cron_driver || { echo "build"; return; }
  python3 "$root/tests/core/time/oracle/compare.py" --driver "$work/build/bin/cron_driver" \
    --zoneinfo "$TZDIR" --expressions 1500 --zones 8 > "$work/test.log" 2>&1 || echo cron_oracle
}

failed=$(first_failure)
[ -z "$failed" ] || { echo "without any mutant $failed fails already"; tail -20 "$work/build.log"; exit 1; }

missed=0
for patch in "$root"/tests/core/time/mutants/*.patch; do
  name=$(basename "$patch" .patch)
  patch -s -p1 -d "$tree" < "$patch" || { echo "$name: does not apply any more"; exit 1; }
  caught=$(first_failure)
  if [ "$caught" = build ]; then
    echo "$name: does not build"
    tail -20 "$work/build.log"
    exit 1
  elif [ -n "$caught" ]; then
    echo "caught  $name by $caught"
  else
    echo "MISSED  $name"
    missed=$((missed + 1))
  fi
  patch -s -R -p1 -d "$tree" < "$patch"
done
echo "$missed missed"
[ "$missed" -eq 0 ]
