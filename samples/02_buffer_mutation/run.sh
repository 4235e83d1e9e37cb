#!/usr/bin/env bash
# Compiles the program and runs two sessions of it.
. "$(dirname "$0")/../common.sh"
cd "$work"
"$AOTC" compile --quiet "$here/buffer_mutation.pt2" -o counter.aotc
c++ -std=c++17 -Wall -I"$include" "$here/main.cpp" -o main -L"$root/lib" -laotc -Wl,-rpath,"$root/lib"
./main counter.aotc
