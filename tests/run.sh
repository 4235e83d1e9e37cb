#!/usr/bin/env bash
# Sets up what is missing, builds and runs the tests.
#   tests/run.sh [--full] [--preset NAME] [ctest arguments...]
# --full adds the sweeps that take long. Safe to run again.
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
aotc_log=$PWD/build/setup.log
preset=ci full=0
while [ $# -gt 0 ]; do
  case $1 in
    --full) full=1; shift ;;
    --preset) preset=${2:?--preset needs a name}; shift 2 ;;
    -h|--help) sed -n '2,4p' "$0" | cut -c3-; exit 0 ;;
    *) break ;;
  esac
done
. tests/setup.sh
aotc_install_packages || exit 1
aotc_build "$preset" || exit 1
exclude=(-LE full)
[ $full -eq 1 ] && exclude=()
[ -z "${AOTC_TEST_JOBS:-}" ] && AOTC_TEST_JOBS=$(nproc)
ctest --test-dir "build/$preset" -j "$AOTC_TEST_JOBS" --output-on-failure --no-tests=error "${exclude[@]}" "$@"
