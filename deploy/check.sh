#!/usr/bin/env bash
# Checks what the compiler does not: formatting, clang-tidy, which folder may use what, and the
# schema against its golden dump. Prints each fault as file:line with the mend.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<END
deploy/check.sh [--all | --no-tidy]
  clang-tidy looks at the sources changed since the last commit but one, with CI=true at
  scheduler/core and scheduler/engine too, for at most four minutes.
  --all       clang-tidy over every source, however long it takes
  --no-tidy   without clang-tidy
END
}

tidy=changed
if [ "${CI:-}" = true ]; then tidy=ci; fi
case "${1:-}" in
  "") ;;
  --all) tidy=all ;;
  --no-tidy) tidy=none ;;
  -h | --help) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac
tidy_seconds=240

cd "$root" || exit 1
faults=0
fault() {
  faults=$((faults + 1))
  printf '%s\n' "$@"
}

existing() { while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done; }
sources() { git ls-files -- "$@" | grep -E '\.(h|cc)$' | existing; }

check_markers() {
  local out
  out=$(git grep -nE '^(<{7}|>{7}) ' -- ':!*.patch')
  if [ -n "$out" ]; then fault "$out" "  What to do: finish the merge"; fi
}

check_format() {
  local out
  out=$(sources | xargs -r clang-format-19 --dry-run -Werror 2>&1 | grep -E ': error:')
  if [ -n "$out" ]; then
    fault "$out" "  What to do: clang-format-19 -i $(cut -d: -f1 <<<"$out" | sort -u | tr '\n' ' ')"
  fi
}

# forbid MEND REGEX PATHSPEC…: no line of these files may match (comments do not count).
forbid() {
  local mend=$1 regex=$2 out
  shift 2
  out=$(git grep -nP "^(?:(?!//).)*?$regex" -- "$@" | sed 's/^\([^:]*:[0-9]*\):/\1: /')
  if [ -n "$out" ]; then fault "$out" "  What to do: $mend"; fi
}

# may_include ALLOWED-REGEX MEND PATHSPEC…: no header of ours or a library's ("a/b.h",
# <grpcpp/x.h>) but these.
may_include() {
  local allowed=$1 mend=$2
  shift 2
  forbid "$mend" "#include (?!\"(?:$allowed))(?:\"|<[^>]*[/.])" "$@"
}

check_includes() {
  local core_mend="scheduler/core is pure: only std, Abseil value types, common's text and status helpers, and itself"
  local core='absl/(time|status|strings|types|container|hash|numeric|functional|algorithm|base|memory)/|scheduler/core/|common/(status|text|time_text|id)\.h'
  # The cache of zone names has a mutex, because a reload of the zone data replaces it.
  local zone_cache=scheduler/core/time/zone.cc
  may_include "$core" "$core_mend" 'scheduler/core/*.h' 'scheduler/core/*.cc' ":!$zone_cache"
  may_include "$core|absl/synchronization/mutex\.h" "$core_mend" "$zone_cache"
  may_include 'absl/(time|status|strings)/|scheduler/core/time/|scheduler/verify/|common/(status|text|time_text)\.h' \
    "the oracle shares cron, zone and calendar evaluation with the scheduler and nothing else" \
    'scheduler/verify/*'
  forbid "the oracle judges what is due over edits by itself" \
    '#include "scheduler/core/time/timeline\.h"' 'scheduler/verify/*'
  forbid "the engine knows core and its own ports alone: let store, rpc and alerts implement a port" \
    '#include ["<](?:scheduler/(?!core/|engine/|verify/history\.h)|executor/|grpc|pqxx|libpq|proto|tidemark/v1|spdlog)' \
    'scheduler/engine/*'
  forbid "store, rpc and alerts know core and the engine's ports, not each other" \
    '#include ["<](?:scheduler/(?!core/|engine/|access/|store/|verify/history\.h)|executor/)' 'scheduler/store/*'
  forbid "store, rpc and alerts know core and the engine's ports, not each other" \
    '#include ["<](?:scheduler/(?!core/|engine/|access/|rpc/|verify/)|executor/)' 'scheduler/rpc/*'
  forbid "store, rpc and alerts know core and the engine's ports, not each other" \
    '#include ["<](?:scheduler/(?!core/|engine/|alerts/)|executor/)' 'scheduler/alerts/*'
  forbid "who may do what is decided from values alone: no I/O, no gRPC, no SQL" \
    '#include ["<](?:scheduler/(?!access/)|executor/|grpc|pqxx|libpq|google/|tidemark/|spdlog)' \
    'scheduler/access/*'
  # cron next and cron explain need no server.
  forbid "the operator's command uses proto and common only (and core/time, for cron explain)" \
    '#include ["<](?:scheduler/(?!cli/|core/time/)|executor/)' 'scheduler/cli/*'
  forbid "the executor uses proto and common, never the scheduler" \
    '#include ["<]scheduler/' 'executor/*'
  forbid "common knows nothing about scheduling" \
    '#include ["<](?:scheduler/|executor/|tidemark/|grpc|pqxx)' 'common/*'
  forbid "how clients reach a scheduler: common and gRPC alone" \
    '#include ["<](?:scheduler/|executor/|tidemark/|pqxx)' 'channel/*'
  forbid "SQL belongs in scheduler/store" '(?:#include <(?:pqxx|libpq)|\bpqxx::)' \
    '*.h' '*.cc' ':!scheduler/store/*' ':!executor/examples/*' ':!tests/*'
  forbid "gRPC belongs in scheduler/rpc, scheduler/cli, executor and channel" \
    '(?:#include <grpc|\bgrpc::)' \
    '*.h' '*.cc' ':!scheduler/rpc/*' ':!scheduler/cli/*' ':!executor/*' ':!channel/*' ':!tests/*'
}

check_clock() {
  forbid "take the time and randomness from common/clock.h and common/id.h, handed in" \
    '(?:\babsl::Now\b|\b(?:system|steady|high_resolution)_clock::now\b|\b(?:absl::SleepFor|u?sleep|nanosleep|sleep_for|sleep_until|clock_gettime|gettimeofday|time)\((?!\))|\bs?rand\(|\brandom_device\b|\bmt19937)' \
    'common/*.h' 'common/*.cc' 'scheduler/*.h' 'scheduler/*.cc' 'executor/*.h' 'executor/*.cc' \
    ':!common/clock.cc' ':!common/id.cc'
  forbid "wait for a condition (tests/support), do not sleep for a guess" \
    '\b(?:absl::SleepFor|u?sleep|nanosleep|sleep_for|sleep_until)\(' \
    'tests/*.h' 'tests/*.cc' ':!tests/support/*'
}

warn_size() {
  sources | xargs -r wc -l | awk '$2 != "total" && $1 > 500 {
    printf "%s:1: %d lines. Warning: is it still one purpose?\n", $2, $1 }'
}

# The sources that clang-tidy looks at, those most worth it first.
tidy_sources() {
  local base
  base=$(git rev-parse -q --verify HEAD~1 || git rev-parse HEAD)
  case $tidy in
    all) sources common scheduler executor ;;
    *)
      if [ "$tidy" = ci ]; then sources scheduler/core scheduler/engine; fi
      git diff --name-only "$base" -- common scheduler executor
      ;;
  esac | grep '\.cc$' | awk '!seen[$0]++' | existing
}

check_tidy() {
  local list log=$root/build/.tidy.log skipped=$root/build/.tidy.skipped
  list=$(tidy_sources)
  if [ -z "$list" ]; then return; fi
  # A compile command for each file, and the generated headers of the wire contracts.
  configure_and_build tidy tidemark_proto_headers >"$log" 2>&1 || {
    fault "$(tail -n 5 "$log")" "  What to do: make the build pass (deploy/test.sh)"
    return
  }
  : >"$skipped"
  export tidy_until=$(($(date +%s) + tidy_seconds)) tidy_skipped=$skipped tidy_scope=$tidy
  xargs -r -n 1 -P "$(nproc)" bash -c '
    if [ "$tidy_scope" != all ] && [ "$(date +%s)" -gt "$tidy_until" ]; then
      echo "$0" >>"$tidy_skipped"; exit 0
    fi
    clang-tidy-19 --quiet -p build/tidy "$0" 2>/dev/null' <<<"$list" >"$log"
  if grep -qE '(warning|error):' "$log"; then
    fault "$(sed "s|^$root/||" "$log" | grep -vE '^$')" \
      "  What to do: mend it, or say // NOLINT(check-name): why"
  fi
  if [ -s "$skipped" ]; then
    say "clang-tidy: no time left for $(wc -l <"$skipped") files; deploy/check.sh --all looks at all"
  fi
}

# The migrations against tests/store/schema.golden.sql, by the test that does it.
check_schema() {
  local name
  if [ ! -f build/debug/CTestTestfile.cmake ]; then
    say "schema: not compared, because the tests are not built; deploy/test.sh does it"
    return
  fi
  name=$(ctest --test-dir build/debug -N 2>/dev/null | sed -n 's/.*: \(.*[Gg]olden.*\)/\1/p' | head -n 1)
  if [ -z "$name" ]; then
    say "schema: not compared, because its test is not built; deploy/test.sh does it"
    return
  fi
  ctest --test-dir build/debug -R 'Golden' --output-on-failure >build/.schema.log 2>&1 ||
    fault "$(tail -n 30 build/.schema.log)" \
      "  What to do: a wanted change is a new migration; then write the golden dump anew (see above)"
}

for tool in clang-format-19 clang-tidy-19 git; do
  command -v "$tool" >/dev/null || die "$tool is not installed" "run deploy/setup.sh"
done
stage "formatting"
check_markers
check_format
stage "which folder may use what"
check_includes
check_clock
warn_size
if [ "$tidy" != none ]; then
  stage "clang-tidy ($tidy)"
  check_tidy
fi
stage "schema"
check_schema
stage_end
if [ "$faults" != 0 ]; then
  echo "$script: $faults kinds of faults" >&2
  exit 1
fi
say "check: no faults"
