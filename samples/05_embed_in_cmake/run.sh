#!/usr/bin/env bash
# Builds a CMake project outside the tree that embeds two models.
. "$(dirname "$0")/../common.sh"
cd "$work"
cp -r "$here/app" app && mkdir models && cp "$here"/*.pt2 models
if [ -f "$root/lib/cmake/aotc/aotcConfig.cmake" ]; then prefix=$root; else
  prefix=$work/prefix
  cmake --install "$root" --prefix "$prefix" >install.log
fi
"$prefix/bin/aotc" emit-source --quiet models/mlp.pt2 -o mlp_sources
cmake -S app -B build -DCMAKE_PREFIX_PATH="$prefix" -DMLP_SOURCES="$work/mlp_sources" -DMODELS="$work/models" >configure.log 2>&1 || { cat configure.log; exit 1; }
cmake --build build >build.log 2>&1 || { cat build.log; exit 1; }
rm -rf models mlp_sources   # the program needs none of it
./build/app
