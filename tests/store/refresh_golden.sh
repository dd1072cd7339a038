#!/usr/bin/env bash
# refresh_golden.sh [BUILD]: writes schema.golden.sql anew from the migrations that the build in
# BUILD (default build/debug) has embedded. Review the difference before committing it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$root/${1:-build/debug}/bin/schema_golden
[ -x "$program" ] || { echo "build the target schema_golden first: $program is missing" >&2; exit 1; }
"$program" >"$root/tests/store/schema.golden.sql.new"
mv "$root/tests/store/schema.golden.sql.new" "$root/tests/store/schema.golden.sql"
git -C "$root" --no-pager diff --stat -- tests/store/schema.golden.sql
