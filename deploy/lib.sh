# What the scripts of this folder share. To be sourced; needs bash.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script=$(basename "$0")

say() { printf '== %s\n' "$*"; }

# die WHAT [MEND]: says what is wrong and what to do, and ends the script.
die() {
  printf '%s: %s\n' "$script" "$1" >&2
  if [ $# -gt 1 ]; then printf '  What to do: %s\n' "$2" >&2; fi
  exit 1
}

# stage NAME: begins a stage and says how long the one before it took.
stage_name=
stage_start=0
stage() {
  stage_end
  stage_name=$1
  stage_start=$SECONDS
  say "$stage_name"
}
stage_end() {
  if [ -n "$stage_name" ]; then say "$stage_name: $((SECONDS - stage_start)) s"; fi
  stage_name=
}

# configure_and_build PRESET [TARGET…]: brings build/PRESET up to date.
configure_and_build() {
  local preset=$1
  shift
  (cd "$root" && cmake --preset "$preset" >"$root/build/.configure.$preset.log" 2>&1) || {
    tail -n 20 "$root/build/.configure.$preset.log" >&2
    die "cmake could not configure build/$preset" \
      "run deploy/setup.sh; if build/$preset was made elsewhere, remove it"
  }
  cmake --build "$root/build/$preset" -j "$(nproc)" ${1:+--target "$@"} ||
    die "build/$preset does not build" "see the first error above"
}
mkdir -p "$root/build"
