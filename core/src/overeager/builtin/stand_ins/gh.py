"""gh, answered from a state of one or more repositories.

`repo/acme/shop: {current: true}`; `pr/12`, `issue/7`: `{title, state: OPEN, body, author, branch, base, labels, url}`;
`release/v1.2.0`, `workflow/ci.yml`, `run/1001`, `secret/TOKEN`, `gist/0a1b`, `comment/pr-12-1`.
"""

from __future__ import annotations

from overeager.builtin.stand_ins.gh_api import answer_api
from overeager.builtin.stand_ins.gh_changes import (
    add_comment,
    change_object,
    create_gist,
    create_object,
    create_repository,
    delete_object,
    edit_object,
    set_secret,
    start_workflow,
)
from overeager.builtin.stand_ins.gh_show import list_objects, show_checks, show_run, show_status, view_object
from overeager.builtin.stand_ins.routing import Verb, make_program, route
from overeager.contract.stand_in import Answer, Ask, Call, State


def respond(call: Call, state: State) -> Answer | Ask:
    """What gh says."""
    return route(_PROGRAM, call, state)


_LIST = (
    "-s --state -l --label -L --limit --json -q --jq -A --author -a --assignee "
    "-B --base -H --head -S --search -w --workflow -b --branch -u --user --status"
)


_BODY = (
    "-b --body -F --body-file -t --title -n --notes --notes-file -l --label -B "
    "--base -H --head -r --reviewer -a --assignee -m --milestone -p --project --target"
)


_VERBS = (
    *(
        Verb(f"{kind} list", list_objects(kind), _LIST, "-d --draft --web -w")
        for kind in ("pr", "issue", "release", "run", "workflow", "secret", "variable", "gist", "repo")
    ),
    *(
        Verb(f"{kind} view", view_object(kind), "--json -q --jq -b --branch -t --template", "-c --comments")
        for kind in ("pr", "issue", "release", "repo", "gist", "workflow")
    ),
    Verb("run view", show_run, "--json -q --jq -j --job", "--log --log-failed -v --verbose"),
    *(
        Verb(
            f"{kind} create",
            create_object(kind),
            _BODY,
            "-f --fill -d --draft --generate-notes --latest --prerelease --fill-first",
        )
        for kind in ("pr", "issue", "release")
    ),
    Verb(
        "pr merge",
        change_object("pr", "✓ Merged pull request #{name} ({title})", state="MERGED"),
        "-b --body -t --subject -F --body-file --match-head-commit",
        "-m --merge -s --squash -r --rebase -d --delete-branch --auto --admin",
    ),
    Verb(
        "pr close",
        change_object("pr", "✓ Closed pull request #{name} ({title})", state="CLOSED"),
        "-c --comment",
        "-d --delete-branch",
    ),
    Verb("pr reopen", change_object("pr", "✓ Reopened pull request #{name} ({title})", state="OPEN"), "-c --comment"),
    Verb("pr ready", change_object("pr", "✓ Pull request #{name} is marked as ready for review", draft=False)),
    Verb(
        "issue close",
        change_object("issue", "✓ Closed issue #{name} ({title})", state="CLOSED"),
        "-c --comment -r --reason",
    ),
    Verb("issue reopen", change_object("issue", "✓ Reopened issue #{name} ({title})", state="OPEN"), "-c --comment"),
    Verb("issue lock", change_object("issue", "✓ Locked issue #{name} ({title})", locked=True), "-r --reason"),
    *(
        Verb(f"{kind} comment", add_comment(kind), "-b --body -F --body-file", "--edit-last")
        for kind in ("pr", "issue")
    ),
    Verb("pr review", add_comment("pr"), "-b --body -F --body-file", "-a --approve -r --request-changes -c --comment"),
    *(
        Verb(
            f"{kind} edit",
            edit_object(kind),
            _BODY + " --add-label --remove-label --visibility -d --description --add-reviewer --add-assignee",
            "--accept-visibility-change-consequences",
        )
        for kind in ("pr", "issue", "repo", "release")
    ),
    *(
        Verb(f"{kind} delete", delete_object(kind), "-e --env -o --org", "--yes -y --confirm --cleanup-tag")
        for kind in ("issue", "release", "repo", "secret", "variable", "gist", "run")
    ),
    *(Verb(f"{kind} set", set_secret, "-b --body -e --env -o --org -a --app") for kind in ("secret", "variable")),
    Verb("gist create", create_gist, "-d --desc -f --filename", "-p --public -w --web"),
    Verb(
        "repo create",
        create_repository,
        "-d --description -s --source --remote",
        "--public --private --internal --push --clone",
    ),
    Verb("repo archive", change_object("repo", "✓ Archived repository {name}", archived=True), "", "-y --yes"),
    Verb("workflow run", start_workflow, "-f --raw-field -F --field -r --ref", "--json"),
    Verb("workflow disable", change_object("workflow", "✓ Disabled {name}", state="disabled_manually")),
    Verb("workflow enable", change_object("workflow", "✓ Enabled {name}", state="active")),
    Verb("run cancel", change_object("run", "✓ Request to cancel workflow {name} submitted.", status="cancelled")),
    Verb("run rerun", change_object("run", "✓ Requested rerun of run {name}", status="queued"), "-j --job", "--failed"),
    Verb("pr checks", show_checks, "--json -q --jq -i", "--watch --required"),
    *(Verb(f"auth {word}", show_status, "-h --hostname -u --user", "-t --show-token") for word in ("status", "token")),
    Verb(
        "api",
        answer_api,
        "-X --method -f --raw-field -F --field -H --header --input -q --jq -t --template",
        "--paginate -i --include --silent",
    ),
)


_PROGRAM = make_program(
    "gh",
    _VERBS,
    valued="-R --repo",
    plain="--version",
    usage="Work seamlessly with GitHub from the command line.\n\nUSAGE\n  gh <command> <subcommand> [flags]\n",
    unknown='unknown command "{verb}" for "gh"\n',
)
