#!/usr/bin/env bash
# schema_dump.sh URL: the definitions in schema "tidemark", without what differs between minor
# versions of pg_dump or from month to month (partitions).
set -euo pipefail
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
"$bin/pg_dump" --schema-only --no-owner --no-privileges --schema=tidemark \
    --exclude-table='tidemark.run_*_2[0-9][0-9][0-9][0-1][0-9]' -d "$1" |
  grep -v -E '^(--|SET |SELECT pg_catalog.set_config|\\(un)?restrict)' |
  sed -E '/_2[0-9]{3}[01][0-9]_/d' | cat -s
