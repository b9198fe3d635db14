# SPDX-License-Identifier: Apache-2.0
#
# bash completion for sluicectl.  Nouns, verbs and key words come from the
# program itself (--list-commands), ports and bridges from the daemon; when
# none answers there are none, and nothing is said.

_sluicectl_ask()
{
    # The first column of a tab-separated answer, without its title.
    local line first=1
    while IFS= read -r line; do
        ((first)) || printf '%s\n' "${line%%$'\t'*}"
        first=0
    done < <("$ctl" "${where[@]}" --tsv --timeout 2 "$@" 2>/dev/null)
}

# Values of a key word, as far as they are known beforehand.
_sluicectl_values()
{
    case $1 in
        type)
            if [[ $noun == events ]]; then
                echo xoff xon pause resume violation link config \
                    storm restored stuck
            elif [[ $verb == attach ]]; then
                echo afpacket afxdp auto
            else
                echo afpacket afxdp auto tap mem
            fi ;;
        action)
            if [[ $verb == guard ]]; then
                echo alert release
            else
                echo drop forward alert
            fi ;;
        detection|restoration|poll) echo 200 400 1s ;;
        for) echo 500ms 2s 1min ;;
        time) echo off 2s ;;
        mode) echo trunk access native-tagged native-untagged ;;
        trust) echo pcp dscp port ;;
        priority-tags) echo keep never if-nonzero always ;;
        ecn) echo {0..7}:on {0..7}:off ;;
        names|stats|asymmetric|forward-reserved|drop-lossless-unknown|pause-rx|pause-tx|rx|tx) echo on off ;;
        rate|ring|headroom) echo auto ;;
        pfc|only) echo none all 3 4 3,4 ;;
        prio|prio-pfc) echo {0..7}:on {0..7}:off all:on all:off ;;
        pg|default-priority)
            [[ $noun == map && $1 == pg ]] || echo {0..7} ;;
        trunks) echo all ;;
        port) _sluicectl_ask port list ;;
        bridge) _sluicectl_ask bridge list ;;
    esac
}

_sluicectl()
{
    local cur prev ctl=${COMP_WORDS[0]} i word noun='' verb='' n_args=0
    local -a where=() words=() lines=() args=()
    local IFS_old=$IFS line keys='' options='' verbs='' nouns='' candidates=''
    local c_noun c_verb c_args c_keys c_options rest

    # Words as they were typed: readline cuts them at '=' and ':'.
    local typed=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$typed"
    [[ $typed == *[[:space:]] ]] && words+=('')
    cur=${words[-1]}
    prev=''
    ((${#words[@]} > 1)) && prev=${words[-2]}

    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        word=${words[i]}
        case $word in
            -s|--socket)
                where=(--socket "${words[i + 1]}")
                ((i++)) ;;
            --socket=*) where=("$word") ;;
            --timeout|--count) ((i++)) ;;
            -*) ;;
            *)
                if [[ -z $noun ]]; then
                    noun=$word
                else
                    args+=("$word")
                fi ;;
        esac
    done

    case $prev in
        -s|--socket)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return ;;
        --timeout|--count) return ;;
    esac

    mapfile -t lines < <("$ctl" --list-commands 2>/dev/null)
    for line in "${lines[@]}"; do
        # Tabs are white space to read, which would join empty fields; '|' is
        # in the names of arguments.
        IFS=$'\x1f' read -r c_noun c_verb c_args c_keys c_options \
            <<<"${line//$'\t'/$'\x1f'}"
        [[ " $nouns " == *" $c_noun "* ]] || nouns+=" $c_noun"
        [[ $c_noun == "$noun" ]] || continue
        verbs+=" $c_verb"
        if [[ -z $c_verb || $c_verb == "${args[0]-}" ]]; then
            verb=${c_verb:-none}
            rest=$c_args keys=$c_keys options=$c_options
        fi
    done
    IFS=$IFS_old

    if [[ $cur == -* ]]; then
        candidates="--socket --json --tsv --timeout --help --version $options"
    elif [[ -z $noun ]]; then
        candidates="$nouns help"
    elif [[ $noun == help ]]; then
        candidates=$nouns
    elif [[ -z $verb ]]; then
        ((${#args[@]})) || candidates=$verbs
    else
        [[ $verb == none ]] || args=("${args[@]:1}")
        n_args=0
        for word in $rest; do
            if ((n_args == ${#args[@]})); then
                case $noun:$verb:$word in
                    port:add:PORT)
                        [[ -d /sys/class/net ]] &&
                            candidates=$(cd /sys/class/net && echo *) ;;
                    bridge:add:*) ;;
                    *:CONTAINER*)
                        [[ -d /run/netns ]] &&
                            candidates=$(cd /run/netns && echo *) ;;
                    watchdog:override:*) candidates='drop forward off' ;;
                    *:PORT) candidates=$(_sluicectl_ask port list) ;;
                    *:PRESET) candidates=$(_sluicectl_ask preset list) ;;
                    *:BRIDGE\|PORT)
                        candidates="$(_sluicectl_ask bridge list)
                            $(_sluicectl_ask port list)" ;;
                    *:BRIDGE) candidates=$(_sluicectl_ask bridge list) ;;
                    *:FILE)
                        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                        return ;;
                esac
            fi
            ((++n_args))
        done
        if [[ $prev == file && " $keys " == *" file "* ]]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return
        elif [[ " $keys " == *" $prev "* && $prev != vlan && -n $prev ]]; then
            candidates=$(_sluicectl_values "$prev")
        elif [[ $cur == *=* && " $keys " == *" ${cur%%=*} "* ]]; then
            # '=' cuts words: only what is behind it is replaced.
            candidates=$(_sluicectl_values "${cur%%=*}")
            cur=${cur#*=}
        elif ((${#args[@]} >= n_args)) || [[ $noun == map ]]; then
            candidates+=" $keys"
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$cur")
    # ':' cuts words too: bash replaces only what is behind the last one.
    if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
        for i in "${!COMPREPLY[@]}"; do
            COMPREPLY[i]=${COMPREPLY[i]#"${cur%:*}":}
        done
    fi
}
complete -F _sluicectl sluicectl
