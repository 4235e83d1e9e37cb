#!/usr/bin/env bash
# Compiles the step with its caches in place, decodes with four sessions at once and compares them with eager's. Without
# a GPU it uses the simulator.
. "$(dirname "$0")/../common.sh"
cd "$work"
choose_gpu
"$AOTC" compile --quiet --gpu "$gpu" --in-place=require "$here/step.pt2" -o step.aotc
"$AOTC" explain step.aotc >explain.txt
echo "mutations: $(grep -c '^ *direct .*kv_cache_update' explain.txt) direct cache updates, $(grep -c '^ *copy ' explain.txt) copies"
echo "between the devices: $(grep -c '^transfer' explain.txt) transfers"
cc -Wall -I"$include" "$here/main.c" -o main -L"$root/lib" -laotc -Wl,-rpath,"$root/lib"
./main step.aotc 2>&1 >lines.txt
cat lines.txt
cmp lines.txt "$here/expected.txt" && echo "as eager torch computes them"
