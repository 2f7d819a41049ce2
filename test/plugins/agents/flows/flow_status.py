"""What a flow must tell, written from the contract's words alone and from no line of the daemon.

Prints JSON lines: a flow with its scoped primitives, and what it is. Where the words are silent they permit several
answers; docs/rules/flows.md says which of them was chosen, and this fails where that is none of them.

    flow_status.py small             every small combination
    flow_status.py drawn SEED COUNT  larger ones, which hypothesis draws
"""
import itertools
import json
import sys

RUN_STATUSES = [
    "queued", "running", "waiting_for_approval", "waiting_for_user_question",
    "completed", "failed", "interrupted", "cancelled",
]
TASK_STATUSES = ["pending", "in_progress", "blocked", "completed", "failed", "cancelled"]
FLOW_STATUSES = [
    "pending", "cancelled", "failed", "waiting", "running", "succeeded", "interrupted", "unknown",
]
PRIMITIVES = ["run", "task", "agent", "approval", "question", "schedule", "output", "flow"]

# What the words leave open, and what the rules chose.
SILENCES = {
    "missing-child": "is a flow unknown if a run of an agent is gone: no, only the root is referred to by its id",
    "evidence-status": "what a flow is whose work is complete while evidence is missing: waiting",
    "evidence-attached": "is a required primitive met by being in the projection: no, only by being attached",
    "empty-allow": "does an empty list of allowed tools allow all: yes",
    "phase": "what a phase that requires nothing is before the success: pending; blocked where the flow has ended",
    "phase-missing": "when a phase that lacks evidence is blocked: where nothing works on the flow any more",
    "contract-early": "does the contract pass while the work is not yet complete: yes, if nothing is amiss so far",
}


def breaches(policy, run, empty_allows_all):
    """Whether a completed run used a blocked or a non-allowed tool under a policy that is enforced."""
    if not policy or not policy["enforce"] or run["status"] != "completed":
        return False
    allow, deny = policy.get("allow"), policy.get("deny") or []
    for tool in run["tools"]:
        if tool in deny:
            return True
        limited = allow is not None and (len(allow) > 0 or not empty_allows_all)
        if limited and tool not in allow:
            return True
    return False


def work(flow, empty_allows_all, child_may_be_missing):
    """The table of the contract, in the order of precedence: the status by the scoped runs and tasks alone."""
    runs, tasks = flow["runs"], [task["status"] for task in flow["tasks"]]
    if not runs:
        return "cancelled" if flow["cancelled"] else "pending"
    if runs[0]["status"] == "missing":
        return "unknown"
    if not child_may_be_missing and any(run["status"] == "missing" for run in runs):
        return "unknown"
    present = [run for run in runs if run["status"] != "missing"]
    states = ["failed" if breaches(flow["policy"], run, empty_allows_all) else run["status"] for run in present]
    if "failed" in states or "failed" in tasks:
        return "failed"
    if "cancelled" in states or "cancelled" in tasks:
        return "cancelled"
    if any(state.startswith("waiting_") for state in states) or "blocked" in tasks:
        return "waiting"
    if {"queued", "running"} & set(states) or {"pending", "in_progress"} & set(tasks):
        return "running"
    if "interrupted" in states:
        return "interrupted"
    assert set(states) <= {"completed"} and set(tasks) <= {"completed"}
    return "succeeded"


def resolves(flow, kind, name):
    if kind not in PRIMITIVES:
        return True
    if kind == "flow":
        return name == flow["flow_id"]
    if kind in ("run", "task"):
        return any(part["id"] == name and part["status"] != "missing" for part in flow[kind + "s"])
    return name in flow[kind + "s"]


def met(flow, need, must_be_attached):
    kind, name = need["kind"], need["id"]
    attached = any(ref["kind"] == kind and ref["id"] == name for ref in flow["evidence"])
    if attached:
        return resolves(flow, kind, name)
    return not must_be_attached and kind in PRIMITIVES and resolves(flow, kind, name)


def lacking(flow, needs, must_be_attached):
    return [need for need in needs if not met(flow, need, must_be_attached)]


def readings():
    """Every way to read the silences that are no mere choice of a word."""
    return itertools.product([True, False], repeat=3)


def permitted(flow):
    statuses, passes = set(), set()
    phases = [{"phase_id": phase["phase_id"], "answers": []} for phase in flow["phases"]]
    for empty_allows_all, child_may_be_missing, must_be_attached in readings():
        by_work = work(flow, empty_allows_all, child_may_be_missing)
        asked = flow["required"] + [need for phase in flow["phases"] for need in phase["required"]]
        missing = lacking(flow, asked, must_be_attached)
        # Fail-closed: only the success is taken from a flow that lacks evidence.
        if by_work == "succeeded" and missing:
            told = set(FLOW_STATUSES) - {"succeeded", "unknown", "pending", "cancelled"}
        else:
            told = {by_work}
        statuses |= {flow["frozen"]} if flow["frozen"] else told
        breached = any(breaches(flow["policy"], run, empty_allows_all) for run in flow["runs"])
        passes |= {False} if missing or breached else ({True} if by_work == "succeeded" else {True, False})
        for phase, answer in zip(flow["phases"], phases):
            gaps = lacking(flow, phase["required"], must_be_attached)
            if gaps:
                words = ["pending", "blocked"]
            else:
                words = ["satisfied"] if by_work == "succeeded" and not missing else ["satisfied", "pending", "blocked"]
            answer["answers"] += [{"status": word, "missing": gaps} for word in words]
    for answer in phases:
        answer["answers"] = [each for at, each in enumerate(answer["answers"]) if each not in answer["answers"][:at]]
    return {"status": sorted(statuses), "passed": sorted(passes), "phases": phases}


TERMINAL = {"succeeded", "failed", "cancelled", "interrupted"}


def chosen(flow):
    """The one answer, with every silence as the rules fill it."""
    status = work(flow, True, True)
    asked = flow["required"] + [need for phase in flow["phases"] for need in phase["required"]]
    missing = lacking(flow, asked, True)
    if status == "succeeded" and missing:
        status = "waiting"
    status = flow["frozen"] or status
    at_work = any(run["status"] in RUN_STATUSES[:4] for run in flow["runs"])
    rests = status in TERMINAL or status == "unknown" or (status == "waiting" and not at_work)
    phases = []
    for phase in flow["phases"]:
        gaps = lacking(flow, phase["required"], True)
        if not gaps and (phase["required"] or status == "succeeded"):
            word = "satisfied"
        else:
            word = "blocked" if rests and (gaps or status in TERMINAL) else "pending"
        phases.append({"phase_id": phase["phase_id"], "status": word, "missing": gaps})
    breached = any(breaches(flow["policy"], run, True) for run in flow["runs"])
    return {"status": status, "ended": status in TERMINAL, "passed": not missing and not breached, "phases": phases}


def is_permitted(answer, words):
    return answer["status"] in words["status"] and answer["passed"] in words["passed"] and all(
        {"status": phase["status"], "missing": phase["missing"]} in allowed["answers"]
        for phase, allowed in zip(answer["phases"], words["phases"]))


def show(flow):
    answer = chosen(flow)
    if not flow["frozen"] and not is_permitted(answer, permitted(flow)):
        raise AssertionError(f"the rules contradict the contract: {flow} {answer} {permitted(flow)}")
    unresolved = [ref for ref in flow["evidence"] if not resolves(flow, ref["kind"], ref["id"])]
    print(json.dumps({"flow": flow, "answer": answer, "unresolved": unresolved}, separators=(",", ":")))


def plain(**parts):
    bare = {
        "flow_id": "flow-1", "cancelled": False, "frozen": None, "runs": [], "tasks": [], "agents": [],
        "approvals": [], "questions": [], "schedules": [], "outputs": [], "policy": None, "required": [],
        "phases": [], "evidence": [],
    }
    flow = {**bare, **parts}
    # Each run beside the root is one of an agent.
    agents = [f"agent-{at}" for at in range(len(flow["runs"]) - 1)]
    return {**flow, "agents": sorted({*flow["agents"], *agents})}


def small():
    states = RUN_STATUSES + ["missing"]
    tasks = [list(pair) for size in (0, 1, 2) for pair in itertools.combinations_with_replacement(TASK_STATUSES, size)]
    runs = [[]] + [[root] for root in states] + [[root, child] for root in states for child in states]
    named = lambda kind, words: [{"id": f"{kind}-{at}", "status": word} for at, word in enumerate(words)]
    for root, work_of in itertools.product(runs, tasks):
        for cancelled in (False, True):
            show(plain(cancelled=cancelled, tasks=named("task", work_of),
                       runs=[{**run, "tools": []} for run in named("run", root)]))
    policies = [None] + [
        {"enforce": enforce, "allow": allow, "deny": deny}
        for enforce in (False, True) for allow in (None, [], ["read"]) for deny in ([], ["shell"], ["read"])
    ]
    note = {"kind": "note", "id": "note-1"}
    root = {"kind": "run", "id": "run-0"}
    for policy, tools, state in itertools.product(policies, ([], ["read"], ["shell"], ["read", "shell"]), states):
        for at in (0, 1):
            both = [{"id": f"run-{each}", "status": "completed", "tools": []} for each in (0, 1)]
            both[at] = {**both[at], "status": state, "tools": tools}
            show(plain(policy=policy, runs=both))
    some = ([], [note], [root], [note, root])
    for state, need, refs in itertools.product(states, some, some):
        for place in ("required", "phases"):
            more = {"required": need} if place == "required" else {"phases": [
                {"phase_id": "first", "required": need}, {"phase_id": "second", "required": []}]}
            show(plain(runs=[{"id": "run-0", "status": state, "tools": []}], evidence=refs, **more))
    for frozen, state in itertools.product(["failed", "cancelled", "succeeded", "interrupted"], states):
        show(plain(frozen=frozen, runs=[{"id": "run-0", "status": state, "tools": []}]))


def drawn(number, count):
    from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

    def names(kind):
        most = 1 if kind == "schedule" else 3
        return st.lists(st.sampled_from([f"{kind}-{at}" for at in range(most)]), unique=True, max_size=most)

    # Half of the flows have only quiet work, so that those which may succeed are not rare.
    words = lambda every, calm: st.one_of(st.just(calm), st.sampled_from(every))
    tools = st.lists(st.sampled_from(["read", "write", "shell"]), unique=True, max_size=3)
    refs = st.lists(
        st.builds(lambda kind, at: {"kind": kind, "id": f"{kind}-{at}"},
                  st.sampled_from(PRIMITIVES + ["note", "report"]), st.integers(0, 2)),
        unique_by=lambda ref: (ref["kind"], ref["id"]), max_size=4)
    policy = st.none() | st.fixed_dictionaries({
        "enforce": st.booleans(), "allow": st.none() | tools, "deny": tools})

    @st.composite
    def flows(draw):
        calm = draw(st.booleans())
        run = st.just("completed") if calm else words(RUN_STATUSES + ["missing"], "completed")
        task = st.just("completed") if calm else words(TASK_STATUSES, "completed")
        runs = draw(st.lists(st.tuples(run, tools), max_size=4))
        attached = draw(refs)
        some = st.lists(st.sampled_from(attached), max_size=2, unique_by=str) if attached else st.just([])
        needs = st.one_of(some, refs)
        phases = draw(st.lists(needs, max_size=3))
        return plain(
            cancelled=draw(st.booleans()),
            frozen=draw(st.sampled_from([None, None, None, "failed", "cancelled", "succeeded", "interrupted"])),
            runs=[{"id": f"run-{at}", "status": word, "tools": used} for at, (word, used) in enumerate(runs)],
            tasks=[{"id": f"task-{at}", "status": word} for at, word in enumerate(draw(st.lists(task, max_size=4)))],
            policy=draw(policy), required=draw(needs), evidence=attached,
            phases=[{"phase_id": f"phase-{at}", "required": need} for at, need in enumerate(phases)],
            **{f"{kind}s": draw(names(kind)) for kind in ("agent", "approval", "question", "schedule", "output")})

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(flows())
    def each(flow):
        show(flow)

    each()


if __name__ == "__main__":
    if sys.argv[1] == "small":
        small()
    else:
        drawn(int(sys.argv[2]), int(sys.argv[3]))
