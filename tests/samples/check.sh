#!/usr/bin/env bash
# Runs samples/$1/run.sh and compares its output with the last fenced block of the README beside it.
set -euo pipefail
folder=$1
expected=$(awk '/^```/ { inside = !inside; if (inside) block = ""; next } inside { block = block $0 "\n" } END { printf "%s", block }' "$folder/README.md")
actual=$(bash "$folder/run.sh")
diff <(printf '%s\n' "$expected") <(printf '%s\n' "$actual")
