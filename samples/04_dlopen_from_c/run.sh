#!/usr/bin/env bash
# Takes model.so out of a package and runs it from a C program that links nothing but libc.
. "$(dirname "$0")/../common.sh"
cd "$work"
"$AOTC" compile --quiet "$here/mlp.pt2" -o mlp.aotc
unzip -q mlp.aotc model.so || python3 -m zipfile -e mlp.aotc .
cc -Wall -I"$include" "$here/main.c" -o main -ldl
./main ./model.so
