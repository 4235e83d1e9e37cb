#!/usr/bin/env bash
# Compiles the MLP once and runs it with several batch sizes.
. "$(dirname "$0")/../common.sh"
cd "$work"
"$AOTC" compile --quiet "$here/mlp.pt2" -o mlp.aotc
cc -Wall -I"$include" "$here/main.c" -o main -L"$root/lib" -laotc -Wl,-rpath,"$root/lib"
./main mlp.aotc
