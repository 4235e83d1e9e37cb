#!/usr/bin/env bash
# Compiles the decoder with all its mutations in place, generates eight lines at once and compares them with eager's.
. "$(dirname "$0")/../common.sh"
cd "$work"
"$AOTC" compile --quiet --in-place=require "$here/decoder.pt2" -o decoder.aotc
"$AOTC" inspect decoder.aotc | sed -n '/^aliased_io/,/^$/p' | awk '/kv_cache_update/ { print $0 }' | wc -l | sed 's/$/ caches are updated in place/'
cc -Wall -I"$include" "$here/main.c" -o main -L"$root/lib" -laotc -Wl,-rpath,"$root/lib" -lpthread
./main decoder.aotc | tee lines.txt
cmp lines.txt "$here/expected.txt" && echo "as eager torch generates them"
