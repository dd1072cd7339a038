# Processes that a demonstration runs in the background and ends. To be sourced after lib.sh; whoever
# uses it sets work to the folder of the logs.

declare -A pid_of=()  # by name; it leads a session, so that -PID is all of it

# start NAME COMMAND…: in the background, in a session of its own, its output in $work/NAME.log.
start() {
  local name=$1
  shift
  setsid "$@" >>"$work/$name.log" 2>&1 </dev/null &
  pid_of[$name]=$!
}

alive() { kill -0 "${pid_of[$1]}" 2>/dev/null; }

# stop NAME: SIGTERM, then SIGKILL when it has not ended after 20 s.
stop() {
  local name=$1 pid=${pid_of[$1]:-} tries
  # With a status: in the EXIT trap a bare return has that of the script.
  if [ -z "$pid" ]; then return 0; fi
  unset "pid_of[$name]"
  kill -TERM "$pid" 2>/dev/null || return 0
  for ((tries = 0; tries < 200; tries++)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  if kill -9 "$pid" 2>/dev/null; then say "$name did not stop by itself and was killed"; fi
  wait "$pid" 2>/dev/null || true
}
