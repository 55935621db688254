# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
# Generated from docs/spec/docs/commands.md by scripts/generate.py: edit the source.
# Completion of systole for bash.

# Words of the list in $1 that begin with the current word.
_systole_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

# Files with one of the endings in $1, and folders; any file where there is none of these.
_systole_files() {
  local endings=$1 file
  compopt -o filenames 2>/dev/null
  COMPREPLY=()
  if [[ -n $endings ]]; then
    while IFS= read -r file; do
      [[ -d $file || " $endings " == *" .${file##*.} "* ]] && COMPREPLY+=("$file")
    done < <(compgen -f -- "$cur")
  fi
  ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

_systole_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}

_systole() {
  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= word i
  # --option=value comes as three words.
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $before == "=" ]] && ((COMP_CWORD > 1)); then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case "$command $word" in
      " run") command="run" ;;
      " profile") command="profile" ;;
      " bench") command="bench" ;;
      " train") command="train" ;;
      " compile") command="compile" ;;
      " asm") command="asm" ;;
      " disasm") command="disasm" ;;
      " info") command="info" ;;
      " board") command="board" ;;
      "board info") command="board info" ;;
      "board test") command="board test" ;;
      "board run") command="board run" ;;
      " links") command="links" ;;
    esac
  done
  case "$command:$before" in
    "run":--backend) _systole_words "rtl iss serial:"; return ;;
    "run":--preset) _systole_words "nano edge v1 mini v2 lite board8 board minichip v2chip edgechip litechip"; return ;;
    "run":--batch | "run":--stall | "run":--threads | "run":--flip | "run":--seed | "run":--processes | "run":--random | "run":--devices | "run":--images | "run":--trace-layer | "run":--trace-window | "run":--trace-run | "run":--trace-core) COMPREPLY=(); return ;;
    "run":--firmware | "run":--signature | "run":-i | "run":--input | "run":-o | "run":--output | "run":--check | "run":--input-shape | "run":--dim | "run":--fix | "run":--memory | "run":--second | "run":--dump | "run":--model | "run":--trace) _systole_files ""; return ;;
    "run":--reports | "run":--tensors | "run":--digits | "run":--waves) _systole_folders; return ;;
    "run":--host-operators) _systole_words "allow error alone"; return ;;
    "run":--precision) _systole_words "default high highest"; return ;;
    "profile":--preset) _systole_words "nano edge v1 mini v2 lite board8 board minichip v2chip edgechip litechip"; return ;;
    "profile":--batch | "profile":--devices | "profile":--processes | "profile":--seed) COMPREPLY=(); return ;;
    "profile":--signature | "profile":--firmware | "profile":-i | "profile":--input | "profile":-o | "profile":--output | "profile":--perfetto | "profile":--xspace | "profile":--json | "profile":--input-shape | "profile":--dim | "profile":--fix) _systole_files ""; return ;;
    "profile":--precision) _systole_words "default high highest"; return ;;
    "bench":--preset) _systole_words "nano edge v1 board8 board edgechip"; return ;;
    "bench":--batch | "bench":--starts | "bench":--seed) COMPREPLY=(); return ;;
    "bench":--backend) _systole_words "rtl iss"; return ;;
    "bench":--model | "bench":--compare) _systole_files ""; return ;;
    "bench":--digits | "bench":--reports) _systole_folders; return ;;
    "train":--backend) _systole_words "iss rtl"; return ;;
    "train":--preset) _systole_words "mini v2 lite minichip v2chip litechip"; return ;;
    "train":--steps | "train":--rate | "train":--seed | "train":--test-images | "train":--eval-every | "train":--goal | "train":--stop | "train":--trace-layer | "train":--trace-window | "train":--trace-run | "train":--trace-core) COMPREPLY=(); return ;;
    "train":--data | "train":--test | "train":--save | "train":--resume | "train":--trace) _systole_files ""; return ;;
    "train":--digits | "train":--test-digits | "train":--reports | "train":--waves) _systole_folders; return ;;
    "train":--check) _systole_words "auto all ends none"; return ;;
    "train":--compare) _systole_words "none iss rtl"; return ;;
    "train":--host-operators) _systole_words "allow error alone"; return ;;
    "compile":-o | "compile":--output | "compile":--signature) _systole_files ""; return ;;
    "compile":--preset) _systole_words "nano edge v1 board8 board edgechip"; return ;;
    "compile":--batch) COMPREPLY=(); return ;;
    "compile":--print-ir-after) _systole_words "input lowering-head lowering lowering-tail plan column-joining channel-grouping vector-fusion epilogue-joining tiling tile-sharing memory-planning descriptors dependence-analysis scheduling sync-flags"; return ;;
    "compile":--host-operators) _systole_words "allow error alone"; return ;;
    "asm":-o | "asm":--output) _systole_files ""; return ;;
    "asm":--preset) _systole_words "nano edge v1 mini v2 lite board8 board minichip v2chip edgechip litechip"; return ;;
    "disasm":--preset) _systole_words "mini v2 lite minichip v2chip litechip"; return ;;
    "disasm":--signature | "disasm":--input-shape | "disasm":--dim | "disasm":--fix) _systole_files ""; return ;;
    "disasm":--precision) _systole_words "default high highest"; return ;;
    "info":--preset) _systole_words "mini v2 lite minichip v2chip litechip"; return ;;
    "info":--signature | "info":--input-shape | "info":--dim | "info":--fix) _systole_files ""; return ;;
    "info":--precision) _systole_words "default high highest"; return ;;
    "board info":--port) _systole_files ""; return ;;
    "board test":--port) _systole_files ""; return ;;
    "board test":--bytes | "board test":--seed) COMPREPLY=(); return ;;
    "board run":--port | "board run":-i | "board run":--input | "board run":-o | "board run":--output | "board run":--check) _systole_files ""; return ;;
    "board run":--random | "board run":--images) COMPREPLY=(); return ;;
    "links":--preset) _systole_words "minichip v2chip litechip"; return ;;
    "links":--chips | "links":--wire-errors) COMPREPLY=(); return ;;
    "links":--torus | "links":--cables) _systole_files ""; return ;;
  esac
  case "$command" in
    "run") if [[ $cur == -* ]]; then _systole_words "-h --help --backend --preset --batch --stall --threads --flip --firmware --seed --checked --json --quiet --reports --host-operators --verbose --signature --processes -i --input --random --devices -o --output --float --reset-variables --check --tensors --precision --input-shape --dim --fix --memory --second --dump --model --digits --images --trace --trace-layer --trace-window --trace-run --trace-core --waves"; else _systole_files ".mlir .mlirbc .safetensors .tflite .tpu"; fi ;;
    "profile") if [[ $cur == -* ]]; then _systole_words "-h --help --preset --batch --devices --processes --verbose --signature --firmware -i --input --seed -o --output --perfetto --xspace --json --quiet --precision --input-shape --dim --fix"; else _systole_files ".mlir .mlirbc .safetensors .tflite .tpu"; fi ;;
    "bench") if [[ $cur == -* ]]; then _systole_words "-h --help --preset --batch --backend --model --digits --reports --compare --starts --seed --json --quiet"; else _systole_files ""; fi ;;
    "train") if [[ $cur == -* ]]; then _systole_words "-h --help --backend --preset --steps --rate --seed --data --test --digits --test-digits --test-images --eval-every --goal --check --compare --host-operators --stop --save --resume --reports --verbose --json --quiet --trace --trace-layer --trace-window --trace-run --trace-core --waves"; else _systole_folders; fi ;;
    "compile") if [[ $cur == -* ]]; then _systole_words "-h --help -o --output --preset --batch --loops --keep-intermediates --print-ir --print-ir-after --print-constants --host-operators --signature --verbose --json"; else _systole_files ".safetensors .tflite"; fi ;;
    "asm") if [[ $cur == -* ]]; then _systole_words "-h --help -o --output --preset"; else _systole_files ""; fi ;;
    "disasm") if [[ $cur == -* ]]; then _systole_words "-h --help --preset --verbose --signature --precision --input-shape --dim --fix"; else _systole_files ""; fi ;;
    "info") if [[ $cur == -* ]]; then _systole_words "-h --help --preset --json --verbose --signature --precision --input-shape --dim --fix"; else _systole_files ".mlir .mlirbc .safetensors .tflite .tpu"; fi ;;
    "board") if [[ $cur == -* ]]; then _systole_words "-h --help"; else _systole_words "info test run"; fi ;;
    "board info") if [[ $cur == -* ]]; then _systole_words "-h --help --port --quiet"; fi ;;
    "board test") if [[ $cur == -* ]]; then _systole_words "-h --help --port --quiet --bytes --seed"; fi ;;
    "board run") if [[ $cur == -* ]]; then _systole_words "-h --help --port --quiet -i --input -o --output --random --check --images --json"; else _systole_files ".safetensors .tflite .tpu"; fi ;;
    "links") if [[ $cur == -* ]]; then _systole_words "-h --help --preset --chips --torus --cables --wire-errors --json"; fi ;;
    "") _systole_words "run profile bench train compile asm disasm info board links --help --version" ;;
  esac
}

complete -F _systole systole
