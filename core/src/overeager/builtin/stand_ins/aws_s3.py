"""aws s3: buckets and objects; what is copied up is read by the command itself, what is copied down written by it."""

from __future__ import annotations

import fnmatch
import posixpath

from overeager.builtin.stand_ins.routing import Request, Verb
from overeager.builtin.stand_ins.words import drop, number, objects, put, text
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Ask, State

_DATE = "2026-01-02 09:12:44"
_MOST_KEPT = 65536


def _apart(address: str) -> tuple[str, str]:
    """Bucket and key of `s3://BUCKET/KEY`."""
    bucket, _, key = address.removeprefix("s3://").partition("/")
    return bucket, key


def _is_remote(word: str) -> bool:
    return word.startswith("s3://")


def _no_bucket(operation: str, bucket: str) -> Answer:
    words = (
        f"An error occurred (NoSuchBucket) when calling the {operation} "
        f"operation: The specified bucket does not exist: {bucket}"
    )
    return Answer(stderr=f"\n{words}\n", status=254)


def _below(state: State, bucket: str, prefix: str) -> list[str]:
    return sorted(name for name in objects(state, "object") if name.startswith(f"{bucket}/{prefix}"))


def _list(request: Request) -> Answer:
    """s3 ls."""
    if not request.operands:
        return Answer("".join(f"{_DATE} {bucket}\n" for bucket in objects(request.state, "bucket")))
    bucket, prefix = _apart(request.operands[0])
    if bucket not in objects(request.state, "bucket"):
        return _no_bucket("ListObjectsV2", bucket)
    base = prefix if not prefix or prefix.endswith("/") else posixpath.dirname(prefix) + "/" if "/" in prefix else ""
    lines: dict[str, None] = {}
    for name in _below(request.state, bucket, prefix):
        key = name.removeprefix(f"{bucket}/")
        rest = key if request.has("--recursive") else key.removeprefix(base)
        if "/" in rest and not request.has("--recursive"):
            lines[f"                           PRE {rest.partition('/')[0]}/"] = None
        else:
            lines[f"{_DATE} {number(objects(request.state, 'object')[name], 'size', 1024):>10} {rest}"] = None
    return Answer("".join(f"{line}\n" for line in lines), status=0 if lines or not prefix else 1)


def _make_bucket(request: Request) -> Answer:
    bucket, _ = _apart(request.operands[0] if request.operands else "")
    if bucket in objects(request.state, "bucket") or not bucket:
        return Answer(
            stderr=f"make_bucket failed: s3://{bucket} An error occurred (BucketAlreadyOwnedByYou)\n", status=1
        )
    return Answer(f"make_bucket: {bucket}\n", state=put(request.state, "bucket", bucket))


def _remove_bucket(request: Request) -> Answer:
    bucket, _ = _apart(request.operands[0] if request.operands else "")
    if bucket not in objects(request.state, "bucket"):
        return _no_bucket("DeleteBucket", bucket)
    inside = _below(request.state, bucket, "")
    if inside and not request.has("--force"):
        words = (
            "An error occurred (BucketNotEmpty) when calling the DeleteBucket "
            "operation: The bucket you tried to delete is not empty"
        )
        return Answer(stderr=f"remove_bucket failed: s3://{bucket} {words}\n", status=1)
    said = "".join(f"delete: s3://{name}\n" for name in inside) + f"remove_bucket: {bucket}\n"
    return Answer(said, state=drop(drop(request.state, "object", inside), "bucket", (bucket,)))


def _passes(request: Request, path: str) -> bool:
    """--exclude and --include; excluded is what no later --include takes back."""
    kept = True
    for option, pattern in request.given.values:
        if option in ("--exclude", "--include") and fnmatch.fnmatchcase(path, pattern):
            kept = option == "--include"
    return kept


def _remove(request: Request) -> Answer:
    """s3 rm."""
    bucket, key = _apart(request.operands[0] if request.operands else "")
    if bucket not in objects(request.state, "bucket"):
        return _no_bucket("DeleteObject", bucket)
    if request.has("--recursive"):
        gone = [
            name
            for name in _below(request.state, bucket, key)
            if _passes(request, name.removeprefix(f"{bucket}/{key}").lstrip("/"))
        ]
    else:
        gone = [f"{bucket}/{key}"]
    dry = "(dryrun) " if request.has("--dryrun") else ""
    said = "".join(f"{dry}delete: s3://{name}\n" for name in gone)
    return Answer(said, state=None if dry else drop(request.state, "object", gone))


def _copy(request: Request) -> Answer | Ask:
    """s3 cp, s3 mv: one object, one file, or with --recursive what lies below a prefix."""
    if len(request.operands) != 2:
        return Answer(stderr="aws: error: the following arguments are required: paths\n", status=252)
    source, target = request.operands
    if not _is_remote(source) and not _is_remote(target):
        return Answer(
            stderr=(
                "\nusage: aws s3 cp <LocalPath> <S3Uri> or <S3Uri> "
                "<LocalPath> or <S3Uri> <S3Uri>\nError: Invalid argument type\n"
            ),
            status=252,
        )
    for end in (source, target):
        if _is_remote(end) and _apart(end)[0] not in objects(request.state, "bucket"):
            return _no_bucket("CopyObject", _apart(end)[0])
    if request.has("--recursive") and not _is_remote(source):
        return _sync(request)
    return _upload(request, source, target) if not _is_remote(source) else _download(request, source, target)


def _key_for(target: str, name: str) -> str:
    bucket, key = _apart(target)
    return f"{bucket}/{key}{posixpath.basename(name)}" if not key or key.endswith("/") else f"{bucket}/{key}"


def _upload(request: Request, source: str, target: str) -> Answer | Ask:
    if source == "-" and request.call.stdin is None:
        return Ask(stdin=True)
    if source != "-" and source not in request.call.files:
        return Ask(files=(source,))
    data = request.call.stdin if source == "-" else request.call.files[source]
    if data is None:
        return Answer(stderr=f"\nThe user-provided path {source} does not exist.\n", status=255)
    name = _key_for(target, source)
    dry = "(dryrun) " if request.has("--dryrun") else ""
    state = _store(request.state, name, data)
    verb = "move" if request.verb == "s3 mv" else "upload"
    known = request.verb != "s3 mv"  # the file would be gone
    return Answer(f"{dry}{verb}: {source} to s3://{name}\n", state=None if dry else state, known=known)


def _store(state: State, name: str, data: bytes) -> State:
    body: Json = data[:_MOST_KEPT].decode("utf-8", "replace")
    return put(state, "object", name, size=len(data), body=body)


def _download(request: Request, source: str, target: str) -> Answer:
    """Down into files, or from one place in the store to another."""
    bucket, key = _apart(source)
    names = _below(request.state, bucket, key) if request.has("--recursive") else [f"{bucket}/{key}"]
    names = [name for name in names if _passes(request, name.removeprefix(f"{bucket}/{key}").lstrip("/"))]
    if not request.has("--recursive") and names[:1] and names[0] not in objects(request.state, "object"):
        return Answer(
            stderr=(
                "fatal error: An error occurred (404) when calling "
                f'the HeadObject operation: Key "{key}" does not exist\n'
            ),
            status=1,
        )
    state, said, writes = request.state, "", []
    for name in names:
        one = objects(request.state, "object")[name]
        rest = (
            name.removeprefix(f"{bucket}/{key}").lstrip("/") if request.has("--recursive") else posixpath.basename(name)
        )
        if _is_remote(target):
            place = (
                f"{'/'.join(_apart(target)).rstrip('/')}/{rest}"
                if request.has("--recursive")
                else _key_for(target, name)
            )
            state = put(state, "object", place, **one)
            said += f"copy: s3://{name} to s3://{place}\n"
        elif target == "-":
            said += text(one, "body")
        else:
            place = (
                posixpath.join(target, rest) if target.endswith(("/", ".")) or request.has("--recursive") else target
            )
            writes.append((place, text(one, "body").encode("utf-8", "surrogateescape")))
            said += f"download: s3://{name} to {place}\n"
    if request.verb == "s3 mv":
        state = drop(state, "object", names)
    folders = tuple((f"{posixpath.dirname(place)}/", b"") for place, _ in writes if "/" in place.strip("/"))
    if request.has("--dryrun"):
        return Answer(said)
    return Answer(said, state=state, writes=(*dict.fromkeys(folders), *writes))


def _sync(request: Request) -> Answer | Ask:
    """s3 sync, and cp --recursive of a folder: one level of files; --delete takes away what the source lacks."""
    if len(request.operands) != 2:
        return Answer(stderr="aws: error: the following arguments are required: paths\n", status=252)
    source, target = request.operands
    for end in (source, target):
        if _is_remote(end) and _apart(end)[0] not in objects(request.state, "bucket"):
            return _no_bucket("ListObjectsV2", _apart(end)[0])
    if _is_remote(source):
        values = (*request.given.values,)
        return _download(
            request._replace(given=request.given._replace(flags=(*request.given.flags, "--recursive"), values=values)),
            source,
            target,
        )
    if source not in request.call.folders:
        return Ask(folders=(source,))
    names = request.call.folders[source]
    if names is None:
        return Answer(stderr=f"\nThe user-provided path {source} does not exist.\n", status=255)
    paths = {name: posixpath.join(source, name) for name in names if _passes(request, name)}
    missing = tuple(path for path in paths.values() if path not in request.call.files)
    if missing:
        return Ask(files=missing)
    return _push(request, {name: request.call.files[path] for name, path in paths.items()}, target)


def _push(request: Request, files: dict[str, bytes | None], target: str) -> Answer:
    base = "/".join(_apart(target)).rstrip("/")
    state, said = request.state, ""
    dry = "(dryrun) " if request.has("--dryrun") else ""
    for name, data in files.items():
        if data is not None:
            state = _store(state, f"{base}/{name}", data)
            said += f"{dry}upload: {name} to s3://{base}/{name}\n"
    if request.has("--delete"):
        gone = [
            name
            for name in objects(request.state, "object")
            if name.startswith(f"{base}/") and name.removeprefix(f"{base}/") not in files
        ]
        state = drop(state, "object", gone)
        said += "".join(f"{dry}delete: s3://{name}\n" for name in gone)
    # Folders in the folder are not gone into.
    return Answer(said, state=None if dry else state, known=all(data is not None for data in files.values()))


_FILTER = "--exclude --include --acl --storage-class --sse --content-type"
_FLAGS = (
    "--recursive --dryrun --quiet --only-show-errors --no-progress "
    "--force --delete --human-readable --summarize --exact-timestamps"
)
S3_VERBS = (
    Verb("s3 ls", _list, "", _FLAGS),
    Verb("s3 mb", _make_bucket),
    Verb("s3 rb", _remove_bucket, "", _FLAGS),
    Verb("s3 rm", _remove, _FILTER, _FLAGS),
    Verb("s3 cp", _copy, _FILTER, _FLAGS),
    Verb("s3 mv", _copy, _FILTER, _FLAGS),
    Verb("s3 sync", _sync, _FILTER, _FLAGS),
)
