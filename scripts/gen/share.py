# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""The options in docs/commands.md -> shell completion for bash, zsh and fish, and the manual page, in share/.

docs/commands.md holds what `systole COMMAND --help` prints, and tools_commands compares it with the program (scripts/commands.py).
"""

import pathlib
import re

import yaml

from . import commands, common

INDENT = 30  # of the descriptions in a help text
HEADING = re.compile(r"^### systole ([\w ]+)\n\n```text\n(.*?)^```\n", re.S | re.M)
TERM = re.compile(r"^(?P<names>[\w,-]+)(?: (?P<type>TEXT|INT|UINT|FLOAT)\S*)?")


class Option:
    """An option or a positional argument of a command."""

    def __init__(self, term, text, heading):
        match = TERM.match(term)
        if not match:
            raise ValueError(f"{commands.PAGE}: '{term}' is no option as `systole --help` prints them")
        self.term, self.text, self.heading = term, text, heading
        self.names = match["names"].split(",")
        self.value = bool(match["type"])
        self.many = " ... " in f"{term} "

    @property
    def positional(self):
        return not self.names[0].startswith("-")

    def values(self, presets):
        """What completes the value: ('words', list), ('file', endings), ('folder', None) or ('none', None)."""
        choices = re.search(r"\{([^}]*)\}", self.term)
        name = self.names[-1]
        if choices:
            return "words", choices[1].split(",")
        if name == "--preset":
            named = [preset for preset in presets if re.search(rf"\b{preset}\b", self.text)]
            return "words", named or presets
        if name == "--backend":
            return "words", re.findall(r"\b(rtl|iss|serial:(?=PORT))", self.text)
        if name == "--print-ir-after":
            return "words", [word for word in re.split(r"[:,] ", self.text) if re.fullmatch(r"[a-z-]+", word)]
        if not re.search(r" TEXT", self.term):
            return "none", None
        if self.text.startswith("Folder"):
            return "folder", None
        if name in ("--flip", "--trace-layer", "--trace-window"):
            return "none", None
        endings = set(re.findall(r"\.(?:tpu|tflite|safetensors)\b", self.text))
        if endings and "StableHLO" in self.text:
            endings |= {".mlir", ".mlirbc"}
        return "file", sorted(endings) if self.positional else []


class Command:
    def __init__(self, words, text):
        self.words, self.about = words, text.splitlines()[0]
        usage = re.search(r"^Usage: (.*)$", text, re.M)
        self.usage = usage[1] if usage else ""
        self.options, heading, last = [], "", None
        for line in text.splitlines():
            if re.match(r"\S.*:$", line):
                heading, last = line[:-1], None
            elif heading in ("", "Subcommands") or not line.strip():
                continue
            elif not line[:INDENT].strip() and last:
                last[1] = f"{last[1]} {line.strip()}".strip()
            elif line.startswith("  ") and not line.startswith("   "):
                split = len(line) > INDENT and line[INDENT - 2:INDENT] == "  "
                last = [line[:INDENT].strip() if split else line.strip(), line[INDENT:].strip() if split else "", heading]
                self.options.append(last)
        self.options = [Option(*option) for option in self.options]

    @property
    def name(self):
        return " ".join(self.words)

    def flags(self):
        return [option for option in self.options if not option.positional]

    def positionals(self):
        return [option for option in self.options if option.positional]


def commands_of(page):
    found = [Command(match[1].split(), match[2]) for match in HEADING.finditer(page)]
    if not found:
        raise ValueError(f"{commands.PAGE}: no section '### systole COMMAND'")
    return found


def version_of(root):
    text = (root / "host/include/systole.h").read_text()
    return ".".join(re.search(rf"^#define SYSTOLE_VERSION_{part} (\d+)$", text, re.M)[1] for part in ("MAJOR", "MINOR", "PATCH"))


# ---- bash --------------------------------------------------------------------

BASH = r'''
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
@@NESTED@@
    esac
  done
  case "$command:$before" in
@@VALUES@@
  esac
  case "$command" in
@@WORDS@@
  esac
}

complete -F _systole systole
'''


def bash_action(kind, argument):
    if kind == "words":
        return f'_systole_words "{" ".join(argument)}"'
    if kind == "file":
        return f'_systole_files "{" ".join(argument)}"'
    return "_systole_folders" if kind == "folder" else "COMPREPLY=()"


def bash(found, presets):
    nested = [f'      {pattern}) command="{command.name}" ;;'
              for command in found for pattern in [f'"{" ".join(command.words[:-1])} {command.words[-1]}"']]
    values, words = [], []
    for command in found:
        actions = {}
        for option in command.flags():
            if option.value:
                actions.setdefault(bash_action(*option.values(presets)), []).extend(f'"{command.name}":{name}' for name in option.names)
        values += [f'    {" | ".join(names)}) {action}; return ;;' for action, names in actions.items()]
        children = [other.words[-1] for other in found if other.words[:-1] == command.words]
        flags = " ".join(name for option in command.flags() for name in option.names)
        lines = f'if [[ $cur == -* ]]; then _systole_words "{flags}"'
        if children:
            lines += f'; else _systole_words "{" ".join(children)}"; fi'
        elif command.positionals():
            lines += f"; else {bash_action(*command.positionals()[0].values(presets))}; fi"
        else:
            lines += "; fi"
        words.append(f'    "{command.name}") {lines} ;;')
    top = " ".join(command.name for command in found if len(command.words) == 1)
    words.append(f'    "") _systole_words "{top} --help --version" ;;')
    text = BASH.replace("@@NESTED@@", "\n".join(nested)).replace("@@VALUES@@", "\n".join(values)).replace("@@WORDS@@", "\n".join(words))
    return common.banner("#", commands.PAGE) + "# Completion of systole for bash.\n" + text


# ---- zsh ---------------------------------------------------------------------

def short(text):
    """The first clause of a description, for a list of candidates."""
    return re.split(r"[;:] ", text)[0].rstrip(".")


def zsh_quote(text):
    return short(text).replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh_action(kind, argument):
    if kind == "words":
        return ":value:(" + " ".join(word.replace(":", "\\:") for word in argument) + ")"
    if kind == "file":
        return f':file:_files -g "*({"|".join(argument)})(-.)"' if argument else ":file:_files"
    return ":folder:_files -/" if kind == "folder" else ":value: "


def zsh_arguments(command, presets):
    specs = []
    for option in command.flags():
        names = option.names
        action = zsh_action(*option.values(presets)) if option.value else ""
        about = f"[{zsh_quote(option.text)}]"
        group = "*" if option.many else "(" + " ".join(names) + ")"
        for name in names:
            equals = "=" if option.value and name.startswith("--") else ""
            specs.append(f"'{group}{name}{equals}{about}{action}'")
    for option in command.positionals():
        action = zsh_action(*option.values(presets))
        specs.append(f"'{'*' if option.many else ''}{action if option.many else ':' + action}'")
    return " \\\n        ".join(specs)


def zsh(found, presets):
    out = ["#compdef systole", common.banner("#", commands.PAGE).rstrip(), "# Completion of systole for zsh.", ""]
    parents = [(), *sorted({tuple(command.words[:-1]) for command in found if len(command.words) > 1})]
    for parent in reversed(parents):
        children = [command for command in found if tuple(command.words[:-1]) == parent]
        name = "_".join(["_systole", *parent])
        own = "'(- *)'{-h,--help}'[Print a help message]'"
        own += " '(- *)--version[Print the version]'" if not parent else ""
        out += [f"{name}() {{", "  local context curcontext=$curcontext state line", "  typeset -A opt_args",
                f"  _arguments -C {own} '1: :->command' '*:: :->arguments'", "  case $state in", "  command)", "    local -a names=("]
        out += [f"      '{command.words[-1]}:{zsh_quote(command.about)}'" for command in children]
        out += ["    )", "    _describe command names", "    ;;", "  arguments)", "    case $words[1] in"]
        for command in children:
            nested = [other for other in found if other.words[:-1] == command.words]
            does = "_".join(["_systole", *command.words]) if nested else f"_arguments -s \\\n        {zsh_arguments(command, presets)}"
            out.append(f"    {command.words[-1]})\n      {does}\n      ;;")
        out += ["    esac", "    ;;", "  esac", "}", ""]
    out.append('if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _systole "$@"; else compdef _systole systole; fi')
    return "\n".join(out) + "\n"


# ---- fish --------------------------------------------------------------------

def fish_quote(text):
    return "'" + short(text).replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_action(kind, argument):
    if kind == "words":
        return f"-x -a '{' '.join(argument)}'"
    if kind == "file":
        return "-r -F"
    return "-x -a '(__fish_complete_directories)'" if kind == "folder" else "-x"


def fish(found, presets):
    out = [common.banner("#", commands.PAGE).rstrip(), "# Completion of systole for fish.", "", "complete -c systole -f"]
    top = " ".join(command.name for command in found if len(command.words) == 1)
    out.append(f"complete -c systole -n 'not __fish_seen_subcommand_from {top}' -s h -l help -d 'Print a help message'")
    out.append(f"complete -c systole -n 'not __fish_seen_subcommand_from {top}' -l version -d 'Print the version'")
    for command in found:
        siblings = " ".join(other.words[-1] for other in found if other.words[:-1] == command.words[:-1])
        seen = "".join(f"__fish_seen_subcommand_from {word}; and " for word in command.words[:-1])
        out.append(f"complete -c systole -n '{seen}not __fish_seen_subcommand_from {siblings}' -a {command.words[-1]} -d {fish_quote(command.about)}")
    for command in found:
        # `board run` is not `run`, nor the other way round.
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words)
        others = {other.words[0] for other in found if len(other.words) > 1} if len(command.words) == 1 else set()
        for other in sorted(others - set(command.words)):
            if any(o.words == [other, command.words[0]] for o in found):
                seen += f"; and not __fish_seen_subcommand_from {other}"
        for option in command.flags():
            names = " ".join(f"-s {name[1:]}" if not name.startswith("--") else f"-l {name[2:]}" for name in option.names)
            action = f" {fish_action(*option.values(presets))}" if option.value else ""
            out.append(f"complete -c systole -n '{seen}' {names}{action} -d {fish_quote(option.text)}")
        if any(option.values(presets)[0] == "file" for option in command.positionals()):
            out.append(f"complete -c systole -n '{seen}' -F")
    return "\n".join(out) + "\n"


# ---- The manual page ----------------------------------------------------------

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + text if text.startswith(".") else text


def roff_term(option):
    words = re.sub(r" (?:Needs|Excludes): .*$", "", option.term)
    names, _, rest = words.partition(" ")
    rest = re.sub(r"(TEXT|INT|UINT|FLOAT)(?::(?:NONNEGATIVE|(?:INT|FLOAT) in \[[^]]*\]))?", r"\1", rest)
    return ", ".join(f"\\fB{roff(name)}\\fR" for name in names.split(",")) + (f" \\fI{roff(rest)}\\fR" if rest else "")


def sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


MAN = r'''.SH NAME
systole \- compile, run, profile and train networks on a simulated tensor processing unit
.SH SYNOPSIS
@@SYNOPSIS@@
.SH DESCRIPTION
.B systole
compiles int8 networks (TensorFlow Lite models, or networks as safetensors) and StableHLO programs for the cores of
Systole, an open tensor processing unit. It runs them on the RTL of a core, built by Verilator, on an instruction-set
simulator, or on an FPGA board behind a serial port, says where their cycles go, and trains a network in bf16.
.PP
A file is recognised by what it holds, not by its name.
An option in capitals takes a value; the value behind = is the default.
.SH COMMANDS
@@COMMANDS@@
.SH EXIT STATUS
.TP
.B 0
The command did what was asked.
.TP
.B 1
The command failed. The reason is on standard error.
.TP
.B 2
The arguments are wrong. Nothing was done.
.TP
.B 130, 143
A signal, SIGINT or SIGTERM, stopped the command.
.SH ENVIRONMENT
.TP
.B SYSTOLE_MODELS
The folder of the RTL models; by default it is found beside the program.
.TP
.B SYSTOLE_DIGITS
The folder of the training digits of
.BR "systole train" .
.SH EXAMPLES
.nf
systole run
systole compile models/mnist_cnn.tflite \-o digits.tpu
systole info digits.tpu
systole run digits.tpu \-\-random 1 \-\-backend iss
systole profile digits.tpu \-o profile.html
.fi
.SH SEE ALSO
The pages below share/doc/systole of an installation, first of all docs/index.md.
'''


def man(found, version):
    synopsis, body = [], []
    for command in found:
        if not any(other.words[:-1] == command.words for other in found):
            arguments = "".join(f" [\\fI{roff(option.names[0])}\\fR]" if "REQUIRED" not in option.term else f" \\fI{roff(option.names[0])}\\fR"
                                for option in command.positionals())
            synopsis.append(f"\\fBsystole {roff(command.name)}\\fR [\\fIoptions\\fR]{arguments}")
        body.append(f".SS systole {roff(command.name)}\n{roff(sentence(command.about))}")
        heading = None
        for option in command.options:
            if option.heading != heading:
                heading = option.heading
                if heading not in ("Positionals", "Options"):
                    body.append(f".PP\n{roff(heading)}:")
            body.append(f".TP\n{roff_term(option)}\n{roff(option.text)}")
    top = common.banner('.\\"', commands.PAGE) + f'.TH SYSTOLE 1 "" "systole {version}" "Systole"\n'
    return top + MAN.replace("@@SYNOPSIS@@", "\n.br\n".join(synopsis)).replace("@@COMMANDS@@", "\n".join(body))


def generate(root: pathlib.Path) -> dict:
    if not (root / "Makefile").exists():  # a copy of parts of the project, for a test
        return {}
    found = commands_of((root / commands.PAGE).read_text())
    presets = list(yaml.safe_load((root / "docs/spec/presets.yaml").read_text())["presets"])
    return {
        "share/completions/systole.bash": bash(found, presets),
        "share/completions/_systole": zsh(found, presets),
        "share/completions/systole.fish": fish(found, presets),
        "share/man/systole.1": man(found, version_of(root)),
    }
