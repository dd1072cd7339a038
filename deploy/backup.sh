#!/bin/sh
# Dumps a database into a file named by the business date: a command for an agent's handler.
#   BACKUP_DATABASE_URL  what to dump, any libpq form
#   BACKUP_DIR           where the files are kept
#   PG_BIN               folder of pg_dump and pg_restore; they must not be older than the server
# Running a date again replaces its file; a dump that is not whole is never seen under its name.
set -eu
: "${TIDEMARK_BIZ_DATE:?is set by the agent: give the job a daily schedule}"
: "${BACKUP_DATABASE_URL:?says what to dump}" "${BACKUP_DIR:?says where to}"
file=$BACKUP_DIR/backup-$TIDEMARK_BIZ_DATE.dump

"${PG_BIN:+$PG_BIN/}pg_dump" -Fc -f "$file.part" -d "$BACKUP_DATABASE_URL"
echo "50 - dumped, being checked" >&"$TIDEMARK_PROGRESS_FD"
"${PG_BIN:+$PG_BIN/}pg_restore" --list "$file.part" >"$file.list.part"
entries=$(grep -c '^[0-9]' "$file.list.part")
mv "$file.list.part" "$file.list"
mv "$file.part" "$file"
echo "$file: $entries entries"
echo "result=$file: $entries entries" >&"$TIDEMARK_PROGRESS_FD"
