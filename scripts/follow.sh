#!/usr/bin/env bash
# Takes rows of new releases from the package index into the manifests of this tree, builds the repository again, and opens
# each new build that fits this machine. May be run again: without a new release nothing changes.
#
#   scripts/follow.sh [--check] [--no-proof] [--key FILE]... [--publish DIRECTORY]
#
# --check     writes nothing; exit status 1 if something would change
# --no-proof  does not open builds
# --key       a secret key of minisign that signs the published folder; may be given several times
# --publish   writes a folder that any web server can hold. DIRECTORY.source holds the repository that is signed
#
# Exit status: that of the first plan that failed; the other plans are followed all the same.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

bin=build/bin
shipped=build/share/enginehost/repository
checks=()
proves=true
keys=()
publish=

while [ $# -gt 0 ]; do
  case $1 in
    --check) checks=(--check); proves=false; shift ;;
    --no-proof) proves=false; shift ;;
    --key | --publish)
      [ $# -ge 2 ] || { complain "$1 needs a value"; exit 2; }
      if [ "$1" = --key ]; then keys+=(--key "$2"); else publish=$2; fi
      shift 2
      ;;
    -h | --help)
      sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      complain "unknown argument $1 (known: --check, --no-proof, --key FILE, --publish DIRECTORY)"
      exit 2
      ;;
  esac
done
if [ -n "$publish" ] && [ ${#keys[@]} -eq 0 ]; then
  complain "--publish needs --key FILE: machines take no repository from the web that nobody signed"
  exit 2
fi
if [ ${#keys[@]} -gt 0 ] && [ -z "$publish" ]; then
  complain "--key signs what --publish writes; name its DIRECTORY"
  exit 2
fi
[ -x "$bin/engine-manifest" ] || { complain "$bin/engine-manifest is not built: scripts/setup.sh --all"; exit 2; }

status=0
note_status() { [ $status -ne 0 ] || status=$1; }

# follow_plans ARGUMENT...: follows each plan of the tree.
follow_plans() {
  local plan
  for plan in manifests/plans/*.json; do
    heading "$(basename "$plan" .json)"
    "$bin/engine-manifest" follow "$plan" "$@" || note_status $?
  done
}

follow_plans "${checks[@]}"
if [ ${#checks[@]} -eq 0 ]; then cmake --build build --target enginehost_repository; fi
if $proves; then follow_plans --prove "$shipped"; fi
if [ -n "$publish" ]; then
  heading "publishing"
  source=$publish.source
  [ -f "$source/repository.json" ] || "$bin/engine-manifest" init "$source" --name "$(basename "$publish")"
  mkdir -p "$source/engines" "$source/files" "$source/facts"
  for manifest in "$shipped"/manifests/*.json; do  # ENGINE-DIGEST.json
    name=$(basename "$manifest")
    cp "$manifest" "$source/engines/${name%-*}.json"
  done
  cp "$shipped"/files/* "$source/files/"
  cp manifests/facts/*.json "$source/facts/"
  "$bin/engine-manifest" lint "$source"
  "$bin/engine-manifest" sign "$source" "${keys[@]}"
  "$bin/engine-manifest" publish "$source" "$publish"
fi
exit $status
