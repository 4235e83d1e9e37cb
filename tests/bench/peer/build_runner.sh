#!/usr/bin/env bash
# Builds runner.cpp with the C++ library of a Python's torch; old-style search paths, since the packages that it
# loads look for that library too.  peer/build_runner.sh PYTHON OUTPUT
set -euo pipefail
python=$1 output=$2
torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
c++ -std=c++20 -O2 -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
  "$(dirname "$0")/runner.cpp" -o "$output" \
  -L"$torch/lib" -Wl,-rpath,"$torch/lib" -Wl,--disable-new-dtags,--as-needed -ltorch_cpu -lc10 -Wl,--allow-shlib-undefined
