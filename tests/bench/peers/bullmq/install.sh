#!/bin/sh
# Installs what package-lock.json names, beside it. Needs node and npm.
set -eu
cd "$(dirname "$0")"
npm ci --silent --no-audit --no-fund --ignore-scripts
