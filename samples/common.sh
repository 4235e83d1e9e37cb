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

# Sets $gpu, what --gpu takes: this machine's GPU, or where there is none the simulator, which then is the driver.
choose_gpu() {
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .) || true
  [ -n "$capability" ] || export AOTC_CUDA_DRIVER=${AOTC_CUDA_DRIVER:-$root/lib/libaotc_cuda_sim.so}
  case ${AOTC_CUDA_DRIVER:-} in *libaotc_cuda_sim*) gpu=sim ;; *) gpu=sm_$capability ;; esac
}
