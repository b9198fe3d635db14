#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh Debian 12 to a built, shown or tested Sluice:
#
#   ./boot.sh          install the Debian packages that are missing (only
#                      those), then autoreconf, configure and make
#   ./boot.sh demo     the same, then the lossless demo on real interfaces
#   ./boot.sh check    the same, then every test; the last line printed is
#                      "N passed, N failed[, N skipped]"
#   ./boot.sh bench    the same as without a word, then the benchmarks, beside
#                      the peers, which are installed; words that follow are
#                      those of tests/bench/run.py
#
# Installing packages and these words need root.  Arguments for configure
# come from CONFIGURE_FLAGS, e.g. CONFIGURE_FLAGS=--enable-sanitizers.
set -eu
cd "$(dirname "$0")"

build_packages="autoconf automake gcc libc6-dev make pkg-config
    libbpf-dev libcap-ng-dev libcriterion-dev libevent-dev libjson-c-dev
    libnl-3-dev libnl-route-3-dev libsqlite3-dev libssl-dev libsystemd-dev
    libxdp-dev sqlite3"
run_packages="iproute2 python3 python3-yaml"
check_packages="bash-completion clang-format ethtool iperf3 iputils-ping
    libxml2-utils man-db netcat-openbsd openssl openvswitch-common
    openvswitch-testcontroller python3-os-ken socat tshark valgrind xz-utils"
bench_packages="dpdk-dev iperf3 openvswitch-switch openvswitch-switch-dpdk
    valgrind"

say()
{
    printf '==> %s\n' "$*"
}

die()
{
    printf 'boot.sh: %s\n' "$*" >&2
    exit 1
}

# Those of the named packages that are not installed.
missing_of()
{
    for package in "$@"; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" \
            2>/dev/null) || state=none
        [ "$state" = installed ] || printf '%s ' "$package"
    done
}

# Some packages bring a service beside the tool that is wanted (a controller
# on the OpenFlow port, for one): none is started.
policy=/usr/sbin/policy-rc.d
made_policy=
start_no_services()
{
    [ ! -e "$policy" ] || return 0
    made_policy=$policy
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
}

install_missing()
{
    command -v dpkg-query >/dev/null ||
        die "this is not Debian: install these yourself: $*"
    missing=$(missing_of "$@")
    [ -n "$missing" ] || return 0
    [ "$(id -u)" = 0 ] ||
        die "packages are missing, and only root can install them:
    sudo apt-get install $missing"
    say "installing: $missing"
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    apt-get -q -q update
    start_no_services
    # shellcheck disable=SC2086 -- a list of names
    apt-get -q -q -y --no-install-recommends install $missing \
        </dev/null >boot-apt.log 2>&1 || {
        cat boot-apt.log >&2
        die "apt-get could not install: $missing"
    }
    rm -f boot-apt.log $made_policy
    trap - EXIT
}

build()
{
    say "autoreconf, configure, make"
    [ configure -nt configure.ac ] && [ -f build-aux/tap-driver.sh ] ||
        autoreconf -fi
    # shellcheck disable=SC2086 -- a list of flags
    if [ ! -f config.status ] || [ configure -nt config.status ] ||
        [ -n "${CONFIGURE_FLAGS:-}" ]; then
        ./configure -q ${CI:+--enable-werror} ${CONFIGURE_FLAGS:-}
    fi
    make -s -j"$(nproc)"
}

need_root()
{
    [ "$(id -u)" = 0 ] || die "'$1' makes network namespaces: sudo ./boot.sh $1"
}

case ${1:-} in
'')
    # shellcheck disable=SC2086
    install_missing $build_packages $run_packages
    build
    say "built: vswitchd/sluiced utilities/sluicectl utilities/sluice-probe"
    ;;
demo)
    need_root demo
    # shellcheck disable=SC2086
    install_missing $build_packages $run_packages
    build
    say "demo: three switches, two clients, one storage end"
    exec python3 tests/system/demo.py
    ;;
check)
    need_root check
    # shellcheck disable=SC2086
    install_missing $build_packages $run_packages $check_packages
    build
    say "make check"
    status=0
    # What each test has to say comes when it has ended (-O).
    make -s -O -j"$(nproc)" check || status=$?
    exec sh tests/summary "$status"
    ;;
bench)
    need_root bench
    shift
    # shellcheck disable=SC2086
    install_missing $build_packages $run_packages $bench_packages
    build
    say "make bench"
    exec make -s bench BENCH_FLAGS="$*"
    ;;
*)
    die "unknown word '$1': allowed are none, demo, check, bench"
    ;;
esac
