#!/usr/bin/env bash
# Verifies every N-th program of data/ops.tar.xz, starting with program FIRST.
#   run.sh AOTC FOLDER FIRST N [FLAGS OF VERIFY, by default --device cpu]
# Fails on a wrong value, on a refusal that refusals.txt does not name, and on a name there that is refused no more.
set -euo pipefail
aotc=$1 folder=$2 first=$3 step=$4
shift 4
[ $# -gt 0 ] || set -- --device cpu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
cd "$folder"
rm -rf programs && mkdir programs
tar -tf "$here/data/ops.tar.xz" | sed -n 's|^\([^/]*\)\.decomp\.pt2$|\1|p; s|^\([^/]*\)\.pt2$|\1|p' | sort -u |
  awk -v f="$first" -v n="$step" 'NR % n == f % n { print $0 ".*" }' >wanted
[ "$step" -gt 1 ] || echo '*' >wanted
tar -xf "$here/data/ops.tar.xz" -C programs --wildcards -T wanted
while read -r name; do rm -f "programs/$name"; done < <(grep -v '^#' "$here/skipped.txt")
"$aotc" verify "$@" --quiet programs >report 2>&1 || true  # failures are judged below
tail -n 1 report | grep -qE '^[0-9]+ passed, [0-9]+ failed$' || { tail -n 5 report; exit 1; }
# refusals.txt: "PROGRAM-PATTERN  text of the refusal", patterns as the shell's
bad=0
while IFS= read -r line; do
  program=$(cut -d' ' -f2 <<<"$line") named=0
  while read -r pattern text; do
    # shellcheck disable=SC2053
    if [[ $program == $pattern && $line == *"$text"* ]]; then named=1; fi
  done < <(grep -v '^#' "$here/refusals.txt")
  [ $named -eq 1 ] || { echo "$line"; bad=1; }
done < <(grep '^FAILED' report || true)
while read -r pattern text; do
  for program in $(cd programs && ls -d -- *.pt2); do
    # shellcheck disable=SC2053
    if [[ $program == $pattern ]] && ! grep -qF "FAILED $program " report; then
      echo "$program is in refusals.txt ($text) but passes"
      bad=1
    fi
  done
done < <(grep -v '^#' "$here/refusals.txt")
tail -n 1 report
exit $bad
