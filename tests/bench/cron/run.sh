#!/bin/sh
# Cron evaluation beside two npm packages. Usage: tests/bench/cron/run.sh BUILD_FOLDER
# (configured as release). Needs node and npm; the packages go into the build folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
cmake --build "$build" --target cron_bench
work=$build/bench-cron
mkdir -p "$work"
cp "$here/package.json" "$here/bench.mjs" "$here/expressions.txt" "$work/"
(cd "$work" && npm install --silent --no-audit --no-fund)
export TZDIR="$here/../../data/zoneinfo"
node "$work/bench.mjs" "$build/bin/cron_bench"
