# Sourced by tests/run.sh and samples/quickstart.sh: installs what is missing on Debian 12 and builds.
# Needs root (or sudo) only when a package is missing. Quiet when all goes well; the log says the rest.

aotc_packages="build-essential cmake ninja-build ccache pkg-config git \
  libfmt-dev nlohmann-json3-dev libcli11-dev catch2 libminizip-dev zlib1g-dev \
  llvm-19-dev libclang-19-dev liblld-19-dev libzstd-dev xz-utils"

aotc_install_packages() {
  local missing=() p
  for p in $aotc_packages; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local sudo=""
  [ "$(id -u)" -eq 0 ] || sudo="sudo"
  if ! command -v apt-get >/dev/null; then
    echo "aotc: please install these packages, then run this again: ${missing[*]}" >&2
    return 1
  fi
  echo "installing ${#missing[@]} packages: ${missing[*]}"
  { $sudo apt-get update -qq &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
    >"$aotc_log" 2>&1 || { tail -n 20 "$aotc_log" >&2; echo "aotc: installing packages failed; the whole log: $aotc_log" >&2; return 1; }
}

# Configures and builds preset $1 in build/$1; shows progress on a terminal, only errors otherwise.
aotc_build() {
  local preset=$1
  echo "building (preset $preset)"
  cmake --preset "$preset" >"$aotc_log" 2>&1 || { tail -n 20 "$aotc_log" >&2; return 1; }
  if [ -t 1 ]; then
    NINJA_STATUS="[%f/%t, %es] " cmake --build --preset "$preset" 2>&1 | tee -a "$aotc_log" | grep --line-buffered -E '^\[|FAILED|error:' | while IFS= read -r line; do printf '\r\033[K%.100s' "$line"; done
    printf '\r\033[K'
    [ "${PIPESTATUS[0]}" -eq 0 ] || { grep -E -A5 'FAILED|error' "$aotc_log" | tail -n 40 >&2; return 1; }
  else
    cmake --build --preset "$preset" >>"$aotc_log" 2>&1 || { grep -E -A5 'FAILED|error' "$aotc_log" | tail -n 60 >&2; return 1; }
  fi
}
