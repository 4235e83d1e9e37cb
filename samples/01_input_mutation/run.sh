#!/usr/bin/env bash
# Compiles both programs and runs them from C.
. "$(dirname "$0")/../common.sh"
cd "$work"
for name in input_mutation_no_return input_mutation_with_return; do
  "$AOTC" compile --quiet "$here/$name.pt2" -o "$name.aotc"
done
cc -Wall -I"$include" "$here/main.c" -o main -L"$root/lib" -laotc -Wl,-rpath,"$root/lib"
./main input_mutation_no_return.aotc input_mutation_with_return.aotc
