/** Asks what a flow is of the daemon's derivation and of a second model, in Python, written from the contract alone. */
import type { ExecutionContext } from 'ava'
import { atOnce } from '../../../../core/base/turns.js'
import { unsafeCast } from '../../../../core/plugin.js'
import { checkResolved } from '../../../../plugins/agents/flows/evidence.js'
import { look, project, type ProjectionParts } from '../../../../plugins/agents/flows/projection.js'
import type { FlowRecord } from '../../../../plugins/agents/flows/record.js'
import { primitiveKey } from '../../../../plugins/agents/flows/scope.js'
import { flowStatus } from '../../../../plugins/agents/flows/status.js'
import { ask, systemPython } from '../../../support/judges.js'

interface Ref {
  readonly kind: string
  readonly id: string
}
interface Part {
  readonly id: string
  readonly status: string
}
/** A flow as the model draws it; the first run is its root, each other one that of an agent. */
interface Drawn {
  readonly flow_id: string
  readonly cancelled: boolean
  readonly frozen: string | null
  readonly runs: readonly (Part & { readonly tools: readonly string[] })[]
  readonly tasks: readonly Part[]
  readonly agents: readonly string[]
  readonly approvals: readonly string[]
  readonly questions: readonly string[]
  readonly schedules: readonly string[]
  readonly outputs: readonly string[]
  readonly policy: {
    readonly enforce: boolean
    readonly allow: readonly string[] | null
    readonly deny: string[]
  } | null
  readonly required: readonly Ref[]
  readonly phases: readonly { readonly phase_id: string; readonly required: readonly Ref[] }[]
  readonly evidence: readonly Ref[]
}
interface Answer {
  readonly status: string
  readonly ended: boolean
  readonly passed: boolean
  readonly phases: readonly { readonly phase_id: string; readonly status: string; readonly missing: readonly Ref[] }[]
}
interface Line {
  readonly flow: Drawn
  readonly answer: Answer
  readonly unresolved: readonly Ref[]
}

const placeOf = (id: string): number => Number(id.split('-')[1])
/** Outputs have no names of their own: they are places in the journal of a run. */
const named = ({ kind, id }: Ref): Ref => (kind === 'output' ? { kind, id: `run-0:${placeOf(id)}` } : { kind, id })
const sessionOf = (run: number): string => (run === 0 ? 'root' : `session-${run - 1}`)
const over = new Set(['completed', 'failed', 'interrupted', 'cancelled'])

const recordOf = ({ approvals, questions, outputs }: Drawn, { id, status }: Part) => ({
  run_id: id,
  session_id: sessionOf(placeOf(id)),
  status,
  updated_at_ms: 5,
  started_at_ms: 3,
  ...(over.has(status) && { finished_at_ms: 5 }),
  ...(id === 'run-0' && {
    approvals: approvals.length,
    questions: questions.length,
    outputs: outputs.map(placeOf),
  }),
})

const calledBy = ({ runs, approvals, questions }: Drawn, run_id: string) => ({
  tools: new Set(runs.find(({ id }) => id === run_id)?.tools),
  tools_cut: false,
  approvals: new Set(run_id === 'run-0' ? approvals : []),
  questions: new Set(run_id === 'run-0' ? questions : []),
})

const manifestOf = ({ policy, required, phases }: Drawn) => ({
  tools: { enforce: policy?.enforce ?? false, allow: policy?.allow ?? [], deny: policy?.deny ?? [] },
  required_evidence: required.map(named),
  phases: phases.map((phase) => ({ phase_id: phase.phase_id, required_evidence: phase.required.map(named) })),
})

/** Lists in the place of what the daemon keeps. */
const partsOf = (flow: Drawn): ProjectionParts => {
  const runs = flow.runs.filter(({ status }) => status !== 'missing').map((run) => recordOf(flow, run))
  const ids = new Set(runs.map(({ run_id }) => run_id))
  // Some agents are started by the run of another.
  const spawner = (agent: string): string =>
    placeOf(agent) % 2 === 1 && ids.has(`run-${placeOf(agent)}`) ? `run-${placeOf(agent)}` : 'run-0'
  const agents = flow.agents.map((agent_id) => ({
    agent_id,
    session_id: sessionOf(placeOf(agent_id) + 1),
    spawned_by_run_id: spawner(agent_id),
  }))
  const tasks = flow.tasks.map(({ id, status }, at) => ({
    id,
    status,
    session_id: (at % 2 === 1 ? agents[0]?.session_id : undefined) ?? 'root',
    updated_at_ms: 5,
  }))
  return unsafeCast<ProjectionParts>({
    runs: {
      find: (id: string) => runs.find(({ run_id }) => run_id === id),
      askedBy: () => [],
      inSession: (asked: { session_id: string }) => runs.filter(({ session_id }) => session_id === asked.session_id),
    },
    sessions: { find: () => undefined },
    tasks: () => ({ madeIn: (session: string) => tasks.filter(({ session_id }) => session_id === session) }),
    agents: () => ({
      spawnedBy: (run_id: string) => agents.filter(({ spawned_by_run_id }) => spawned_by_run_id === run_id),
    }),
    calls: {
      *of({ run_id }: { run_id: string }) {
        yield
        return calledBy(flow, run_id)
      },
    },
    playbooks: { manifest: () => manifestOf(flow) },
    bounds: { max_members: 1_000, max_listed: 1_000 },
  })
}

const keptOf = ({ flow_id, schedules, frozen }: Drawn, evidence: readonly Ref[]): FlowRecord => {
  const settled = { status: frozen, completed_at_ms: 5, updated_at_ms: 5, refs: {}, phases: [], checks: [] }
  return unsafeCast<FlowRecord>({
    flow_id,
    playbook_ref: {},
    session_id: 'root',
    run_id: 'run-0',
    schedule_id: schedules[0],
    evidence_refs: evidence.map(named),
    updated_at_ms: 1,
    ...(frozen !== null && { settled }),
  })
}

const shownOf = (
  found: ReturnType<typeof look> extends Generator<any, infer T> ? Omit<T, 'scope'> : never,
): Answer => ({
  status: found.status,
  ended: found.completed_at_ms !== undefined,
  passed: found.checks.every(({ passed }) => passed),
  phases: found.phases.map(({ phase_id, status, missing_evidence: missing = [] }) => ({ phase_id, status, missing })),
})

const isRefused = (ref: Ref, found: ReadonlySet<string>): boolean => {
  try {
    checkResolved([named(ref)], found)
    return false
  } catch {
    return true
  }
}

/** What the daemon says of it: the same as the model, or what is another. */
const told = ({ flow, answer, unresolved }: Line): { readonly ours: unknown; readonly theirs: unknown } => {
  const { runs, frozen, cancelled, evidence } = flow
  if (runs.length === 0) {
    const nothing = { is_missing: false, runs: new Set<never>(), tasks: new Set<never>() }
    const facts = { has_run: false, is_cancelled: cancelled, is_violated: false, lacks_evidence: false, ...nothing }
    return { ours: frozen ?? flowStatus(facts), theirs: answer.status }
  }
  const parts = partsOf(flow)
  const lost = new Set(unresolved.map(({ kind, id }) => primitiveKey(kind, id)))
  const held = evidence.filter(({ kind, id }) => !lost.has(primitiveKey(kind, id)))
  const kept = keptOf(flow, held)
  const shown = shownOf(atOnce(project(parts, kept)))
  if (frozen !== null) return { ours: shown.status, theirs: answer.status }
  const wanted = new Set(evidence.map(named).map(({ kind, id }) => primitiveKey(kind, id)))
  const { found } = atOnce(look(parts, kept, { wanted })).scope
  // Where the root is gone nothing below it is found.
  const refused = shown.status === 'unknown' ? unresolved : evidence.filter((ref) => isRefused(ref, found))
  const phases = answer.phases.map((phase) => ({ ...phase, missing: phase.missing.map(named) }))
  return { ours: { ...shown, refused }, theirs: { ...answer, phases, refused: unresolved } }
}

/** Compares all that the model prints, fails at the first that differs, and returns which statuses there were. */
export const compare = (t: ExecutionContext<any>, ...args: readonly string[]): ReadonlySet<string> => {
  const seen = new Set<string>()
  const printed = ask(systemPython, 'test/plugins/agents/flows/flow_status.py', ...args)
  for (const text of printed.trimEnd().split('\n')) {
    const line: Line = JSON.parse(text)
    const { ours, theirs } = told(line)
    seen.add(line.answer.status)
    if (JSON.stringify(ours) === JSON.stringify(theirs)) continue
    t.deepEqual(ours, theirs, text)
    break
  }
  return seen
}
