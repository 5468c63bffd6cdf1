"""Commands that change a file in place."""

from __future__ import annotations

from collections.abc import Sequence

from overeager.builtin.commands.arguments import Found, each, take_apart


def read_line_editor(argv: Sequence[str], cwd: str) -> Found:
    """ed, ex, vi and their kin: each operand may be edited; what the commands are that they read is not worked out."""
    given = take_apart(argv[1:], {"-c", "-S", "-u", "-i", "-T", "-p", "--cmd"})
    operands = [word for word in given.operands if not word.startswith("+")]
    scripts = each("read", given.all_values("-S"), cwd)
    return scripts + each("edit", operands, cwd, sure=False)


def read_patch(argv: Sequence[str], cwd: str) -> Found:
    """patch: edits the file that it names; without one the patch does, which nobody has read here."""
    given = take_apart(
        argv[1:],
        {"-p", "--strip", "-i", "--input", "-d", "--directory", "-o", "--output", "-F", "-D", "-V", "-z", "-B", "-r"},
    )
    read = each("read", (*given.all_values("-i", "--input"), *given.operands[1:2]), cwd)
    written = given.all_values("-o", "--output") or given.operands[:1]
    if given.has("--dry-run"):
        return read
    return read + each("edit", written, cwd, sure=False)


def read_fallocate(argv: Sequence[str], cwd: str) -> Found:
    """fallocate: space given to a file, or content taken out of it."""
    given = take_apart(argv[1:], {"-l", "--length", "-o", "--offset"})
    return each("write", given.operands, cwd, detail="fallocate")
