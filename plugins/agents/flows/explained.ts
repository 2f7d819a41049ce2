/** A flow as something that may be asked about, and what it lacks (explanations-12). */
import { commandLine, count, inTurns, shellWord } from '../../../core/plugin.js'
import type { Reason, ReasonSource, Subject, SubjectSource } from '../../operator/explanations/contract.js'
import type { EvidenceRef } from '../playbooks/contract.js'
import { look, missingEvidence, project, type Projection, type ProjectionParts } from './projection.js'
import type { FlowRecord, PhaseState } from './record.js'
import { isTerminal, type FlowStatus } from './status.js'
import type { FlowStore } from './store.js'

interface ExplainedParts extends ProjectionParts {
  readonly store: FlowStore
}

/** Open runs and agents that are followed, and runs that are named for how they ended. */
const [mostParts, mostEnded] = [10, 3]

const texts: Readonly<Record<FlowStatus, string>> = {
  pending: 'It has not begun.',
  running: 'Its runs, agents or tasks are at work.',
  waiting: 'It waits for people: for a decision, an answer, a task or evidence.',
  succeeded: 'It is done.',
  failed: 'It failed.',
  cancelled: 'It was cancelled.',
  interrupted: 'It was interrupted.',
  unknown: 'What it stands for cannot be told: a run of it is gone, or there is more than is looked at.',
}

const subjectOf = async (parts: ExplainedParts, flow: FlowRecord): Promise<Subject> => {
  const { flow_id, session_id, created_at_ms } = flow
  const found = flow.settled === undefined ? await inTurns(look(parts, flow)) : undefined
  const { status, completed_at_ms } = found ?? (await inTurns(project(parts, flow)))
  return {
    kind: 'flow',
    id: flow_id,
    session_id,
    status,
    text: texts[status],
    since_ms: completed_at_ms ?? created_at_ms,
    parts: found === undefined ? [] : [...found.scope.open, ...found.scope.held].slice(0, mostParts),
  }
}

export const flowSubjects = (parts: ExplainedParts): SubjectSource => ({
  id: 'flows',
  find(id) {
    const flow = parts.store.flows.find(id)
    return flow && subjectOf(parts, flow)
  },
})

const named = ({ kind, id }: EvidenceRef): string => (id === '*' ? `${kind} of any id` : `${kind} ${id}`)
const given = ({ kind, id }: EvidenceRef): string => `--evidence ${shellWord(`${kind}:${id === '*' ? 'ID' : id}`)}`

const evidenceReason = (flow_id: string, missing: readonly EvidenceRef[]): readonly Reason[] => {
  if (missing.length === 0) return []
  return [
    {
      code: 'evidence',
      text: `Its playbook requires evidence that nobody has added: ${missing.map(named).join(', ')}.`,
      commands: [
        commandLine(['flows evidence', ...missing.map(given)].join(' '), flow_id),
        commandLine('flows get', flow_id),
      ],
    },
  ]
}

const phaseReasons = (phases: readonly PhaseState[]): readonly Reason[] =>
  phases
    .filter(({ status }) => status === 'blocked')
    .map(({ phase_id, missing_evidence = [] }) => ({
      code: 'phase',
      text:
        missing_evidence.length === 0
          ? `Its phase ${phase_id} is blocked: the flow ended before.`
          : `Its phase ${phase_id} is blocked: it lacks ${missing_evidence.map(named).join(', ')}.`,
    }))

const checkReasons = ({ checks }: Projection): readonly Reason[] =>
  checks
    .filter(({ name, passed }) => !passed && name !== 'required_evidence')
    .map(({ name, details }) => ({ code: 'check', text: `Its check ${name} does not pass. ${details}` }))

/** Runs that made it end as it did. */
const endReasons = ({ runs }: ProjectionParts, { status, refs }: Projection): readonly Reason[] => {
  if (status !== 'failed' && status !== 'cancelled' && status !== 'interrupted') return []
  const ended = refs.run_ids.filter((id) => runs.find(id)?.status === status)
  if (ended.length === 0) return []
  const which = `${count(ended.length, 'run')} of it ${ended.length === 1 ? 'was' : 'were'} ${status}`
  return [
    {
      code: 'run_ended',
      text: `${status === 'failed' ? which.replace(/(?:was|were) /u, '') : which}; what has ended so stays so.`,
      leads_to: ended.slice(0, mostEnded),
    },
  ]
}

const taskReasons = (session_id: string, tasks: ReadonlySet<string>): readonly Reason[] => {
  const commands = [commandLine('tasks list', session_id)]
  if (tasks.has('blocked')) return [{ code: 'task_blocked', text: 'A task of it is blocked.', commands }]
  return tasks.has('pending') || tasks.has('in_progress')
    ? [{ code: 'tasks', text: 'Tasks of it are not done.', commands }]
    : []
}

export const flowReasons = (parts: ExplainedParts): ReasonSource => ({
  id: 'flows',
  async of({ kind, id, status }) {
    const flow = kind === 'flow' ? parts.store.flows.find(id) : undefined
    if (flow === undefined || status === 'succeeded') return []
    const found = flow.settled === undefined ? await inTurns(look(parts, flow)) : undefined
    const now = found ?? (await inTurns(project(parts, flow)))
    return [
      ...(isTerminal(now.status) ? [] : evidenceReason(flow.flow_id, missingEvidence(parts, flow))),
      ...(found === undefined ? [] : taskReasons(flow.session_id, found.scope.tasks)),
      ...endReasons(parts, now),
      ...checkReasons(now),
      ...phaseReasons(now.phases),
    ]
  },
})
