# Completion of bloomery(1) for bash. "make docs" writes this file from the program's help.
_bloomery() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local at=1 path="" words="" values="" inner
    [[ $prev == "=" ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
    [[ $cur == "=" ]] && { prev=${COMP_WORDS[COMP_CWORD - 1]}; cur=""; }
    if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == help ]]; then
        at=2
    fi
    while ((at < COMP_CWORD)); do
        case "$path" in "" | "map" | "index" | "dedup" | "cluster" | "demo") ;; *) break ;; esac
        path="${path:+$path }${COMP_WORDS[at]}"
        at=$((at + 1))
    done
    case "$path $prev" in
        "plan --job") values="filter map window counter index" ;;
        "plan --engine") values="auto bloom compact kbf fbf dba" ;;
        "map build --engine") values="auto compact kbf" ;;
        "map build --layout") values="tuned paper" ;;
        "map build --like") values="<files>" ;;
        "map build --resume") values="<files>" ;;
        "map merge --output") values="<files>" ;;
        "seen --time-unit") values="s ms us ns" ;;
        "seen --on-bad") values="fail pass drop" ;;
        "seen --state") values="<files>" ;;
        "seen --engine") values="auto compact fbf" ;;
        "seen --on-full") values="fail pass err" ;;
        "index build --engine") values="auto compact dba" ;;
        "index build --group") values="1 8 16 32 64 128 256 512" ;;
        "index build --like") values="<files>" ;;
        "index build --files0-from") values="<files>" ;;
        "index add --files0-from") values="<files>" ;;
        "index del --from") values="<files>" ;;
        "index unit --engine") values="auto compact dba" ;;
        "index unit --group") values="1 8 16 32 64 128 256 512" ;;
        "index unit --like") values="<files>" ;;
        "flows --key") values="conversation pair 5tuple" ;;
        "flows --engine") values="compact kbf exact" ;;
        "flows --alerts") values="<files>" ;;
        "dedup init --engine") values="compact dba" ;;
        "dedup get -C") values="<directories>" ;;
        "serve --dir") values="<directories>" ;;
        "serve --appendonly") values="always everysec no" ;;
        "serve --log") values="<files>" ;;
        "serve --config") values="<files>" ;;
        "serve --server") values="<files>" ;;
        "serve --module") values="<files>" ;;
        "cluster up --dir") values="<directories>" ;;
        "cluster up --server") values="<files>" ;;
        "cluster up --module") values="<files>" ;;
        "cluster balance --by") values="pairs queries bytes" ;;
        "cluster down --dir") values="<directories>" ;;
        "demo once --server") values="<files>" ;;
        "demo once --module") values="<files>" ;;
    esac
    if [[ $values == "<files>" ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
    elif [[ $values == "<directories>" ]]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        return
    elif [[ $values ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
        return
    fi
    case "$path" in
        "plan")
            words="--capacity --error --values --raw --units --window --rate --job --engine --cluster --primaries --node-memory --replicas --json -h --help"
            inner=""
            ;;
        "map build")
            words="--error --capacity --values --engine --layout --raw --seed --fixed --like -d --delimiter --json-lines -0 --force --slabs --keyed --resume --wait --max-memory -h --help"
            inner=""
            ;;
        "map get")
            words="--all --json -0 --max-memory -h --help"
            inner=""
            ;;
        "map put")
            words="-d --delimiter --json-lines -0 --new --wait --max-memory -h --help"
            inner=""
            ;;
        "map del")
            words="-0 --wait --max-memory -h --help"
            inner=""
            ;;
        "map info")
            words="--json --max-memory -h --help"
            inner=""
            ;;
        "map merge")
            words="--output --force --max-memory -h --help"
            inner=""
            ;;
        "map compress")
            words="--error --max-memory -h --help"
            inner=""
            ;;
        "map ls")
            words="--json -h --help"
            inner=""
            ;;
        "map drop")
            words="-h --help"
            inner=""
            ;;
        "map save")
            words="-h --help"
            inner=""
            ;;
        "map restore")
            words="--force --wait -h --help"
            inner=""
            ;;
        "seen")
            words="--window --error --key --time --time-unit --skew -d --delimiter --json-lines -0 --on-bad --only-repeats --count --refresh --stats --json --state --engine --capacity --max-memory --on-full --seed -h --help"
            inner=""
            ;;
        "index build")
            words="--error --engine --units --unit-capacity --group --segmented --fixed --seed -0 --whole --key -d --delimiter --words --like --max-memory -r --skip --files0-from --force -h --help"
            inner=""
            ;;
        "index locate")
            words="--confirm --json -0 --max-memory -h --help"
            inner=""
            ;;
        "index add")
            words="-r --skip --files0-from --max-memory -h --help"
            inner=""
            ;;
        "index refresh")
            words="--all --skip --drop-gone --max-memory -h --help"
            inner=""
            ;;
        "index del")
            words="--from -0 --max-memory -h --help"
            inner=""
            ;;
        "index unit")
            words="--error --engine --units --unit-capacity --group --segmented --fixed --seed -0 --whole --key -d --delimiter --words --like --max-memory --name -h --help"
            inner=""
            ;;
        "index install")
            words="--max-memory -h --help"
            inner=""
            ;;
        "index info")
            words="--files -0 --json --max-memory -h --help"
            inner=""
            ;;
        "index check")
            words="--all -0 --json --max-memory -h --help"
            inner=""
            ;;
        "flows")
            words="--key --engine --error --capacity --idle --linger --filter --interface --duration --interval --packets --alerts --json --csv --check --syn-flood --reflection --reset-storm --port-scan --suspects --top --max-memory --seed -h --help"
            inner=""
            ;;
        "dedup init")
            words="--chunk --hash --compress --engine -h --help"
            inner=""
            ;;
        "dedup put")
            words="--exclude --no-cache --timestamp --json -q -h --help"
            inner=""
            ;;
        "dedup get")
            words="-C --force --json -q -h --help"
            inner=""
            ;;
        "dedup ls")
            words="--json -h --help"
            inner=""
            ;;
        "dedup rm")
            words="-q -h --help"
            inner=""
            ;;
        "dedup prune")
            words="--keep-last --keep-daily --keep-weekly --keep-monthly --dry-run --json -q -h --help"
            inner=""
            ;;
        "dedup gc")
            words="--stale --dry-run --json -q -h --help"
            inner=""
            ;;
        "dedup check")
            words="--deep --repair --json -q -h --help"
            inner=""
            ;;
        "dedup stats")
            words="--json -h --help"
            inner=""
            ;;
        "dedup rebuild-index")
            words="-q -h --help"
            inner=""
            ;;
        "serve")
            words="--port --dir --appendonly --max-memory --log --config --server --module --dry-run -h --help"
            inner=""
            ;;
        "cluster up")
            words="--primaries --replicas --dir --port --server --module -h --help"
            inner=""
            ;;
        "cluster status")
            words="--sample --json -h --help"
            inner=""
            ;;
        "cluster balance")
            words="--map --by --max-moves --dry-run --watch --sample --json --repair -h --help"
            inner=""
            ;;
        "cluster down")
            words="--dir -h --help"
            inner=""
            ;;
        "demo once")
            words="--server --module -h --help"
            inner=""
            ;;
        "")
            words="-h --help -V --version"
            inner="plan map seen index flows dedup serve cluster demo help"
            ;;
        "map")
            words="-h --help"
            inner="build get put del info merge compress ls drop save restore"
            ;;
        "index")
            words="-h --help"
            inner="build locate add refresh del unit install info check"
            ;;
        "dedup")
            words="-h --help"
            inner="init put get ls rm prune gc check stats rebuild-index"
            ;;
        "cluster")
            words="-h --help"
            inner="up status balance down"
            ;;
        "demo")
            words="-h --help"
            inner="once"
            ;;
    esac
    if [[ ${COMP_WORDS[1]} == help ]] && ((COMP_CWORD > 1)); then
        case "$path" in "" | "map" | "index" | "dedup" | "cluster" | "demo") mapfile -t COMPREPLY < <(compgen -W "$inner" -- "$cur") ;; esac
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    elif [[ $inner ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$inner" -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -o filenames -F _bloomery bloomery
