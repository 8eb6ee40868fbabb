# shellcheck shell=bash
# Fetches sources of Debian's packages. Sourced after common.sh, not run.

# debian_sources SCRATCH PACKAGE...: unpacks the sources, with Debian's patches, into SCRATCH/sources, from the mirrors of
# this machine's apt. Nothing is installed, and apt's own lists stay unchanged. Fails with a message if they cannot be
# had; SCRATCH/log then has apt-get's.
debian_sources() {
  local scratch=$1
  shift
  mkdir -p "$scratch"/{lists,cache/archives}/partial "$scratch/sources"
  # The sources come from the places of the binary packages; most machines do not list them.
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  # shellcheck disable=SC2016  # the names are apt's
  apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SIGNED_BY)' "Created-By: Packages" |
    awk -F '|' -v keyring="$keyring" '$1 == "Debian" {
      if ($5 == "" || $5 ~ /^\$/) $5 = keyring
      print "deb-src [signed-by=" $5 "] " $2 " " $3 " " $4
    }' | sort -u >"$scratch/sources.list"
  if [ ! -s "$scratch/sources.list" ]; then
    complain "skipped: apt has no lists of Debian's packages here (apt-get update makes them)"
    return 1
  fi
  local apt=(apt-get -q -o Dir::Etc::SourceList="$scratch/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$scratch/lists" -o Dir::Cache="$scratch/cache" -o APT::Sandbox::User=
    -o APT::Get::List-Cleanup=false -o Acquire::Languages=none -o Acquire::Retries=3)
  if ! "${apt[@]}" -o APT::Update::Error-Mode=any update >"$scratch/log" 2>&1 ||
    ! (cd "$scratch/sources" && "${apt[@]}" source "$@") >>"$scratch/log" 2>&1; then
    tail -n 5 "$scratch/log" >&2
    complain "skipped: the sources could not be fetched; the lines above are of apt-get"
    return 1
  fi
}

# source_of SCRATCH PACKAGE: the folder of that package's source.
source_of() { find "$1/sources" -mindepth 1 -maxdepth 1 -type d -name "$2-*"; }

# source_versions SCRATCH: names and versions of all of them, in one line.
source_versions() { find "$1/sources" -name '*.dsc' -printf '%f\n' | sed 's/\.dsc$//' | sort | paste -sd ' '; }
