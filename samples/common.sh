# Sourced by every sample's run.sh: finds aotc (or takes it from $AOTC) and works in a temporary folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
if [ -z "${AOTC:-}" ]; then
  AOTC=$(ls -t "$here"/../../build/*/bin/aotc 2>/dev/null | head -n 1 || true)
  [ -n "$AOTC" ] || AOTC=$(command -v aotc) || { echo "aotc is not built yet: run samples/quickstart.sh first" >&2; exit 1; }
fi
AOTC=$(realpath "$AOTC")
root=$(dirname "$(dirname "$AOTC")")
include=$root/lib/aotc/source/include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
