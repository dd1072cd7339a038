#!/bin/sh
# Debian's Quartz, its connection pool and PostgreSQL's driver; compiles Bench.java. Needs a JDK.
set -eu
cd "$(dirname "$0")"
jars=/usr/share/java
for package in libquartz2-java libpostgresql-jdbc-java libc3p0-java libslf4j-java; do
  dpkg -s "$package" >/dev/null 2>&1 ||
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null
done
mkdir -p classes
javac -d classes -cp "$jars/quartz2.jar:$jars/postgresql.jar" Bench.java
