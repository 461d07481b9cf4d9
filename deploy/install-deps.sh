#!/usr/bin/env bash
# Installs what Headstart needs to build, test and lint on Debian 12, from Debian's own packages. Safe to run again: it asks
# apt for nothing when all is there. Works as root, or through sudo.
#
#   deploy/install-deps.sh            what the build and the tests need
#   deploy/install-deps.sh --lint     and what ./dev lint needs
#   deploy/install-deps.sh --checks   and what tests need that are left out without it: a Prometheus to be scraped by
set -euo pipefail

build_packages=(
  g++ cmake ninja-build pkg-config ccache mold git ca-certificates
  libgrpc++-dev protobuf-compiler-grpc protobuf-compiler libprotobuf-dev libgrpc-dev
  libabsl-dev librocksdb-dev libxxhash-dev libpcre2-dev libicu-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libfmt-dev
  libyaml-cpp-dev prometheus-cpp-dev libssl-dev libboost-dev libjs-chart.js
  libgtest-dev libgmock-dev libbenchmark-dev
  python3-grpcio python3-protobuf python3-jinja2
)
lint_packages=(clang clang-tidy clang-format libclang-rt-14-dev)
check_packages=(prometheus)

packages=("${build_packages[@]}")
case "${1:-}" in
  "") ;;
  --lint) packages+=("${lint_packages[@]}") ;;
  --checks) packages+=("${check_packages[@]}") ;;
  *) echo "install-deps.sh: unknown argument '$1'; it takes --lint, --checks or nothing" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "install-deps.sh: this system has no apt-get. On Debian 12 the packages are: ${packages[*]}" >&2
  exit 1
fi

is_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$'; }
missing=()
for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps.sh: these packages are missing and neither root nor sudo is at hand: ${missing[*]}" >&2
    echo "Run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing ${#missing[@]} packages: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
