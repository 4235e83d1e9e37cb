#!/usr/bin/env bash
# Programs with a GPU part as emitted projects, and compiled at build time: two in one program, on the simulator.
#   emitted.sh BUILD FOLDER      BUILD: the build tree of aotc
set -euo pipefail
aotc=$1/bin/aotc build=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder" && mkdir -p "$folder"
cd "$folder"
cmake --install "$build" --prefix prefix >install.log

"$aotc" emit-source --quiet --gpu sim --name cache "$here/data/device_cache.pt2" -o projects/cache
"$aotc" emit-source --quiet --gpu sim --name mlp "$here/data/hybrid_mlp_back.pt2" -o projects/mlp
make() { # FOLDER OPTIONS...: builds the program and runs it
  cmake -S "$here/emitted" -B "$1" -DPROJECTS="$folder/projects" -DDATA="$here/data" -DCMAKE_PREFIX_PATH="$folder/prefix" \
    "${@:2}" >"$1.log" 2>&1 && cmake --build "$1" >>"$1.log" 2>&1 || { tail -n 30 "$1.log"; exit 1; }
  "$1/app" "$here/data"
}
make from_sources
make at_build_time -DAT_BUILD_TIME=ON

# Without NVRTC the project has the kernels alone and says what it needs.
AOTC_NVRTC=/no/such/library "$aotc" emit-source --quiet --gpu sm_90 --name bare "$here/data/moves.pt2" -o bare
[ -f bare/src/kernels.cu ] && [ ! -e bare/gpu ]
! cmake -S bare -B bare_build -DAOTC_NVCC= >bare.log 2>&1
grep -q "no gpu/sm_90.cubin" bare.log

# Images that aotc made are taken as they are; nvcc, where there is one, makes them of kernels.cu.
if "$aotc" emit-source --quiet --gpu sm_90 --name made "$here/data/moves.pt2" -o made 2>/dev/null && [ -d made/gpu ]; then
  cmake -S made -B made_build -DAOTC_NVCC= >made.log 2>&1 && cmake --build made_build >>made.log 2>&1 || { tail made.log; exit 1; }
  cmp made/gpu/sm_90.cubin made_build/gpu/sm_90.cubin
  cmp made/gpu/compute_90.ptx made_build/gpu/compute_90.ptx
fi
if command -v nvcc >/dev/null; then
  cmake -S bare -B nvcc_build >nvcc.log 2>&1 && cmake --build nvcc_build >>nvcc.log 2>&1 || { tail nvcc.log; exit 1; }
  [ -s nvcc_build/gpu/sm_90.cubin ] && grep -q "aotc_strided_copy" nvcc_build/gpu/compute_90.ptx
fi
