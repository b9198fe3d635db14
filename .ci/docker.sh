# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# A Docker engine and our image for the tests, sourced by .ci/run.
#
# docker_up installs Debian's engine where no docker program is, starts one of
# its own (with its files in a folder of its own, and no network) where none
# runs, and has .ci/image make our image, which takes a minute or two, beside
# what the caller does next.  The tests wait for it (SLUICE_TEST_IMAGE_STATE).
# Where any of that cannot be, those that need it are skipped, and say why;
# where it is the sources that make no image, they fail.  docker_down takes
# away what docker_up made.
ci_dir=
ci_pid=
ci_maker=

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

# An engine that answers, and what a base image is made with: all that takes
# the package manager, which is boot.sh's after that.
ci_have_engine()
{
    missing=
    docker version >/dev/null 2>&1 || command -v dockerd >/dev/null ||
        missing=docker.io
    docker image inspect debian:bookworm-slim >/dev/null 2>&1 ||
        command -v debootstrap >/dev/null || missing="$missing debootstrap"
    # shellcheck disable=SC2086
    [ -z "$missing" ] || ci_install $missing || :
    docker version >/dev/null 2>&1 && return 0
    command -v dockerd >/dev/null && ci_start_engine
}

docker_up()
{
    ci_dir=$(mktemp -d /var/tmp/slc-docker.XXXXXX)
    if ! ci_have_engine; then
        ci_say "no engine can be started here: its tests will be skipped"
        return 0
    fi
    # As they are now: building them makes and removes files.
    mkdir "$ci_dir/src"
    tar -c --exclude=./.git --exclude='_build*' --exclude='*.o' \
        --exclude='*.a' . | tar -x -C "$ci_dir/src"
    # In a session of its own, to be ended with all that it started.
    setsid sh .ci/image "$ci_dir" </dev/null &
    ci_maker=$!
    SLUICE_TEST_IMAGE=slc-ci:latest
    SLUICE_TEST_IMAGE_STATE=$ci_dir/state
    export SLUICE_TEST_IMAGE SLUICE_TEST_IMAGE_STATE
}

docker_down()
{
    if [ -n "$ci_maker" ]; then
        [ -f "$ci_dir/state" ] || kill -- "-$ci_maker" 2>/dev/null || :
        wait "$ci_maker" 2>/dev/null || :
    fi
    if [ -n "$ci_pid" ]; then
        # What a test that ended early left in our engine.
        ci_left=$(docker ps --all --quiet 2>/dev/null) || ci_left=
        # shellcheck disable=SC2086
        [ -z "$ci_left" ] ||
            timeout 60 docker rm --force $ci_left >/dev/null 2>&1 || :
        kill "$ci_pid" 2>/dev/null || :
        wait "$ci_pid" 2>/dev/null || :
    elif [ -n "$ci_maker" ]; then
        docker rmi slc-ci:latest >/dev/null 2>&1 || :
        [ ! -f "$ci_dir/made-base" ] ||
            docker rmi debian:bookworm-slim >/dev/null 2>&1 || :
    fi
    if [ -n "$ci_dir" ]; then
        # The engine leaves its own network namespaces mounted, and the file
        # systems of containers that it could not end, and debootstrap its
        # own; inner ones first.
        awk -v dir="$ci_dir/" 'index($2, dir) == 1 { print $2 }' \
            /proc/mounts | sort -r | while read -r at; do
            umount "$at" 2>/dev/null || umount --lazy "$at" || :
        done
        rm -rf "$ci_dir" || :
    fi
    ci_pid='' ci_dir='' ci_maker=''
}
