#!/bin/sh
# Writes .github/requirements/*.txt, with the hash of every file: what a release is built with, and what lapsus needs.
# Run it after a change of constraints.txt, of the dependencies in pyproject.toml, or of an .in file. It needs uv.
set -e
cd "$(dirname "$0")/.."
lock() {
  source=$1 name=$2; shift 2
  uv pip compile -q --universal --python-version 3.11 --generate-hashes --custom-compile-command tools/lock_requirements.sh \
    "$source" -o ".github/requirements/$name.txt" "$@"
}
lock .github/requirements/build.in build -c constraints.txt
lock .github/requirements/release.in release -c constraints.txt
lock .github/requirements/sbom.in sbom
lock pyproject.toml lapsus -c constraints.txt
