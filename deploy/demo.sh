#!/usr/bin/env bash
# The main job on real work: a nightly reconciliation with five dates due, filled oldest first by
# two executors; then the rehearsal: three watermarks are deleted by SQL, the scheduler notices and
# fills them, and number and digest of the differences must be what they were. Last, a second job:
# the agent dumps recon's database, and the dump must be whole.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$root/deploy/processes.sh"

usage() {
  cat <<END
deploy/demo.sh [--keep] [--bin-dir DIR]
  --keep         leaves the scheduler, its PostgreSQL and the executors running at the end
  --bin-dir DIR  uses the programs in DIR instead of installing packages and building
END
}

keep=false
bin=
while [ $# -gt 0 ]; do
  case "$1" in
    --keep) keep=true ;;
    --bin-dir) bin=${2:?--bin-dir needs a folder} && shift ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

programs=(tidemark-scheduler tidemark tidemark-executor tidemark-recon)
work=
succeeded=false

# ---------------------------------------------------------------- processes

# The private PostgreSQL normally ends with the scheduler.
stop_postgres() {
  local file pid
  while read -r file; do
    pid=$(head -n 1 "$file" 2>/dev/null || true)
    if [ -n "$pid" ]; then kill -INT "$pid" 2>/dev/null || true; fi
  done < <(find "$work" -name postmaster.pid 2>/dev/null)
}

cleanup() {
  local code=$?
  trap - EXIT INT TERM
  if [ -z "$work" ]; then exit "$code"; fi
  if $succeeded && $keep; then exit "$code"; fi
  stop recon-1
  stop recon-2
  stop ops-1
  stop scheduler
  stop_postgres
  if $succeeded; then
    rm -rf "$work"
  else
    echo "$script: logs and data are in $work" >&2
  fi
  exit "$code"
}

# fail WHAT MEND: with the ends of the logs.
fail() {
  local log
  for log in "$work"/*.log; do
    if [ -s "$log" ]; then
      printf -- '---- the end of %s\n' "$log" >&2
      tail -n 15 "$log" >&2
    fi
  done
  die "$@"
}

# wait_for SECONDS WHAT MEND COMMAND…: until COMMAND succeeds.
wait_for() {
  local seconds=$1 what=$2 mend=$3 end=$((SECONDS + $1)) name
  shift 3
  until "$@"; do
    for name in "${!pid_of[@]}"; do
      alive "$name" || fail "$name has ended while waiting for $what" "see the end of its log above"
    done
    [ $SECONDS -lt $end ] || fail "no $what within $seconds s" "$mend"
    sleep 0.2
  done
}

# ---------------------------------------------------------------- what is asked

tidemark() { "$bin/tidemark" --server "$server" "$@"; }
sql() { psql -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 -d "$database_url" -c "$1"; }
recon_sql() { psql -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 -d "$recon_url" -c "$1"; }
show() {
  printf '\n$ tidemark %s\n' "$*"
  tidemark "$@" || fail "'tidemark $*' failed" "see its message above"
  echo
}

# The same server, another database. libpq's two forms: a URI, or keywords of which the last wins.
with_database() {
  case $1 in
    postgres://* | postgresql://*) sed -E "s#^([a-z]+://[^/?]*)/?[^?]*#\1/$2#" <<<"$1" ;;
    *) echo "$1 dbname=$2" ;;
  esac
}

# The last biz_date that is due: yesterday in Shanghai, once it is 01:00 there.
latest_due() {
  local hour
  hour=$(TZ=Asia/Shanghai date +%-H)
  TZ=Asia/Shanghai date -d "$([ "$hour" -ge 1 ] && echo '12:00 1 day ago' || echo '12:00 2 days ago')" +%F
}
plus_days() { date -u -d "$1 $2 days" +%F; }

between="biz_date BETWEEN"

# watch_dates JOB FROM TO COUNT: prints each date of FROM–TO once when it becomes DONE; succeeds when COUNT are.
declare -A shown=()
watch_dates() {
  local job=$1 from=$2 to=$3 count=$4 date status rows settled=0
  while read -r date status rows; do
    case $status in
      DONE)
        settled=$((settled + 1))
        [ -n "${shown[$job/$date]:-}" ] || printf '   %s done%s\n' "$date" "${rows:+: $rows differences}"
        shown[$job/$date]=1
        ;;
      FAILED)
        tidemark run list --job "$job" >&2 || true
        fail "$job $date failed" "see the runs and logs above"
        ;;
    esac
  done < <(sql "SELECT biz_date, status, result_rows FROM tidemark.job_watermark
                WHERE job_name = '$job' AND $between '$from' AND '$to' ORDER BY finished_at")
  [ "$settled" = "$count" ]
}

# What the first run left, date by date, as the scheduler has it and as the business tables have it.
watermark_state() {
  sql "SELECT biz_date, result_rows, result_digest FROM tidemark.job_watermark
       WHERE job_name = 'recon' AND $between '$first' AND '$last' ORDER BY biz_date"
}
business_state() {
  recon_sql "SELECT biz_date, differences, digest FROM recon.batch_result
             WHERE $between '$first' AND '$last' ORDER BY biz_date"
}
handled_state() {
  recon_sql "SELECT biz_date, order_id, kind, ours_cents, channel_cents, handling, handled_by, note
             FROM recon.difference JOIN recon.batch USING (batch_id)
             WHERE handling <> 'NEW' ORDER BY difference_id"
}
run_ids() {
  sql "SELECT run_id FROM tidemark.job_watermark
       WHERE job_name = 'recon' AND $between '$1' AND '$2' ORDER BY biz_date"
}

# same WHAT BEFORE AFTER
same() {
  if [ "$2" != "$3" ]; then
    diff <(echo "$2") <(echo "$3") >&2 || true
    die "$1: expected <, found >" \
      "a handler must leave the same rows however often a date is run"
  fi
  say "equal: $1"
}

# ---------------------------------------------------------------- the stages

build() {
  stage "packages"
  "$root/deploy/setup.sh"
  stage "build"
  configure_and_build debug "${programs[@]}"
  bin=$root/build/debug/bin
}

start_scheduler() {
  stage "scheduler"
  start scheduler "$bin/tidemark-scheduler" --dev --data-dir "$work/scheduler" --listen 127.0.0.1:0
  wait_for 60 "address of the scheduler" "see its log above" test -s "$work/scheduler/scheduler.addr"
  server=$(cat "$work/scheduler/scheduler.addr")
  database_url=$(cat "$work/scheduler/database.url")
  wait_for 30 "answer of the scheduler at $server" "see its log above" \
    eval 'tidemark cluster status >/dev/null 2>&1'
  say "it listens on $server, with a PostgreSQL of its own"
}

# start_executor NAME
start_executor() {
  RECON_DATABASE_URL=$recon_url start "$1" "$bin/tidemark-recon" --schedulers "$server" \
    --executor-id "$1" --capacity 2 --bills-dir "$work/bills" --generate-bills \
    --spool-dir "$work/spool-$1" --journal "$work/journal" --chunk-delay-ms 100
}

executors_up() { [ "$(tidemark executor list 2>/dev/null | grep -c 'recon-[12].* UP ')" = "$1" ]; }

start_executors() {
  stage "two recon executors"
  sql "CREATE DATABASE recon" || fail "cannot make recon's database" "see the message above"
  recon_url=$(with_database "$database_url" recon)
  "$bin/tidemark-recon" generate --bills-dir "$work/bills" --from "$first" --to "$last"
  start_executor recon-1
  start_executor recon-2
  wait_for 30 "registration of both executors" "see their logs above" executors_up 2
}

apply_job() {
  cat >"$work/recon.yaml" <<END
jobs:
  - name: recon
    app: recon
    handler: recon
    schedule: {cron: "0 0 1 * * ?", zone: Asia/Shanghai}
    start_date: $first
    description: Nightly reconciliation with the channel's bills
END
  show job apply -f "$work/recon.yaml"
}

first_fill() {
  stage "five dates are due: $first to $last, oldest first"
  apply_job
  wait_for 120 "five DONE dates" "see the runs: $bin/tidemark --server $server run list --job recon" \
    watch_dates recon "$first" "$last" 5
  check_order
  show watermark list recon
  show run list --job recon
  printf 'Differences by date and kind, in recon'"'"'s own tables:\n'
  psql -X -q -d "$recon_url" -c "SELECT biz_date, kind, count(*) FROM recon.difference
    JOIN recon.batch USING (batch_id) GROUP BY 1, 2 ORDER BY 1, 2"
}

# By the journal that the handlers write: each date entered once, in the order of the dates, each
# one left before the next was entered.
check_order() {
  local seen expected= day
  for ((day = 0; day < 5; day++)); do
    expected+="enter $(plus_days "$first" $day) exit $(plus_days "$first" $day) "
  done
  seen=$(sort -n -t "$(printf '\t')" -k 2,2 "$work/journal" | awk -F '\t' '{ print $4, $5 }' |
    head -n 10 | tr '\n' ' ')
  same "each date was run once, after the one before it had ended" "$expected" "$seen"
}

work_by_hand() {
  stage "a person works on one difference"
  recon_sql "UPDATE recon.difference SET handling = 'RESOLVED', handled_by = 'li.na',
               note = 'the channel refunds it, ticket 4711'
             WHERE difference_id = (SELECT min(difference_id) FROM recon.difference
               JOIN recon.batch USING (batch_id)
               WHERE kind = 'AMOUNT_DIFFERS' AND biz_date = '$(plus_days "$last" -1)')"
  handled_state
  [ "$(handled_state | wc -l)" = 1 ] || fail "no difference was marked" "look into recon.difference"
}

rehearsal() {
  local from watermarks business handled kept rerun changed
  from=$(plus_days "$last" -2)
  stage "rehearsal: the watermarks of $from to $last are deleted"
  watermarks=$(watermark_state)
  business=$(business_state)
  handled=$(handled_state)
  kept=$(run_ids "$first" "$(plus_days "$from" -1)")
  rerun=$(run_ids "$from" "$last")
  same "rows and digest, as the scheduler and as recon's tables have them" "$watermarks" "$business"
  sql "DELETE FROM tidemark.job_watermark
       WHERE job_name = 'recon' AND $between '$from' AND '$last'"
  show watermark list recon
  say "restarting recon-1: a service that comes up catches up at once"
  stop recon-1
  start_executor recon-1
  shown=()
  wait_for 180 "three DONE dates" "see the runs: $bin/tidemark --server $server run list --job recon" \
    watch_dates recon "$from" "$last" 3
  show watermark list recon
  show run list --job recon
  changed=$(comm -12 <(sort <<<"$rerun") <(run_ids "$from" "$last" | sort))
  same "the three dates were run anew" "" "$changed"
  same "the two dates before them were left alone" "$kept" \
    "$(run_ids "$first" "$(plus_days "$from" -1)")"
  same "number and digest of the differences of each date (watermarks)" "$watermarks" \
    "$(watermark_state)"
  same "number and digest of the differences of each date (recon's tables)" "$business" \
    "$(business_state)"
  same "the difference that was worked on by hand" "$handled" "$(handled_state)"
}

# A command instead of code: the agent runs deploy/backup.sh as the handler of a nightly job.
backup() {
  local pg_bin dump
  stage "a second job: a nightly dump of recon's database"
  # Of the server that is dumped: an older pg_dump refuses it.
  pg_bin=$(sql "SELECT setting FROM pg_config WHERE name = 'BINDIR'")
  mkdir -p "$work/backups"
  cat >"$work/agent.yaml" <<END
app: ops
executor_id: ops-1
schedulers: ['$server']
spool_dir: $work/spool-ops-1
handlers:
  - name: backup
    command: [$root/deploy/backup.sh]
    timeout: 1h
    env: {BACKUP_DATABASE_URL: '$recon_url', BACKUP_DIR: $work/backups, PG_BIN: $pg_bin}
END
  chmod 600 "$work/agent.yaml" # the URL has a password
  cat >"$work/backup.yaml" <<END
jobs:
  - name: backup
    app: ops
    handler: backup
    schedule: {cron: "0 0 1 * * ?", zone: Asia/Shanghai}
    start_date: $last
    description: Nightly dump of recon's database
END
  start ops-1 "$bin/tidemark-executor" --config "$work/agent.yaml"
  wait_for 30 "registration of the agent" "see its log above" \
    eval 'tidemark executor list 2>/dev/null | grep -q "ops-1.* UP "'
  show job apply -f "$work/backup.yaml"
  wait_for 60 "DONE backup of $last" \
    "see the runs: $bin/tidemark --server $server run list --job backup" \
    watch_dates backup "$last" "$last" 1
  dump=$work/backups/backup-$last.dump
  show run list --job backup
  "$pg_bin/pg_restore" --list "$dump" | grep 'TABLE DATA' ||
    fail "$dump has no tables in it" "see the log of ops-1 above"
  [ "$("$pg_bin/pg_restore" --list "$dump" | grep -c 'TABLE DATA recon')" -ge 2 ] ||
    fail "$dump lacks recon's tables" "see the log of ops-1 above"
  say "$(basename "$dump"): $(stat -c %s "$dump") bytes, and pg_restore reads all of its list"
}

go_on() {
  local relative=${bin#"$PWD"/}
  if $keep; then
    printf '\nEverything is left running. To go on:\n'
    printf '  export TIDEMARK_SERVER=%s PATH=%s:$PATH\n' "$server" "$bin"
  else
    printf '\nEverything is stopped now; deploy/demo.sh --keep leaves it running. Then, for example:\n'
    printf '  export TIDEMARK_SERVER=ADDRESS PATH=%s:$PATH\n' "$relative"
  fi
  printf '  tidemark job get recon\n  tidemark job next recon\n  tidemark watermark list recon\n'
  printf '  tidemark run list --job recon -o json\n'
  printf '  tidemark run rerun %s --force\n' "$(run_ids "$last" "$last")"
  if $keep; then
    printf '  psql "$(cat %s)"\n' "$work/scheduler/database.url"
    printf '  ls -l %s\n' "$work/backups"
    printf 'To stop it: kill %s; then rm -r %s\n' "${pid_of[*]}" "$work"
  fi
}

if [ -z "$bin" ]; then build; fi
bin=$(cd "$bin" && pwd)
for program in "${programs[@]}"; do
  [ -x "$bin/$program" ] || die "$bin/$program is not there" "run deploy/demo.sh without --bin-dir"
done
# The unprivileged user that PostgreSQL runs as when this is root must get through.
work=$(mktemp -d /tmp/tidemark-demo.XXXXXX)
chmod 755 "$work"
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
last=$(latest_due)
first=$(plus_days "$last" -4)

start_scheduler
start_executors
first_fill
work_by_hand
rehearsal
backup
stage_end
succeeded=true
say "the rehearsal passed, the backup is whole; all stages: $SECONDS s"
go_on
