#!/usr/bin/env bash
# Installs what is missing (Debian 12), builds aotc, compiles a sample model and runs it. Safe to run again.
# Usage: samples/quickstart.sh
set -uo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  '') ;;
  -h|--help) sed -n '2,3p' "$0" | cut -c3-; exit 0 ;;
  *) echo "quickstart.sh takes no arguments, found '$1'" >&2; exit 1 ;;
esac
mkdir -p build
aotc_log=$PWD/build/setup.log
preset=ci
. tests/setup.sh
aotc_install_packages || exit 1
aotc_build "$preset" || exit 1
aotc=build/$preset/bin/aotc
out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT
set -e
model=samples/01_input_mutation/input_mutation_with_return.pt2
echo "\$ aotc compile $model"
"$aotc" compile "$model" -o "$out/model.aotc"
echo "\$ aotc inspect model.aotc"
"$aotc" inspect "$out/model.aotc"
echo "\$ aotc run model.aotc"
"$aotc" run "$out/model.aotc"
