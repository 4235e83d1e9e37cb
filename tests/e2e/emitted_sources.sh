#!/usr/bin/env bash
# The sources of emitted projects compile without a warning, and the project of math.pt2 hides no <math.h>.
#   emitted_sources.sh AOTC FOLDER COMPILER...
set -euo pipefail
aotc=$1 folder=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder" && mkdir -p "$folder"
cd "$folder"
cp "$here/data/compared_rows.pt2" math.pt2
"$aotc" emit-source --quiet --cpu x86-64-v3 math.pt2 -o math_project
[ -e math_project/include/math_model.h ] && [ ! -e math_project/include/math.h ]
for name in compared_rows mask_used_twice cond_on_size.decomp factors float8_casts convolution_gradients; do
  "$aotc" emit-source --quiet --cpu x86-64-v3 "$here/data/$name.pt2" -o project
  for compiler in "$@"; do
    for file in kernels program; do
      "$compiler" -std=c++20 -fsyntax-only -march=x86-64-v3 -Wall -Wextra -Werror -Iproject/include \
        -Iproject/aotc/include -Iproject/aotc/model "project/src/$file.cpp"
    done
  done
done
