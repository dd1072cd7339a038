#!/usr/bin/env bash
# Installs what Tidemark needs to be built, tested and tried on a bare Debian 12: packages only. No
# service is started and no PostgreSQL cluster is made. Does nothing when everything is there.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

packages=(
  # building
  g++ cmake ninja-build git pkg-config
  libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev libabsl-dev libssl-dev
  zlib1g-dev
  libpqxx-dev libpq-dev libcurl4-openssl-dev libspdlog-dev libyaml-cpp-dev libcli11-dev libhiredis-dev
  libboost-dev prometheus-cpp-dev libgoogle-perftools-dev
  # tests, benchmarks; the sanitizer builds, clang-tidy and clang-format
  libgtest-dev libgmock-dev libbenchmark-dev
  clang-19 libclang-rt-19-dev llvm-19 clang-tidy-19 clang-format-19
  # running: the private PostgreSQL of --dev, the zone rules
  postgresql-15 tzdata
  # what the scripts and tests call: ps, python3, faketime, redis-server
  procps python3 faketime redis-server pgbouncer ca-certificates
)

missing_packages() {
  local installed
  # dpkg-query fails when it does not know one of them; what it knows is printed all the same.
  installed=$({ dpkg-query -W -f='${Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true; } |
    sed -n 's/^install ok installed //p')
  printf '%s\n' "${packages[@]}" | grep -vxF -e "$installed" || true
}

check_system() {
  local id= version=
  if [ -r /etc/os-release ]; then
    id=$(. /etc/os-release && echo "${ID:-}")
    version=$(. /etc/os-release && echo "${VERSION_ID:-}")
  fi
  if [ "$id" != debian ] || [ "$version" != 12 ]; then
    say "this is ${id:-an unknown system} ${version:-}; Tidemark is built and tested on Debian 12"
  fi
  command -v apt-get >/dev/null ||
    die "there is no apt-get here" "use Debian 12, or install by other means: ${packages[*]}"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "installing packages needs root" "run deploy/setup.sh as root, or install sudo"
  fi
}

# While the packages are installed, postgresql-common makes no cluster and no package starts a
# service. Both files go again, so the machine's own habits stay what they were.
no_cluster=/etc/postgresql-common/createcluster.d/tidemark-setup.conf
no_service=/usr/sbin/policy-rc.d
made=()
put_back() {
  if [ ${#made[@]} -gt 0 ]; then as_root rm -f "${made[@]}"; fi
}
hold_back() {
  trap put_back EXIT
  as_root mkdir -p "$(dirname "$no_cluster")"
  made+=("$no_cluster")
  echo 'create_main_cluster = false' | as_root tee "$no_cluster" >/dev/null
  if [ ! -e "$no_service" ]; then
    made+=("$no_service")
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$no_service" >/dev/null
    as_root chmod 755 "$no_service"
  fi
}

# Redis is there for tests, which start one of their own: not at boot, if it is us who bring it.
disable_redis() {
  as_root deb-systemd-helper disable redis-server.service >/dev/null 2>&1 || true
  as_root update-rc.d redis-server disable >/dev/null 2>&1 || true
}

install_packages() {
  local log
  log=$(mktemp)
  hold_back
  if ! { as_root apt-get update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      -o Dpkg::Use-Pty=0 "$@"; } >"$log" 2>&1 </dev/null; then
    tail -n 25 "$log" >&2
    die "apt-get could not install: $*" \
      "see its message above (whole log: $log); check the network and /etc/apt, then run this again"
  fi
  rm -f "$log"
  if [[ " $* " = *" redis-server "* ]]; then disable_redis; fi
}

mapfile -t missing < <(missing_packages)
if [ ${#missing[@]} = 0 ]; then
  say "setup: all packages are there"
  exit 0
fi
check_system
stage "setup: installing ${#missing[@]} packages: ${missing[*]}"
install_packages "${missing[@]}"
mapfile -t missing < <(missing_packages)
[ ${#missing[@]} = 0 ] || die "still not installed: ${missing[*]}" "run deploy/setup.sh again"
stage_end
