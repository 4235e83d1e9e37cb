#!/usr/bin/env bash
# Runs a program on the simulator, which ends with status 86 if anything is left on the device.
#   leaks.sh AOTC MODEL.pt2 PACKAGE
set -euo pipefail
"$1" compile --quiet --gpu sim "$2" -o "$3"
"$1" run "$3" >/dev/null
