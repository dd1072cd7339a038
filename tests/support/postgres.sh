#!/usr/bin/env bash
# One private PostgreSQL for a whole test run.
#   postgres.sh start FILE [PID]  starts it, unless the one that FILE names still runs, and writes
#                                 its connection text to FILE; it ends with process PID (default:
#                                 the caller), however that ends
#   postgres.sh standby FILE OF [PID]  likewise a standby that streams from the one that OF names
#   postgres.sh promote FILE      makes a primary of it
#   postgres.sh stop FILE         stops it and removes its data and FILE
# As root it runs as the user postgres, with its data in /tmp, where that user gets through. Its
# commits are not flushed: tests that are about durability start a server of their own.
# TIDEMARK_POSTGRES_OPTIONS: more options of the server; they win over those below.
set -euo pipefail

action=$1
file=$2
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || { echo "postgres.sh: no PostgreSQL is installed; run deploy/setup.sh" >&2; exit 1; }

# as_user COMMAND…: as root, as the user postgres.
as_user() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid=postgres --regid=postgres --init-groups "$@"
  else
    "$@"
  fi
}
server_dir() { sed -n "s/^host=\([^ ]*\).*/\1/p" "$file" 2>/dev/null || true; }

new_dir() {
  dir=$(mktemp -d /tmp/tidemark-test.XXXXXX)
  if [ "$(id -u)" = 0 ]; then chown postgres: "$dir"; fi
  cd "$dir"
}

start() {
  local dir
  dir=$(server_dir)
  if [ -n "$dir" ] && as_user "$bin/pg_ctl" -D "$dir/data" status >/dev/null 2>&1; then return; fi
  new_dir
  as_user "$bin/initdb" -D "$dir/data" -U tidemark -A trust -E UTF8 --locale=C --no-sync \
    >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; exit 1; }
  run_server
}

standby() {
  local dir
  new_dir
  as_user "$bin/pg_basebackup" -d "$(cat "$1") application_name=standby" -D "$dir/data" -R -X stream \
    --checkpoint=fast --no-sync >"$dir/backup.log" 2>&1 || { cat "$dir/backup.log" >&2; exit 1; }
  run_server
}

# In $dir.
run_server() {
  # No descriptor of ctest's may stay open in the server, or ctest waits for it.
  as_user "$bin/pg_ctl" -D "$dir/data" -w -t 60 -l "$dir/server.log" start -o \
    "-k $dir -c listen_addresses= -c fsync=off -c max_connections=300 -c TimeZone=Pacific/Chatham \
${TIDEMARK_POSTGRES_OPTIONS:-}" \
    >/dev/null 2>&1 </dev/null || { cat "$dir/server.log" >&2; exit 1; }
  mkdir -p "$(dirname "$file")"
  echo "host=$dir user=tidemark dbname=postgres" >"$file.new"
  mv "$file.new" "$file"
  guard "$dir" </dev/null >/dev/null 2>&1 &
}

# Ends the server in DIR once the process that wanted it is gone.
guard() {
  cd /
  while kill -0 "$owner" 2>/dev/null && [ -d "$1" ]; do sleep 1; done
  if [ "$(server_dir)" = "$1" ]; then stop; fi
}

stop() {
  local dir
  dir=$(server_dir)
  [ -n "$dir" ] || return 0
  cd /
  as_user "$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
  rm -rf "$dir" "$file"
}

case $action in
  start) owner=${3:-$PPID} && start ;;
  standby) owner=${4:-$PPID} && standby "$3" ;;
  promote) cd / && as_user "$bin/pg_ctl" -D "$(server_dir)/data" -w promote >/dev/null ;;
  stop) stop ;;
  *) echo "usage: postgres.sh start FILE [PID] | standby FILE OF [PID] | promote FILE | stop FILE" >&2 && exit 2 ;;
esac
