#!/usr/bin/env bash
# Installs what is needed, builds, and runs every test. With --all also everything under both
# sanitizer builds; in CI (CI=true) those run the tests labelled for it alone.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
deploy/test.sh [--all]
  --all   also build and test everything with AddressSanitizer + UBSan and with ThreadSanitizer
          (an hour on a small machine). With CI=true only the tests labelled "sanitized", and with
          the former "sanitized-pure" (code without threads), run there.
END
}

scope=plain
if [ "${CI:-}" = true ]; then scope=sanitized; fi
case "${1:-}" in
  "") ;;
  --all) scope=all ;;
  -h | --help) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac

passed=0
failed=0
runs=0
faults=  # a line for each test that failed

# run_tests PRESET [ctest arguments]: counts what passed and failed; a failure does not end the
# script, so that one run shows all of them.
run_tests() {
  local preset=$1 log="$root/build/.ctest.$1.log" of
  shift
  runs=$((runs + 1))
  (cd "$root/build/$preset" &&
    ctest --output-on-failure --no-tests=error -j "$(nproc)" "$@") 2>&1 | tee "$log" |
    grep -v '^ *Start *[0-9]*: ' || true
  # "97% tests passed, 3 tests failed out of 100"
  of=$(sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests* failed out of \([0-9]*\)$/\1 \2/p' "$log")
  if [ -z "$of" ]; then
    failed=$((failed + 1))
    echo "$script: ctest did not finish in build/$preset: see above" >&2
    return
  fi
  failed=$((failed + ${of% *}))
  passed=$((passed + ${of#* } - ${of% *}))
  if [ "${of% *}" != 0 ]; then
    # "	 12 - cron_test.Name (Failed)", the last thing that ctest prints
    faults+=$(sed -n "s/^\t *[0-9]* - \(.*\)$/build\/$preset: \1/p" "$log")$'\n'
    echo "$script: failed in build/$preset: again with" \
      "'ctest --test-dir build/$preset --rerun-failed --output-on-failure'" >&2
  fi
}

# At the end, where whoever sees only the end of a long run finds it: each failed test, and what it
# said last.
tell_faults() {
  [ -n "$faults" ] || return 0
  say "failed:"
  while read -r preset_name name _; do
    if [ -z "$name" ]; then continue; fi
    echo "$preset_name $name"
    # ctest prints what a failed test wrote between its result and the next test's.
    awk -v name="$name" '
      $0 ~ /^ *[0-9]+\/[0-9]+ Test / { show = index($0, " " name " ") > 0 && $0 !~ / Passed / ? 1 : 0 }
      show && $0 !~ /^ *Start / { print }' \
      "$root/build/.ctest.$(basename "${preset_name%:}").log" >"$root/build/.fault.log"
    # What failed may stand far above its end.
    grep -n -A 8 -E ': Failure$|FAILED|Sanitizer|terminate called' "$root/build/.fault.log" |
      head -n 40 || true
    tail -n 20 "$root/build/.fault.log"
  done <<<"$faults"
}

"$root/deploy/setup.sh"
stage "build (debug)"
configure_and_build debug
stage "tests (debug)"
run_tests debug

for preset in asan tsan; do
  case $scope in
    sanitized)
      targets=sanitized_tests labels='^sanitized'
      if [ "$preset" = tsan ]; then targets=threaded_tests labels='^sanitized$'; fi
      stage "build ($preset, $targets)"
      configure_and_build "$preset" "$targets"
      stage "tests ($preset, labelled $labels)"
      run_tests "$preset" -L "$labels"
      ;;
    all)
      stage "build ($preset)"
      configure_and_build "$preset"
      stage "tests ($preset)"
      run_tests "$preset"
      ;;
  esac
done
stage_end
say "all stages: $SECONDS s"
tell_faults
if [ "$runs" -gt 1 ]; then
  echo "$passed passed, $failed failed"
else
  echo "$((passed * 100 / (passed + failed > 0 ? passed + failed : 1)))% tests passed," \
    "$failed tests failed out of $((passed + failed))"
fi
[ "$failed" = 0 ]
