"""Commands that make, change, move and remove files."""

from __future__ import annotations

from collections.abc import Sequence

from overeager.builtin.commands.arguments import (
    Found,
    both_ends,
    each,
    inside,
    looks_like_file,
    path,
    place,
    reading,
    take_apart,
)


def read_rm(argv: Sequence[str], cwd: str) -> Found:
    """rm: each operand deleted; a tree with -r; with -f or -i status 0 does not prove that anything went."""
    given = take_apart(argv[1:])
    tree = given.has("-r", "-R", "--recursive")
    sure = not given.has("-f", "--force", "-i", "-I", "--interactive", "--help", "--version")
    return each("delete", given.operands, cwd, sure=sure, tree=tree)


def read_unlink(argv: Sequence[str], cwd: str) -> Found:
    """unlink, rmdir: each operand deleted."""
    given = take_apart(argv[1:])
    return each("delete", given.operands, cwd, sure=not given.has("--ignore-fail-on-non-empty"))


def read_shred(argv: Sequence[str], cwd: str) -> Found:
    """shred: overwrites, and with -u deletes."""
    given = take_apart(argv[1:], {"-n", "--iterations", "-s", "--size"})
    kind = each("delete", given.operands, cwd) if given.has("-u", "--remove") else ()
    return each("write", given.operands, cwd) + kind


def _destinations(operands: Sequence[str], folder: str | None) -> list[tuple[str, str]]:
    """Pairs of source and destination; what may be a folder gets the source's name when the form proves it."""
    if folder is not None:
        return [(source, inside(folder, source)) for source in operands]
    *sources, last = operands
    if len(sources) == 1 and not last.endswith("/") and last not in (".", "..", "~"):
        return [(sources[0], last)]
    return [(source, inside(last, source)) for source in sources]


def read_cp(argv: Sequence[str], cwd: str) -> Found:
    """cp: reads each source, writes its copy; a tree with -r or -a."""
    given = take_apart(argv[1:], {"-t", "--target-directory", "-S", "--suffix"})
    folder = given.value("-t", "--target-directory")
    if len(given.operands) < (1 if folder else 2):
        return ()
    tree = given.has("-r", "-R", "-a", "--recursive", "--archive")
    sure = not given.has("-n", "--no-clobber", "-u", "--update", "-i", "--interactive")
    found: Found = ()
    for source, destination in _destinations(given.operands, folder):
        if given.has("-l", "--link", "-s", "--symbolic-link"):
            found += (both_ends("link", source, destination, cwd, sure=sure),)
            continue
        found += (reading("read", path(source, cwd, tree), sure=sure),)
        found += (reading("write", path(destination, cwd, tree), detail="copy", sure=sure),)
    return found


def read_mv(argv: Sequence[str], cwd: str) -> Found:
    """mv: moves each source."""
    given = take_apart(argv[1:], {"-t", "--target-directory", "-S", "--suffix"})
    folder = given.value("-t", "--target-directory")
    if len(given.operands) < (1 if folder else 2):
        return ()
    sure = not given.has("-n", "--no-clobber", "-u", "--update", "-i", "--interactive")
    pairs = _destinations(given.operands, folder)
    return tuple(both_ends("move", source, destination, cwd, sure=sure) for source, destination in pairs)


def read_ln(argv: Sequence[str], cwd: str) -> Found:
    """ln: a link from each target to its name; the text of a symbolic link is relative to the link."""
    given = take_apart(argv[1:], {"-t", "--target-directory", "-S", "--suffix"})
    folder = given.value("-t", "--target-directory")
    if not given.operands:
        return ()
    single = len(given.operands) == 1 and folder is None
    pairs = [(given.operands[0], inside(".", given.operands[0]))] if single else _destinations(given.operands, folder)
    found: Found = ()
    for source, destination in pairs:
        start = source
        if given.has("-s", "--symbolic") and not source.startswith(("/", "~")):
            start = place(source, place(destination, cwd).rpartition("/")[0] or "/")
        found += (both_ends("link", start, destination, cwd),)
    return found


def read_mkdir(argv: Sequence[str], cwd: str) -> Found:
    """mkdir: each folder created; with -p it may have been there."""
    given = take_apart(argv[1:], {"-m", "--mode"})
    return each("create", given.operands, cwd, detail="directory", sure=not given.has("-p", "--parents"))


def read_touch(argv: Sequence[str], cwd: str) -> Found:
    """touch: a file created, or only its times set."""
    given = take_apart(argv[1:], {"-d", "--date", "-t", "-r", "--reference"})
    return each("create", given.operands, cwd, detail="touch", sure=False)


def read_truncate(argv: Sequence[str], cwd: str) -> Found:
    """truncate: each file written."""
    given = take_apart(argv[1:], {"-s", "--size", "-r", "--reference"})
    return each("write", given.operands, cwd, detail="truncate", sure=not given.has("-c", "--no-create"))


def read_tee(argv: Sequence[str], cwd: str) -> Found:
    """tee: each operand written."""
    given = take_apart(argv[1:])
    return each("write", given.operands, cwd, detail="append" if given.has("-a", "--append") else "")


def read_dd(argv: Sequence[str], cwd: str) -> Found:
    """dd: `if=` read, `of=` written; devices are nobody's files."""
    found: Found = ()
    for word in argv[1:]:
        name, _, value = word.partition("=")
        if name in ("if", "of") and value and not value.startswith("/dev/"):
            found += (reading("read" if name == "if" else "write", path(value, cwd)),)
    return found


def read_chmod(argv: Sequence[str], cwd: str) -> Found:
    """chmod: the mode of each operand; a tree with -R."""
    words = [word for word in argv[1:] if not _is_mode_option(word)]
    dashed = next((word for word in argv[1:] if _is_mode_option(word)), None)
    given = take_apart(words, {"--reference"})
    reference = given.value("--reference")
    mode = dashed or reference or (given.operands[0] if given.operands else "")
    files = given.operands if dashed or reference else given.operands[1:]
    return each("mode", files, cwd, detail=mode, tree=given.has("-R", "--recursive"))


def _is_mode_option(word: str) -> bool:
    """`-w` and the like are modes to chmod, not options."""
    return len(word) > 1 and word[0] == "-" and set(word[1:]) <= set("rwxXstugo")


def read_chown(argv: Sequence[str], cwd: str) -> Found:
    """chown: the owner of each operand."""
    given = take_apart(argv[1:], {"--reference", "--from"})
    files = given.operands if given.has("--reference") else given.operands[1:]
    return each("mode", files, cwd, detail="owner", tree=given.has("-R", "--recursive"))


def read_install(argv: Sequence[str], cwd: str) -> Found:
    """install: copies with a mode, or (-d) makes folders."""
    given = take_apart(argv[1:], {"-m", "--mode", "-o", "--owner", "-g", "--group", "-t", "--target-directory"})
    if given.has("-d", "--directory"):
        return each("create", given.operands, cwd, detail="directory", sure=False)
    folder = given.value("-t", "--target-directory")
    if len(given.operands) < (1 if folder else 2):
        return ()
    found: Found = ()
    for source, destination in _destinations(given.operands, folder):
        found += (reading("read", path(source, cwd)), reading("write", path(destination, cwd), detail="copy"))
    return found


def read_rsync(argv: Sequence[str], cwd: str) -> Found:
    """rsync, scp: local sources read, local destination written, `HOST:PATH` connected to."""
    valued = {"-e", "--rsh", "--exclude", "--include", "-i", "-P", "-o", "-F", "-l", "-c", "-S", "-J"}
    given = take_apart(argv[1:], valued)
    if len(given.operands) < 2:
        return ()
    *sources, last = given.operands
    tree = given.has("-r", "-a", "--recursive", "--archive")
    dry = given.has("-n", "--dry-run")
    found: Found = ()
    for word in sources:
        found += _remote(word) or (reading("read", path(word, cwd, tree), sure=not dry),)
    if dry:
        return found
    found += _remote(last) or (reading("write", path(last, cwd, tree), detail="copy", sure=False),)
    if given.has("--remove-source-files"):
        found += each("delete", [word for word in sources if not _remote(word)], cwd, sure=False, tree=tree)
    if given.has("--delete", "--delete-after", "--delete-before", "--delete-excluded") and not _remote(last):
        found += (reading("delete", path(last, cwd, tree=True), sure=False),)
    return found


def _remote(word: str) -> Found:
    from overeager.model.action import Target

    head, colon, _ = word.partition(":")
    if not colon or "/" in head:
        return ()
    return (reading("connect", Target(type="address", value=f"{head.rpartition('@')[2]}:22"), detail=word),)


def read_tar(argv: Sequence[str], cwd: str) -> Found:
    """tar: reads what it packs, writes what it unpacks; the letters may stand without a dash."""
    words = list(argv[1:])
    if words and not words[0].startswith("-"):
        words[0] = f"-{words[0]}"
    given = take_apart(words, {"-f", "--file", "-C", "--directory", "--exclude", "-T", "--files-from", "-X"})
    folder = place(given.value("-C", "--directory") or ".", cwd)
    archive = given.value("-f", "--file")
    packed = () if archive in (None, "-") else (archive or "",)
    if given.has("-x", "--extract", "--get"):
        if given.has("-O", "--to-stdout"):
            return each("read", packed, cwd)
        unpacked = reading("write", path(folder, folder, tree=True), detail="unpack", sure=False)
        return (*each("read", packed, cwd), unpacked)
    if given.has("-c", "--create", "-r", "-u"):
        # What it excludes is not worked out, so that packing a tree proves nothing of one file in it.
        named = [word for word in given.operands if looks_like_file(word)]
        swept = [word for word in given.operands if not looks_like_file(word)]
        read = each("read", named, folder) + each("search", swept, folder, detail="pack", sure=False, tree=True)
        gone = each("delete", given.operands, folder, sure=False, tree=True) if given.has("--remove-files") else ()
        return read + each("write", packed, cwd) + gone
    return each("read", packed, cwd)
