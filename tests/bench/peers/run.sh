#!/usr/bin/env bash
# Drain and herd of other schedulers on this machine, with the PostgreSQL that tidemark_bench uses.
#   run.sh [--runs N] [--herd N] [--pools "8 24 64"] [--out FILE] [PEER…]
# PEER: graphile-worker pg-boss bullmq quartz croner (default: all). Each is installed by its own
# install.sh and tried with every pool size on a fresh database; the best counts. Prints JSON:
# {"peers": {PEER: {"history": …, "drain": {…}, "herd": {…}}}}, which tidemark_bench --peers FILE
# shows beside its own figures. Quartz gets a twentieth of the runs, its rate does not depend on it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
runs=100000 herd=10000 pools="8 24 64" out= peers=()
while [ $# -gt 0 ]; do
  case $1 in
    --runs) runs=$2 && shift 2 ;;
    --herd) herd=$2 && shift 2 ;;
    --pools) pools=$2 && shift 2 ;;
    --out) out=$2 && shift 2 ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0" && exit 0 ;;
    -*) echo "run.sh: unknown option $1 (--help)" >&2 && exit 2 ;;
    *) peers+=("$1") && shift ;;
  esac
done
[ ${#peers[@]} -gt 0 ] || peers=(graphile-worker pg-boss bullmq quartz croner)

work=$(mktemp -d /tmp/tidemark-peers.XXXXXX)
redis=
cleanup() {
  [ -z "$redis" ] || kill "$redis" 2>/dev/null || true
  "$here/../../support/postgres.sh" stop "$work/url" || true
  rm -rf "$work"
}
trap cleanup EXIT
free_port() { node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'; }

port=$(free_port)
# Node and JDBC reach it over loopback, at the price that tidemark's socket does not pay: little.
export TIDEMARK_POSTGRES_OPTIONS="-c fsync=on -c synchronous_commit=on -c shared_buffers=1GB \
-c max_wal_size=16GB -c checkpoint_timeout=1h -c wal_buffers=64MB \
-c shared_preload_libraries=pg_stat_statements -c TimeZone=UTC \
-c listen_addresses=127.0.0.1 -c port=$port"
"$here/../../support/postgres.sh" start "$work/url" $$
base="$(cat "$work/url") port=$port"

start_redis() {
  BENCH_REDIS_PORT=$(free_port)
  export BENCH_REDIS_PORT
  redis-server --port "$BENCH_REDIS_PORT" --bind 127.0.0.1 --dir "$work" --appendonly yes \
    --appendfsync always --save "" --maxmemory-policy noeviction --daemonize no \
    >"$work/redis.log" 2>&1 &
  redis=$!
  until redis-cli -p "$BENCH_REDIS_PORT" ping >/dev/null 2>&1; do sleep 0.1; done
}

# one PEER WHAT RUNS POOL: a fresh database, one line of JSON
one() {
  local peer=$1 what=$2 number=$3 pool=$4
  PGOPTIONS="-c client_min_messages=warning" psql -q "$base" -c "DROP DATABASE IF EXISTS peer WITH (FORCE)" -c "CREATE DATABASE peer"
  export BENCH_DATABASE_URL="postgres://tidemark@127.0.0.1:$port/peer"
  export BENCH_JDBC_URL="jdbc:postgresql://127.0.0.1:$port/peer"
  if [ "$peer" = quartz ]; then
    local jars=/usr/share/java
    java -Dbench.properties="$here/quartz/quartz.properties" -cp \
      "$here/quartz/classes:$jars/quartz2.jar:$jars/postgresql.jar:$jars/c3p0.jar:$jars/mchange-commons-java.jar:$jars/slf4j-api.jar:$jars/slf4j-nop.jar" \
      Bench "$what" "$number" "$pool" 2>"$work/$peer.log" | tail -n 1
  else
    (cd "$here/$peer" && node bench.mjs "$what" "$number" "$pool" 2>"$work/$peer.log") | tail -n 1
  fi || { cat "$work/$peer.log" >&2; echo "run.sh: $peer $what failed" >&2; return 1; }
}

results=$work/results
: >"$results"
# try PEER WHAT RUNS POOL: one measurement, if it succeeds
try() {
  local line
  if line=$(one "$@") && [ -n "$line" ]; then echo "$1 $2 $line" | tee -a "$results" >&2; fi
}
for peer in "${peers[@]}"; do
  "$here/$peer/install.sh"
  drain_runs=$runs herd_runs=$herd
  case $peer in
    bullmq) start_redis ;;
    quartz) drain_runs=$((runs / 20)) herd_runs=$((herd / 10)) ;;
  esac
  for pool in $pools; do
    [ "$peer" = croner ] || try "$peer" drain "$drain_runs" "$pool"
    try "$peer" herd "$herd_runs" "$pool"
    [ "$peer" != croner ] || break
  done
done
[ -s "$results" ] || { echo "run.sh: nothing was measured" >&2; exit 1; }

node -e '
const history = {"graphile-worker": "none: finished jobs are deleted",
  "pg-boss": "finished jobs stay in the table, archived after 12 h",
  "bullmq": "finished jobs stay in Redis memory", "quartz": "none: fired triggers are deleted",
  "croner": "none: nothing is durable"};
const peers = {};
for (const line of require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n")) {
  const [peer, what] = line.split(" ", 2);
  const result = JSON.parse(line.slice(peer.length + what.length + 2));
  const entry = peers[peer] ??= {history: history[peer]};
  const better = (a, b) => what === "drain" ? a.per_second > b.per_second : a.lateness_p99 < b.lateness_p99;
  if (!entry[what] || better(result, entry[what])) entry[what] = result;
}
console.log(JSON.stringify({peers}, null, 1));' "$results" >"$work/peers.json"
if [ -n "$out" ]; then cp "$work/peers.json" "$out"; else cat "$work/peers.json"; fi
