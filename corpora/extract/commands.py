"""The command lines of one program in shell scripts, one a file: python3 commands.py PROGRAM OUT FILE...

A command begins where the shell expects one, and ends before an operator, a redirection or a comment. Files that are no shell
scripts are left out, equal commands are written once.
"""

import os
import re
import sys

WORD_END = set(" \t\n;&|<>()")


def skip_word(text, i, word_end):
    """The end of the word at i; None if it does not end."""
    while i < len(text) and text[i] not in word_end:
        if text[i] == "\\":
            i += 2
            continue
        i = skip_part(text, i)
        if i is None:
            return None
    return i


def skip_part(text, i):
    if text[i] == "'":
        end = text.find("'", i + 1)
    elif text[i] == "`":
        end = text.find("`", i + 1)
    elif text[i] == '"':
        end = skip_until(text, i + 1, '"')
    elif text.startswith("$(", i):
        end = skip_until(text, i + 2, ")")
    elif text.startswith("${", i):
        end = skip_until(text, i + 2, "}")
    else:
        return i + 1
    return None if end is None or end < 0 else end + 1


def skip_until(text, i, close):
    """Where the closing character is, past what is quoted or nested before it."""
    while i < len(text):
        c = text[i]
        if c == close:
            return i
        if c == "\\":
            i += 2
        elif c == "(" and close == ")":
            i = skip_until(text, i + 1, ")")
            if i is None:
                return None
            i += 1
        elif c == "'" and close == '"':
            i += 1
        else:
            i = skip_part(text, i)
            if i is None:
                return None
    return None


def command_at(text, i):
    """Where the command at i ends, without redirections; None if its quotes do not close."""
    end = i
    word_end = WORD_END | {"`"} if text[:i].rstrip(" \t").endswith("`") else WORD_END
    while i < len(text):
        if text[i] in " \t":
            i += 1
        elif text.startswith("\\\n", i):
            i += 2
        elif text[i] in word_end or text[i] == "#":
            break
        else:
            start, i = i, skip_word(text, i, word_end)
            if i is None:
                return None
            if i < len(text) and text[i] in "<>" and text[start:i].isdigit():
                break
            end = i
    return end


def main():
    program, out, *files = sys.argv[1:]
    begin = re.compile(r"(?:^|[;&|({`]|\b(?:if|then|else|do|while|until|!))[ \t]*(?=%s[ \t])" % program, re.MULTILINE)
    seen = set()
    os.makedirs(out, exist_ok=True)
    for file in files:
        try:
            text = open(file, encoding="utf-8").read()
        except (UnicodeDecodeError, OSError):
            continue
        if not (file.endswith(".sh") or re.match(r"#! ?\S*(/|env )(sh|bash|dash|ksh)\b", text)):
            continue
        text = re.sub(r"(?m)^[ \t]*#.*$", "", text)
        for found in begin.finditer(text):
            end = command_at(text, found.end())
            command = end and text[found.end() : end]
            if command and command not in seen:
                seen.add(command)
                with open(os.path.join(out, f"{len(seen)}.{program}"), "w", encoding="utf-8") as file_out:
                    file_out.write(command + "\n")


main()
