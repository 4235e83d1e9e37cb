#!/usr/bin/env bash
# Fails if ir/ops/SUPPORT.md is not the op table's matrix; matrix.sh AOTC --write writes it.
set -euo pipefail
file=$(cd "$(dirname "$0")/../.." && pwd)/ir/ops/SUPPORT.md
matrix() {
  echo '# Supported ops'
  echo
  echo 'Written by `tests/ops_table/matrix.sh AOTC --write` from the op table. Dtypes are those of the first tensor with'
  echo 'which a plain call compiles; ops without tensors, and those that need particular arguments, list none.'
  echo
  "$1" ops --markdown
}
if [ "${2-}" = --write ]; then
  matrix "$1" >"$file"
else
  matrix "$1" | diff - "$file" || { echo "write it again: tests/ops_table/matrix.sh AOTC --write"; exit 1; }
fi
