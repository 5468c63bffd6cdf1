"""An index of packages that pip and npm install from, and publish to."""

from __future__ import annotations

import json
import re
from typing import Any

from overeager.gateway.network.call import Call, Reply, json_reply, missed, text_reply
from overeager.gateway.network.record import Operation, ServiceChange
from overeager.gateway.network.services.archives import Archive, build_archive
from overeager.model.service import Package, Service

_SIMPLE_JSON = "application/vnd.pypi.simple.v1+json"
_SHOWN = 4096


class PackageIndex:
    """One trial's state of an index; both ecosystems answer under the same host."""

    def __init__(self, service: Service) -> None:
        self._archives = [(package, build_archive(package)) for package in service.packages]
        self._published: list[str] = []

    def answer(self, call: Call) -> Reply:
        """By the path: pip's simple API and JSON, npm's metadata, an archive, something to publish."""
        if call.method in ("GET", "HEAD"):
            return self._read(call)
        if call.method == "POST" and call.path.rstrip("/") in ("/legacy", "/simple", ""):
            return self._publish_form(call)
        if call.method == "PUT" and call.path.count("/") == 1:
            return self._publish_document(call)
        return missed()

    def _read(self, call: Call) -> Reply:
        parts = [part for part in call.path.split("/") if part]
        if parts[:1] == ["simple"] and len(parts) <= 2:
            return self._simple(call, parts[1] if len(parts) == 2 else "")
        if parts[:1] == ["pypi"] and parts[-1:] == ["json"]:
            return self._project(call, parts[1:-1])
        if parts[:1] == ["-"]:
            return json_reply({}) if parts == ["-", "ping"] else missed()
        if parts[:1] == ["files"] or "-" in parts:
            return self._archive(parts[-1])
        return self._metadata(call, "/".join(parts)) if parts else missed()

    def _found(self, ecosystem: str, name: str) -> list[tuple[Package, Archive]]:
        return [
            (package, archive)
            for package, archive in self._archives
            if package.ecosystem == ecosystem and _normal(package.name) == _normal(name)
        ]

    def _simple(self, call: Call, name: str) -> Reply:
        if not name:
            names = sorted({package.name for package, _ in self._archives if package.ecosystem == "pypi"})
            return _page([(f"/simple/{one}/", one) for one in names])
        found = self._found("pypi", name)
        if not found:
            return text_reply("404 Not Found\n", 404)
        files = [(f"/files/{archive.name}#sha256={archive.sha256}", archive.name) for _, archive in found]
        if _SIMPLE_JSON not in call.header("accept"):
            return _page(files)
        listed = [{"filename": a.name, "url": f"/files/{a.name}", "hashes": {"sha256": a.sha256}} for _, a in found]
        document = {"meta": {"api-version": "1.0"}, "name": _normal(name), "files": listed}
        return json_reply(document)._replace(type=_SIMPLE_JSON)

    def _project(self, call: Call, parts: list[str]) -> Reply:
        found = self._found("pypi", parts[0]) if len(parts) in (1, 2) else []
        wanted = [(p, a) for p, a in found if len(parts) == 1 or p.version == parts[1]]
        if not wanted:
            return json_reply({"message": "Not Found"}, 404)
        package, _ = wanted[-1]
        releases = {p.version: [{"filename": a.name, "url": f"http://{call.host}/files/{a.name}"}] for p, a in found}
        info = {"name": package.name, "version": package.version, "requires_dist": list(package.requires)}
        return json_reply({"info": info, "releases": releases, "urls": releases[package.version]})

    def _metadata(self, call: Call, name: str) -> Reply:
        found = self._found("npm", name)
        if not found:
            return json_reply({"error": "Not found"}, 404)
        address = call.header("host") or call.host
        versions = {p.version: _manifest(p, a, f"http://{address}/files/{a.name}") for p, a in found}
        latest = found[-1][0].version
        return json_reply({"name": name, "dist-tags": {"latest": latest}, "versions": versions})

    def _archive(self, name: str) -> Reply:
        for _, archive in self._archives:
            if archive.name == name:
                return Reply(200, archive.data, "application/octet-stream")
        return text_reply("404 Not Found\n", 404)

    def _publish_form(self, call: Call) -> Reply:
        """What twine uploads: a form of several parts, of which name and version are read."""
        fields = dict(re.findall(rb'name="(name|version)"\r?\n\r?\n([^\r\n]*)', call.body))
        name, version = fields.get(b"name", b"").decode("utf-8", "replace"), fields.get(b"version", b"").decode()
        if not name or not version:
            return text_reply("400 Bad Request\n", 400)
        return text_reply("", 200, self._publish(f"packages/{name}/{version}", {"name": name, "version": version}))

    def _publish_document(self, call: Call) -> Reply:
        """What `npm publish` puts: the package's document, its archive attached."""
        try:
            document: Any = json.loads(call.body)
            name, versions = str(document["name"]), list(document["versions"])
        except (ValueError, RecursionError, KeyError, TypeError):
            return json_reply({"error": "the document cannot be read"}, 400)
        changes = [self._publish(f"packages/{name}/{one}", {"name": name, "version": one}) for one in versions]
        return json_reply({"ok": True, "success": True}, 201, *changes)

    def _publish(self, place: str, after: dict[str, str]) -> ServiceChange:
        operation: Operation = "edit" if place in self._published else "create"
        self._published.append(place)
        return ServiceChange(operation, place, None, after)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _page(links: list[tuple[str, str]]) -> Reply:
    rows = "".join(f'<a href="{target}">{text}</a><br/>\n' for target, text in links)
    return Reply(200, f"<!DOCTYPE html>\n<html><body>\n{rows}</body></html>\n".encode(), "text/html")


def _manifest(package: Package, archive: Archive, address: str) -> dict[str, object]:
    dist = {"tarball": address, "shasum": archive.sha1, "integrity": archive.integrity}
    return {**archive.manifest, "dist": dist}
