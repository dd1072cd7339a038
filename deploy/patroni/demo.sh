#!/usr/bin/env bash
# A PostgreSQL that fails over by itself, and two schedulers on it: etcd, two PostgreSQL under
# Patroni, two tidemark-scheduler, an executor with a job each second. Then the primary's machine
# "dies", later a scheduler; the jobs must go on, each fire once, and verify must find nothing.
# All of it is private: in a folder of its own, on free ports of loopback, and gone at the end.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
. "$root/deploy/processes.sh"

usage() {
  cat <<END
deploy/patroni/demo.sh [--keep] [--bin-dir DIR]
  --keep         leaves everything running at the end, and says how to stop it
  --bin-dir DIR  uses the programs in DIR instead of those in build/release/bin or build/debug/bin
It needs the Debian packages patroni, python3-etcd and etcd-server besides those of deploy/setup.sh:
  apt-get install --no-install-recommends patroni python3-etcd etcd-server curl
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

here=$root/deploy/patroni
host=127.0.0.1
work=
succeeded=false

# ---------------------------------------------------------------- processes

# PostgreSQL refuses to be run by root; then it is run by the user postgres.
as_user=()
if [ "$(id -u)" = 0 ]; then
  as_user=(setpriv --reuid=postgres --regid=postgres --init-groups --reset-env)
fi

# kill_machine NAME: Patroni and its PostgreSQL at once, as a machine that loses its power.
kill_machine() {
  local postmaster
  postmaster=$(head -n 1 "$work/$1/data/postmaster.pid")
  kill -9 "${pid_of[$1]}"
  # With its children: one that lives on would keep the data folder's lock.
  kill -9 "$postmaster" $(ps -o pid= --ppid "$postmaster") 2>/dev/null || true
  wait "${pid_of[$1]}" 2>/dev/null || true
  unset "pid_of[$1]"
}

# What Patroni left when it was killed itself.
stop_postgres() {
  local file pid
  for file in "$work"/pg?/data/postmaster.pid; do
    pid=$(head -n 1 "$file" 2>/dev/null || true)
    if [ -n "$pid" ]; then kill -QUIT "$pid" 2>/dev/null || true; fi
  done
}

cleanup() {
  local code=$? name
  trap - EXIT INT TERM
  if [ -z "$work" ]; then exit "$code"; fi
  if $succeeded && $keep; then exit "$code"; fi
  for name in agent node-1 node-2 pg1 pg2 etcd; do stop $name; done
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
  local what=$2 mend=$3 end=$((SECONDS + $1)) seconds=$1 name
  shift 3
  until "$@"; do
    for name in "${!pid_of[@]}"; do
      alive "$name" || fail "$name has ended while waiting for $what" "see the end of its log above"
    done
    [ $SECONDS -lt $end ] || fail "no $what within $seconds s" "$mend"
    sleep 0.2
  done
}

# ---------------------------------------------------------------- what is needed

need() {
  local missing=() program
  for program in patroni etcd curl; do
    command -v $program >/dev/null || missing+=($program)
  done
  # Patroni runs on the system's python.
  /usr/bin/python3 -c 'import etcd' 2>/dev/null || missing+=("python3-etcd")
  [ ${#missing[@]} = 0 ] || die "${missing[*]} not found" \
    "apt-get install --no-install-recommends patroni python3-etcd etcd-server curl (stop the service etcd afterwards if you do not want it: this demo starts its own)"
  pg_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
  [ -n "$pg_bin" ] || die "PostgreSQL is not installed" "run deploy/setup.sh"
  if [ -z "$bin" ]; then
    for bin in "$root/build/release/bin" "$root/build/debug/bin" ''; do
      if [ -x "$bin/tidemark-scheduler" ]; then break; fi
    done
  fi
  for program in tidemark-scheduler tidemark tidemark-executor; do
    [ -n "$bin" ] && [ -x "$bin/$program" ] ||
      die "$program is not built" \
        "cmake --preset release && cmake --build build/release, or give --bin-dir DIR"
  done
  bin=$(cd "$bin" && pwd)
}

# free_ports N: so many ports that nobody listens on.
free_ports() {
  /usr/bin/python3 - "$1" <<'END'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))
END
}

secret() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# ---------------------------------------------------------------- PostgreSQL under Patroni

start_etcd() {
  mkdir -m 700 "$work/etcd"
  start etcd etcd --name demo --data-dir "$work/etcd" --logger zap --log-level warn \
    --listen-client-urls "http://$host:$etcd_port" --advertise-client-urls "http://$host:$etcd_port" \
    --listen-peer-urls "http://$host:$etcd_peer" --initial-advertise-peer-urls "http://$host:$etcd_peer" \
    --initial-cluster "demo=http://$host:$etcd_peer"
  wait_for 20 "answer of etcd" "see its log above" \
    eval 'curl -fs "http://$host:$etcd_port/health" >/dev/null'
}

# configure NAME PORT REST_PORT
configure() {
  local dir=$work/$1
  mkdir -m 700 "$dir"
  write_post_bootstrap "$dir/post_bootstrap"
  sed -e "s|@NAME@|$1|; s|@HOST@|$host|g; s|@PORT@|$2|g; s|@REST_PORT@|$3|g" \
    -e "s|@ETCD@|$host:$etcd_port|; s|@BIN_DIR@|$pg_bin|; s|@DIR@|$dir|g" \
    -e "s|@POST_BOOTSTRAP@|$dir/post_bootstrap|" \
    -e "s|@SUPERUSER_PASSWORD@|$superuser_password|; s|@REPLICATION_PASSWORD@|$replication_password|" \
    -e "s|@REWIND_PASSWORD@|$rewind_password|" \
    "$here/patroni.yml.in" >"$dir/patroni.yml"
  chmod 600 "$dir/patroni.yml"
  if [ "$(id -u)" = 0 ]; then chown -R postgres: "$dir"; fi
}

start_patroni() { start "$1" "${as_user[@]}" patroni "$work/$1/patroni.yml"; }

# role NAME: what Patroni says that it is: primary, replica, or nothing.
role() {
  local port=${rest_port[$1]}
  if curl -fs -m 2 "http://$host:$port/primary" >/dev/null; then
    echo primary
  elif curl -fs -m 2 "http://$host:$port/replica" >/dev/null; then
    echo replica
  fi
}
has_role() { [ "$(role "$1")" = "$2" ]; }
is_synchronous() { curl -fs -m 2 "http://$host:${rest_port[$1]}/synchronous" >/dev/null; }

write_post_bootstrap() {
  cat >"$1" <<END
#!/bin/sh
# Patroni runs it once, when it has made the database: with the superuser's connection text.
exec psql -X -q -v ON_ERROR_STOP=1 -d "\$1" \\
  -c "CREATE ROLE tidemark LOGIN PASSWORD '$password'" -c "CREATE DATABASE tidemark OWNER tidemark"
END
  chmod 700 "$1"
}

start_databases() {
  stage "etcd, and two PostgreSQL under Patroni"
  start_etcd
  configure pg1 "$pg1_port" "${rest_port[pg1]}"
  configure pg2 "$pg2_port" "${rest_port[pg2]}"
  start_patroni pg1
  wait_for 60 "primary" "see the log of pg1 above" has_role pg1 primary
  start_patroni pg2
  wait_for 60 "synchronous standby" "see the log of pg2 above" is_synchronous pg2
  say "pg1 is the primary, pg2 its synchronous standby"
}

# ---------------------------------------------------------------- the schedulers and a job

tidemark() { "$bin/tidemark" --server "$server" "$@"; }
show() {
  printf '\n$ tidemark %s\n' "$*"
  tidemark "$@" || fail "'tidemark $*' failed" "see its message above"
  echo
}
sql() { psql -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 -d "$url" -c "$1"; }

# start_node NAME
start_node() {
  start "$1" env TIDEMARK_DATABASE_URL="$url" "$bin/tidemark-scheduler" --insecure \
    --node-id "$1" --listen "$host:0" --address-file "$work/$1.addr"
  wait_for 60 "address of $1" "see its log above" test -s "$work/$1.addr"
}

owns() { [ "$(sql "SELECT count(*) FROM tidemark.shard WHERE node_id = '$1'" 2>/dev/null)" = "$2" ]; }
fires() { wc -l <"$work/fires"; }
more_fires() { [ "$(fires)" -ge "$1" ]; }

start_schedulers() {
  stage "two schedulers: they need the database's hosts and nothing else"
  url="host=$host,$host port=$pg1_port,$pg2_port dbname=tidemark user=tidemark password=$password"
  url+=" target_session_attrs=read-write connect_timeout=2"
  start_node node-1
  server=$(cat "$work/node-1.addr")
  wait_for 60 "owner of all shards" "see the log of node-1 above" owns node-1 128
  start_node node-2
  wait_for 60 "half of the shards at node-2" "see the log of node-2 above" owns node-2 64
  show cluster status
}

start_job() {
  local i
  stage "jobs each second, on an executor that is told of one scheduler"
  cat >"$work/agent.yaml" <<END
app: ops
executor_id: agent
schedulers: ['$server']
spool_dir: $work/spool
handlers:
  - name: tick
    command: [/bin/sh, -c, 'echo "\$TIDEMARK_JOB \$TIDEMARK_FIRE_TIME" >>$work/fires']
END
  {
    echo "jobs:"
    for i in 1 2 3 4; do
      echo "  - {name: tick-$i, app: ops, handler: tick, schedule: {every: 1s, zone: UTC},"
      echo "     misfire: {policy: fire_all, window: 1h, cap: 1000}, blocking: {policy: serial, queue: 1000}}"
    done
  } >"$work/jobs.yaml"
  : >"$work/fires"
  start agent "$bin/tidemark-executor" --config "$work/agent.yaml"
  show job apply -f "$work/jobs.yaml"
  wait_for 60 "twenty fires" "see the runs: $bin/tidemark --server $server run list" more_fires 20
}

# ---------------------------------------------------------------- what goes wrong

# since BEGIN WHAT: says how long after it that is, in seconds.
since() {
  say "$(awk -v a="$1" -v b="$EPOCHREALTIME" -v w="$2" 'BEGIN { printf "%s after %.1f s", w, b - a }')"
}

primary_dies() {
  local begin=$EPOCHREALTIME
  stage "the primary's machine dies"
  kill_machine pg1
  # What was recorded before still fires; then it takes a database.
  wait_for 60 "new primary" "see the log of pg2 above" has_role pg2 primary
  since "$begin" "pg2 is the primary"
  wait_for 60 "fire after the fail-over" "see the logs above" more_fires $(($(fires) + 1))
  since "$begin" "jobs fire again"
  wait_for 60 "owner of all shards" "see the logs of the nodes above" \
    eval '[ "$(sql "SELECT count(*) FROM tidemark.shard WHERE node_id IS NULL")" = 0 ]'
  show cluster status
}

primary_comes_back() {
  stage "it comes back, as a standby"
  start_patroni pg1
  wait_for 120 "pg1 as a standby" "see its log above; patronictl reinit makes it anew" \
    has_role pg1 replica
}

node_dies() {
  stage "a scheduler dies: the other takes its jobs when the lease is over (10 s)"
  kill -9 "${pid_of[node-1]}"
  wait "${pid_of[node-1]}" 2>/dev/null || true
  unset "pid_of[node-1]"
  server=$(cat "$work/node-2.addr")
  local begin=$EPOCHREALTIME
  wait_for 30 "node-2 as the owner of all shards" "see its log above" owns node-2 128
  since "$begin" "node-2 owns all shards"
  wait_for 60 "more fires" "see the logs above" more_fires $(($(fires) + 8))
}

judge() {
  local twice
  stage "what became of it"
  wait_for 120 "end of the backlog" "see the runs: $bin/tidemark --server $server run list" \
    eval '[ "$(sql "SELECT count(*) FROM tidemark.active_run
                    WHERE fire_time < now() - interval '"'3 s'"'")" = 0 ]'
  for i in 1 2 3 4; do tidemark job pause "tick-$i" --reason "the end of the demo" >/dev/null; done
  wait_for 60 "end of what runs" "see the runs: $bin/tidemark --server $server run list" \
    eval '[ "$(sql "SELECT count(*) FROM tidemark.active_run WHERE executor_id <> '"''"'")" = 0 ]'
  twice=$(sort "$work/fires" | uniq -d)
  [ -z "$twice" ] || fail "the handler was entered twice for: $twice" "this must not be: report it"
  say "$(fires) handlers entered, none twice"
  show job verify
}

go_on() {
  if $keep; then
    printf '\nEverything is left running. To go on:\n'
    printf '  export TIDEMARK_SERVER=%s PATH=%s:$PATH\n' "$server" "$bin"
    printf '  tidemark cluster status\n  patronictl -c %s/pg2/patroni.yml list\n' "$work"
    printf 'To stop it: kill %s; then rm -r %s\n' "${pid_of[*]}" "$work"
  fi
}

need
# The unprivileged user must get through; what has passwords in it is in folders of its own.
work=$(mktemp -d /tmp/tidemark-patroni.XXXXXX)
chmod 755 "$work"
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
declare -A rest_port=()
read -r etcd_port etcd_peer pg1_port pg2_port rest_port[pg1] rest_port[pg2] < <(free_ports 6)
password=$(secret)
superuser_password=$(secret)
replication_password=$(secret)
rewind_password=$(secret)

start_databases
start_schedulers
start_job
primary_dies
primary_comes_back
node_dies
judge
stage_end
succeeded=true
say "the jobs went on over the death of the primary and of a scheduler; all stages: $SECONDS s"
go_on
