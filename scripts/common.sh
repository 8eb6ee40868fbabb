# shellcheck shell=bash
# What the scripts of this folder share. Sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export root

heading() { printf '\n== %s ==\n' "$*"; }
say() { printf '%s\n' "$*"; }
complain() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

# cached NAME: the value that the build folder has for an option of CMake's.
cached() {
  [ ! -f build/CMakeCache.txt ] || sed -n "s/^$1:[A-Z]*=//p" build/CMakeCache.txt
}

# option_with NAME VALUE...: the option -DNAME=LIST for CMake, with these values and those that the build folder has for it.
option_with() {
  local name=$1 values
  values=$({ printf '%s\n' "${@:2}"; cached "$name" | tr ';' '\n'; } | awk 'NF && !seen[$0]++' | paste -sd ';')
  printf -- '-D%s=%s\n' "$name" "$values"
}

# fetched_into FOLDER: the folders of releases that fetch_headers.py or fetch_parts.py left there.
fetched_into() {
  local release
  for release in "$root/$1"/*/release.json; do
    [ ! -f "$release" ] || dirname "$release"
  done
}

# How many compilers run at once: all cores, but no more than memory allows (the largest unit takes about 1 GiB).
jobs_that_fit() {
  local cores memory_kib by_memory
  cores=$(nproc)
  memory_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  by_memory=$((${memory_kib:-2097152} / 1048576))
  [ "$by_memory" -ge 1 ] || by_memory=1
  if [ "$cores" -lt "$by_memory" ]; then echo "$cores"; else echo "$by_memory"; fi
}

# Asks the package index that pip uses for one project's page, for at most 40 s. Prints why it cannot be used and
# fails, or prints nothing.
package_index_reachable() {
  local said
  if [ "${ENGINEHOST_OFFLINE:-0}" != 0 ] && [ "${ENGINEHOST_OFFLINE:-0}" != false ]; then
    say "ENGINEHOST_OFFLINE is set"
    return 1
  fi
  if ! python3 -m pip --version >/dev/null 2>&1; then
    say "pip is not installed"
    return 1
  fi
  if said=$(timeout 40 python3 -m pip --disable-pip-version-check --timeout 8 --retries 1 \
    index versions onnxruntime 2>&1); then
    return 0
  fi
  said=$(grep -iE 'error|warning' <<<"$said" | tail -n 1)
  say "the package index cannot be reached (pip says: ${said:-nothing, for 40 s})"
  return 1
}
