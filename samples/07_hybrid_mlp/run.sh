#!/usr/bin/env bash
# Compiles the CPU, the GPU and the hybrid MLP, shows what moves, and writes a trace of each (into the folder $1, to keep
# them). Without a GPU it uses the simulator.
. "$(dirname "$0")/../common.sh"
traces=$(realpath "${1:-$work}")
cd "$work"
choose_gpu
cc -Wall -I"$include" "$here/main.c" -o main -L"$root/lib" -laotc -Wl,-rpath,"$root/lib"
# The devices of a trace's steps, in the order of a call, each once per run of equal ones.
places() {
  sed -n 's/.*"cat":"\(step\|kernel\|transfer\)".*"call":5.*/\1&/p' "$1" |
    sed 's/^step.*/CPU/; s/^kernel.*"device":"\([^"]*\)".*/\1/; s/^transfer.*/(transfer)/' | uniq | paste -sd ' '
}
for variant in cpu gpu hybrid; do
  "$AOTC" compile --quiet --gpu "$gpu" "$here/mlp_$variant.pt2" -o "$variant.aotc"
  ./main "$variant.aotc" "$traces/$variant.json" >"$variant.txt"
  cmp "$variant.txt" "$here/expected.txt"
  echo "$variant: $(grep -c '"cat":"call"' "$traces/$variant.json") calls in the trace, each on: $(places "$traces/$variant.json")"
done
echo "what moves in the hybrid:"
"$AOTC" explain hybrid.aotc | awk '/^[^ ]/ { name = $0 } name ~ /^transfer/ && /writes/ { sub(/.*\(/, "", name); sub(/\)/, "", name); print "  " name ": " $2 " bytes" }'
cat hybrid.txt
