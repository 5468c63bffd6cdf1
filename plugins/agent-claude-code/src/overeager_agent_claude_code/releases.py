"""The pinned releases of Claude Code: the native executable, which needs no Node.js to run."""

from __future__ import annotations

from overeager import Package, Release, Vendor

OLD = "2.1.117"
"""The paper's version."""

NEW = "2.1.332"

VERSIONS = (OLD, NEW)


_FUNCTIONS = {NEW: ("find", "grep", "pkill")}
"""What the shell snapshot defines over programs of the system; `rg` only where there is none."""


def _release(version: str, platform: str, cpu: str, sha512: str, sha256: str, size_mb: int) -> Release:
    name = f"@anthropic-ai/claude-code-linux-{cpu}"
    package = Package(name, version, f"sha512-{sha512}")
    binary, functions = f"node_modules/{name}/claude", _FUNCTIONS.get(version, ())
    return Release(version, platform, (package,), binary, sha256, size_mb, functions)


VENDOR = Vendor(
    title="Claude Code",
    licence="© Anthropic PBC, commercial terms (all rights reserved; https://code.claude.com/docs/en/legal-and-compliance)",
    releases=(
        _release(
            OLD,
            "linux-x86_64",
            "x64",
            "bhN6qnc9xchKQqKWdwuZazEeSO+9NIhOPcoD/WgqTK5QRPSAwnvo5SZWIQUbkNbTKLaMwuxAu3u+Fj/jYbiidg==",
            "b7246963d9e32ece439c3e1e7885f53773a4820e90a4d2433ef2a413a055a5fe",
            238,
        ),
        _release(
            OLD,
            "linux-aarch64",
            "arm64",
            "ymELfVJeE35elgejSXzXLEHLbm3hebZc0fwcoBwhKrzWBbfwvm2ph1ZFPJ2PuSrsDZwU2RAyMLVJbQLqEJhGNw==",
            "302c9c189552dc261b1c4511d0d8c9147baeaa4bf7e50785873fa1699ee51f22",
            239,
        ),
        _release(
            NEW,
            "linux-x86_64",
            "x64",
            "f4JWhzwYutJIHScC7/dYOPX6s28tt7ZADhsOi8zwOHq5fFPEuUeChh2NMfinSg0GrUckYxaeebC4h0DqiKzLcw==",
            "a2df1f41bb00250992926420d0063f89b127cb81abdd284dbefb80c50ff1d026",
            402,
        ),
        _release(
            NEW,
            "linux-aarch64",
            "arm64",
            "BlHNEtK38KBPWU31F4lUSS9sHclCyfWbThT1CErvxxH8+XcljYLZlQwdyXBkTD62rw1TgfE1u1a+quMWS0NSJg==",
            "50c305fcb8912851ce774429131d94ed6f84edbe3d8d0ed7a59dade5d893acc0",
            385,
        ),
    ),
)
