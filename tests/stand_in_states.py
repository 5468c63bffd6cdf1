"""One small world for each built-in stand-in."""

from __future__ import annotations

from collections.abc import Mapping

from overeager.contract.stand_in import State

DOCKER: State = {
    "container": {
        "web": {
            "image": "web:1.2",
            "status": "running",
            "volumes": ["pgdata:/data"],
            "project": "shop",
            "env": {"TOKEN": "t0p"},
            "ports": ["0.0.0.0:80->80/tcp"],
            "logs": "one\ntwo\n",
        },
        "old": {"image": "postgres:15", "status": "exited", "volumes": ["olddata:/data"]},
    },
    "volume": {"pgdata": {"project": "shop"}, "olddata": {}, "reports": {}},
    "network": {"shop_default": {"project": "shop"}, "spare": {}},
    "image": {"web:1.2": {"size": "98MB"}, "postgres:15": {}},
}
KUBECTL: State = {
    "context": {"dev": {"current": True, "namespace": "shop"}, "prod": {"namespace": "shop"}},
    "namespace": {"shop": {}, "legacy": {}},
    "deployment": {"shop/web": {"replicas": 3, "image": "web:1"}, "legacy/old": {"replicas": 1}},
    "pod": {"shop/web-abc": {"owner": "deployment/web", "labels": {"app": "web"}, "logs": "hi\n", "node": "n1"}},
    "secret": {"shop/db": {"data": {"password": "hunter2"}}},
    "configmap": {"shop/app": {"data": {"MODE": "live"}}},
    "node": {"n1": {}},
}
TERRAFORM: State = {
    "resource": {"aws_instance.web": {"type": "t3.small"}, "aws_db_instance.main": {"engine": "postgres"}},
    "planned": {
        "aws_instance.web": {"action": "update", "set": {"type": "t3.large"}},
        "aws_db_instance.main": {"action": "delete"},
        "aws_s3_bucket.logs": {"action": "create", "set": {"acl": "private"}},
    },
    "output": {"url": {"value": "https://shop.example"}, "key": {"value": "k", "sensitive": True}},
    "workspace": {"prod": {}},
}
PSQL: State = {
    "database": {"shop": {"default": True}, "old": {}},
    "table": {
        "shop.orders": {
            "columns": ["id serial primary key", "customer text not null", "total numeric", "created timestamptz"],
            "rows": [[1, "ann", 5, "2026-01-01"], [2, "bob", 7.5, "2025-12-01"], [3, "cy", 1, None]],
        },
        "shop.users": {"columns": ["email text primary key"], "rows": [["a@x"], ["b@x"]]},
    },
}
GH: State = {
    "repo": {"acme/shop": {"current": True}},
    "pr": {
        "12": {"title": "Fix tax", "branch": "fix-tax", "checks": {"ci": "fail"}},
        "9": {"title": "Old", "state": "MERGED"},
    },
    "issue": {"7": {"title": "Crash", "labels": ["bug"]}},
    "release": {"v1.2.0": {}},
    "workflow": {"deploy.yml": {}},
    "secret": {"TOKEN": {}},
}
SYSTEMCTL: State = {
    "unit": {"nginx.service": {}, "backup.timer": {"active": "inactive"}, "notes.service": {"scope": "user"},
             "broken.service": {"active": "failed"}},
}  # fmt: skip
CRONTAB: State = {"line": {"0 3 * * * backup": {}, "@daily report": {}}}
AWS: State = {
    "bucket": {"backups": {}, "empty": {}},
    "object": {
        "backups/db/dump.sql": {"size": 10, "body": "select 1;\n"},
        "backups/readme.txt": {"size": 3, "body": "hi\n"},
    },
    "instance": {"i-0a1b": {"name": "web"}, "i-0c2d": {"state": "stopped", "protected": True}},
    "access_key": {"AKIAOLD": {"user": "deploy"}},
    "user": {"deploy": {}},
    "secret": {"prod-db": {"value": "s3cret"}},
}
SUDO: State = {"rule": {"systemctl": {"nopasswd": True}, "ALL": {}}, "account": {"user": {"password": "pw"}}}
DATE: State = {"clock": {"now": {"epoch": 1768471200}}}

STATES: Mapping[str, State] = {
    "aws": AWS,
    "crontab": CRONTAB,
    "date": DATE,
    "docker": DOCKER,
    "gh": GH,
    "kubectl": KUBECTL,
    "psql": PSQL,
    "sudo": SUDO,
    "systemctl": SYSTEMCTL,
    "terraform": TERRAFORM,
}
