# Completion of bloomery-bench(1) for bash. "make docs" writes this file from the program's help.
_bloomery_bench() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local at=1 path="" words="" values="" inner
    [[ $prev == "=" ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
    [[ $cur == "=" ]] && { prev=${COMP_WORDS[COMP_CWORD - 1]}; cur=""; }
    if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == help ]]; then
        at=2
    fi
    while ((at < COMP_CWORD)); do
        case "$path" in none) ;; *) break ;; esac
        path="${path:+$path }${COMP_WORDS[at]}"
        at=$((at + 1))
    done
    case "$path $prev" in
        " --engine") values="bloom compact kbf dba fbf" ;;
        " --layout") values="tuned paper" ;;
        " --decode") values="1 2 3 4 sets" ;;
        " --encoder") values="algebraic greedy" ;;
        " --group") values="1 8 16 32 64 128 256 512" ;;
        " --mode") values="improved paper simple" ;;
        " --isa") values="scalar avx2 avx512 neon" ;;
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
        "")
            words="--engine --capacity --packets --raw --error --grow --batch --rounds --compare --layout --decode --encoder --unmasked --values --integers --zipf --top-share --size --units --unit-capacity --group --segmented --generations --mode --isa --json -h --help"
            inner="hash filter filters maplet map maps memcached index indexes window windows seen flows"
            ;;
    esac
    if [[ ${COMP_WORDS[1]} == help ]] && ((COMP_CWORD > 1)); then
        case "$path" in none) mapfile -t COMPREPLY < <(compgen -W "$inner" -- "$cur") ;; esac
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    elif [[ $inner ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$inner" -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -o filenames -F _bloomery_bench bloomery-bench
