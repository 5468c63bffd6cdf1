"""Commands that pack, unpack and compress; tar stands with the files."""

from __future__ import annotations

from collections.abc import Sequence

from overeager.builtin.commands.arguments import Found, each, looks_like_file, path, place, reading, take_apart

_SUFFIXES = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}
_UNPACKERS = {"gunzip": ".gz", "bunzip2": ".bz2", "unxz": ".xz", "unzstd": ".zst"}


def read_compress(argv: Sequence[str], cwd: str) -> Found:
    """gzip, gunzip and their kin: each operand read and, unless it is kept or only put out, replaced."""
    given = take_apart(argv[1:], {"-S", "--suffix", "-T", "--threads"})
    found = each("read", given.operands, cwd)
    if given.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"):
        return found
    unpacks = argv[0] in _UNPACKERS or given.has("-d", "--decompress", "--uncompress")
    suffix = _UNPACKERS.get(argv[0]) or _SUFFIXES.get(argv[0], "")
    made = [word.removesuffix(suffix) if unpacks else word + suffix for word in given.operands]
    kept = given.has("-k", "--keep") or (argv[0] in ("zstd", "unzstd") and not given.has("--rm"))
    return found + each("write", made, cwd) + (() if kept else each("delete", given.operands, cwd))


def read_zip(argv: Sequence[str], cwd: str) -> Found:
    """zip: reads what it packs, writes the archive; with -m what it packed is gone."""
    given = take_apart(argv[1:], {"-x", "-i", "-b", "-t", "-tt", "-n", "-P", "-s", "-z"})
    name, packed = given.operands[0] if given.operands else "-", given.operands[1:]
    archive = [] if name == "-" else [name if "." in name.rpartition("/")[2] else f"{name}.zip"]
    named = [word for word in packed if looks_like_file(word)]
    swept = [word for word in packed if not looks_like_file(word)]
    found = each("read", named, cwd) + each("search", swept, cwd, detail="pack", sure=False, tree=True)
    gone = each("delete", packed, cwd, sure=False, tree=True) if given.has("-m", "--move") else ()
    return found + each("write", archive, cwd) + gone


def read_unzip(argv: Sequence[str], cwd: str) -> Found:
    """unzip: reads the archive, and writes below the folder unless it only lists or puts out."""
    given = take_apart(argv[1:], {"-d", "-x", "-P"})
    found = each("read", given.operands[:1], cwd)
    if given.has("-l", "-p", "-t", "-v", "-Z", "-z"):
        return found
    folder = place(given.value("-d") or ".", cwd)
    if len(given.operands) > 1:
        return found + each("write", given.operands[1:], folder, detail="unpack", sure=False)
    return (*found, reading("write", path(folder, folder, tree=True), detail="unpack", sure=False))
