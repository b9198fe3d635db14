# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# A Docker engine and our image for the tests, sourced by .ci/run.
#
# docker_up installs Debian's engine where no docker program is, starts one of
# its own (with its files in a folder of its own, and no network) where none
# runs, makes the base image with debootstrap where no registry answers, and
# builds our image with the ordinary Dockerfile.  Where any of that cannot be,
# it says why, and the tests that need it are skipped; where it is the sources
# that make no image, ci_broken says so.  docker_down takes away what docker_up
# made.
ci_base=debian:bookworm-slim
ci_dir=
ci_pid=
ci_image=
ci_made_base=
ci_broken=

ci_say()
{
    printf '==> docker: %s\n' "$*" >&2
}

ci_install()
{
    [ "$(id -u)" = 0 ] || return 1
    DEBIAN_FRONTEND=noninteractive apt-get -q -q update &&
        DEBIAN_FRONTEND=noninteractive apt-get -q -q -y \
            --no-install-recommends install "$@" </dev/null
} >/dev/null 2>&1

ci_start_engine()
{
    command -v dockerd >/dev/null || ci_install docker.io || return 1
    command -v dockerd >/dev/null || return 1
    ci_dir=$(mktemp -d /var/tmp/slc-docker.XXXXXX)
    dockerd --data-root "$ci_dir/data" --exec-root "$ci_dir/exec" \
        --host "unix://$ci_dir/sock" --pidfile "$ci_dir/pid" \
        --iptables=false --ip6tables=false --bridge=none \
        >"$ci_dir/log" 2>&1 </dev/null &
    ci_pid=$!
    DOCKER_HOST=unix://$ci_dir/sock
    export DOCKER_HOST
    n=0
    until docker version >/dev/null 2>&1; do
        n=$((n + 1))
        if [ "$n" -gt 100 ] || ! kill -0 "$ci_pid" 2>/dev/null; then
            tail -n 3 "$ci_dir/log" >&2
            return 1
        fi
        sleep 0.2
    done
}

ci_have_base()
{
    docker image inspect "$ci_base" >/dev/null 2>&1 && return 0
    ci_made_base=yes
    timeout 30 docker pull -q "$ci_base" >/dev/null 2>&1 && return 0
    ci_say "no registry answers: making $ci_base with debootstrap"
    command -v debootstrap >/dev/null || ci_install debootstrap || return 1
    root=$(mktemp -d /var/tmp/slc-base.XXXXXX)
    if debootstrap --variant=minbase bookworm "$root" >"$root.log" 2>&1; then
        rm -rf "$root/var/cache/apt/archives" "$root/var/lib/apt/lists"
        tar -C "$root" -c . | docker import - "$ci_base" >/dev/null
        status=$?
    else
        tail -n 3 "$root.log" >&2
        status=1
    fi
    rm -rf "$root" "$root.log"
    return "$status"
}

ci_build_image()
{
    log=$(mktemp /var/tmp/slc-build.XXXXXX)
    # The engine has no network of its own; packages come over the host's.
    if DOCKER_BUILDKIT=0 docker build --network host -t slc-ci:latest . \
        >"$log" 2>&1; then
        ci_image=slc-ci:latest
        status=0
    else
        tail -n 15 "$log" >&2
        status=1
        # The packages were there, and the network was.
        ! grep -q '^Step .* : RUN autoreconf' "$log" || ci_broken=yes
    fi
    rm -f "$log"
    return "$status"
}

docker_up()
{
    if ! docker version >/dev/null 2>&1 && ! ci_start_engine; then
        ci_say "no engine can be started here: its tests will be skipped"
    elif ! ci_have_base; then
        ci_say "$ci_base cannot be made here: tests will be skipped"
    elif ! ci_build_image; then
        ci_say "our image cannot be built here: tests will be skipped"
    else
        SLUICE_TEST_IMAGE=$ci_image
        export SLUICE_TEST_IMAGE
    fi
    return 0
}

docker_down()
{
    if [ -z "$ci_pid" ]; then
        [ -z "$ci_image" ] || docker rmi "$ci_image" >/dev/null 2>&1 || :
        [ -z "$ci_made_base" ] ||
            docker rmi "$ci_base" >/dev/null 2>&1 || :
    else
        # What a test that ended early left in our engine.
        ci_left=$(docker ps --all --quiet 2>/dev/null) || ci_left=
        # shellcheck disable=SC2086
        [ -z "$ci_left" ] ||
            timeout 60 docker rm --force $ci_left >/dev/null 2>&1 || :
        kill "$ci_pid" 2>/dev/null || :
        wait "$ci_pid" 2>/dev/null || :
    fi
    if [ -n "$ci_dir" ]; then
        # The engine leaves its own network namespaces mounted, and the file
        # systems of containers that it could not end; inner ones first.
        awk -v dir="$ci_dir/" 'index($2, dir) == 1 { print $2 }' \
            /proc/mounts | sort -r | while read -r at; do
            umount "$at" 2>/dev/null || umount --lazy "$at" || :
        done
        rm -rf "$ci_dir" || :
    fi
    ci_pid='' ci_dir='' ci_image='' ci_made_base=''
}
