"""Reads `ninja -t deps`; prints a line "KEY SOURCE" for each source of the core that it compiled.

KEY covers the contents of every file of ours that the source includes, the names of all others (they live in folders
that are named after their content), and the rules. It is the same in every checkout. Tests are left out: the test
framework's macros cost clang-tidy more time than everything that ships, and the compilers' warnings cover them.
"""

import hashlib
import pathlib
import sys


def records(lines, folder):
    """Yields the list of files of each object: its source first, as ninja records it."""
    files = []
    for line in lines:
        if line.startswith("    "):
            files.append((folder / line.strip()).resolve())
        elif files:
            yield files
            files = []
    if files:
        yield files


def main():
    project, folder, rules = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    digests = {}
    for files in records(sys.stdin, folder):
        source = files[0]
        if source.suffix != ".cc" or project / "src" not in source.parents:
            continue
        key = hashlib.sha256(rules.encode())
        for file in sorted(files):
            ours = project in file.parents
            if ours and file not in digests:
                digests[file] = hashlib.sha256(file.read_bytes()).digest()
            name = file.relative_to(project) if ours else file
            key.update(str(name).encode() + b"\0" + digests.get(file, b""))
        print(key.hexdigest(), source)


main()
