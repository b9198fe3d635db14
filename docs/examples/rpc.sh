#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Talks to sluiced from the shell, with nothing but socat or nc:
#
#     rpc.sh METHOD [PARAMS]     one call, e.g. rpc.sh pfc.show '{"port":"eth1"}'
#     rpc.sh batch               three calls in one text
#     rpc.sh watch SECONDS       events, a line each
#
# SLUICE_SOCKET is the socket; RPC_WITH=nc takes nc although socat is there.
# The answer goes to standard output; the exit status is 1 if it is an error.
set -eu

socket=${SLUICE_SOCKET:-/run/sluice/sluiced.sock}
if [ -z "${SLUICE_SOCKET:-}" ] && [ ! -e "$socket" ]; then
    socket=/usr/local/var/run/sluice/sluiced.sock
fi

# Sends standard input, prints what is answered.  The daemon answers all that
# it was sent and hangs up when we have closed our sending half.
exchange()
{
    case ${RPC_WITH:-$(command -v socat >/dev/null && echo socat || echo nc)} in
        socat) socat -t 30 - "UNIX-CONNECT:$socket" ;;
        nc) nc -N -U "$socket" ;;
        *) echo "RPC_WITH is socat or nc" >&2; exit 2 ;;
    esac
}

request()
{
    printf '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}' "$1" "$2" "$3"
}

# Prints answers and fails when one of them is an error.
show()
{
    answer=$(cat)
    printf '%s\n' "$answer"
    case $answer in
        '') exit 3 ;;
        *'"error":{"code":'*) exit 1 ;;
    esac
}

case ${1:-} in
    '' | -h | --help)
        sed -n 's/^# \{0,1\}//p' "$0" | sed -n '4,11p'
        ;;
    batch)
        {
            printf '['
            request 1 daemon.status '{}'
            printf ,
            request 2 bridge.list '{}'
            printf ,
            request 3 port.list '{}'
            printf ']\n'
        } | exchange | show
        ;;
    watch)
        {
            request 1 events.subscribe '{}'
            echo
            sleep "${2:-10}"
        } | exchange
        ;;
    *)
        if [ $# -lt 2 ]; then
            set -- "$1" '{}'
        fi
        request 1 "$1" "$2" | exchange | show
        ;;
esac
