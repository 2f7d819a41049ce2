/** A flow as something that may be asked about, and what it lacks (explanations-12). */
import { commandLine, count, inTurns, shellWord, type HealthCheck } from '../../../core/plugin.js'
import type { Reason, ReasonSource, Subject, SubjectSource } from '../../operator/explanations/contract.js'
import type { SessionTask } from '../../execution/tasks/contract.js'
import { evidenceWord, type EvidenceRef } from '../playbooks/contract.js'
import { look, missingEvidence, project, type Projection, type ProjectionParts } from './projection.js'
import { productView, type FlowRecord, type PhaseState } from './record.js'
import type { Scope } from './scope.js'
import type { Settling } from './settle.js'
import { isTerminal, type FlowStatus } from './status.js'
import type { FlowStore } from './store.js'

interface ExplainedParts extends ProjectionParts {
  readonly store: FlowStore
}

/** Open runs and agents that are followed, and runs that are named for how they ended. */
const [mostParts, mostEnded] = [50, 3]
/** Of an ended flow, among which tasks are looked for. */
const [mostAgents, mostTasks] = [20, 100]

const texts: Readonly<Record<FlowStatus, string>> = {
  pending: 'It has not begun.',
  running: 'Runs, agents or tasks of it are not done.',
  waiting: 'It waits for people: for a decision, an answer, a task or evidence.',
  succeeded: 'It is done.',
  failed: 'It failed.',
  cancelled: 'It was cancelled.',
  interrupted: 'It was interrupted.',
  unknown: 'What it stands for cannot be told: a run of it is gone, or there is more than is looked at.',
}

/** Those that wait for people before others: they are not to be among those that are left out. */
const partsOf = ({ runs }: ProjectionParts, { open, held }: Scope): readonly string[] => {
  const waits = (id: string): boolean => runs.find(id)?.status.startsWith('waiting_') === true
  return [...open.filter(waits), ...held, ...open.filter((id) => !waits(id))].slice(0, mostParts)
}

/** Since when it stands as it does: one that waits ran before. Evidence is waited for from the last change on. */
const sinceOf = ({ created_at_ms }: FlowRecord, { status, completed_at_ms }: Projection, scope?: Scope): number => {
  if (status !== 'waiting' || scope === undefined) return completed_at_ms ?? created_at_ms
  const { waits, last } = scope.times
  return Number.isFinite(waits) ? waits : last
}

const subjectOf = async (parts: ExplainedParts, flow: FlowRecord): Promise<Subject> => {
  const { flow_id, session_id } = flow
  const found = flow.settled === undefined ? await inTurns(look(parts, flow)) : undefined
  const now = found ?? (await inTurns(project(parts, flow)))
  const { status } = now
  return {
    kind: 'flow',
    id: flow_id,
    session_id,
    status,
    text: texts[status],
    since_ms: sinceOf(flow, now, found?.scope),
    parts: found === undefined ? [] : partsOf(parts, found.scope),
  }
}

/** How a flow is named where a session has its id, too. */
export const flowPrefix = 'flow:'

export const flowSubjects = (parts: ExplainedParts): SubjectSource => ({
  id: 'flows',
  find(id) {
    const flow = parts.store.flows.find(id.startsWith(flowPrefix) ? id.slice(flowPrefix.length) : id)
    return flow && subjectOf(parts, flow)
  },
})

const named = ({ kind, id }: EvidenceRef): string => (id === '*' ? `${kind} of any id` : `${kind} ${id}`)
const given = ({ kind, id }: EvidenceRef): string => evidenceWord({ kind, id: id === '*' ? 'ID' : id })
const isReport = ({ kind }: EvidenceRef): boolean => kind === productView
/** A report is looked at; whoever attests it has the flow say that nobody did. */
const verifies = (flow_id: string, { id }: EvidenceRef): string =>
  commandLine('flows verify-product-view', flow_id, id === '*' ? 'PATH' : id)

/** What adds all of it: attestations in one line. */
const addAll = (flow_id: string, missing: readonly EvidenceRef[]): string => {
  const attested = missing.filter((ref) => !isReport(ref)).map(given)
  const reports = missing.filter(isReport).map((ref) => verifies(flow_id, ref))
  if (attested.length === 0) return reports.join('; ')
  return [commandLine(`flows evidence --evidence ${attested.join(' --evidence ')}`, flow_id), ...reports].join('; ')
}

/** Whether its work is done decides whether it waits for evidence now, or will then. */
const evidenceReason = (flow_id: string, missing: readonly EvidenceRef[], isDone: boolean): readonly Reason[] => {
  if (missing.length === 0) return []
  const requires = `requires evidence that nobody has added: ${missing.map(named).join(', ')}.`
  if (!isDone) return [{ code: 'evidence', text: `When its work is done, its playbook ${requires}` }]
  return [
    {
      code: 'evidence',
      text: `Its playbook ${requires}`,
      commands: missing.map((ref) =>
        isReport(ref) ? verifies(flow_id, ref) : commandLine(`flows evidence --evidence ${given(ref)}`, flow_id),
      ),
    },
  ]
}

const isWorkDone = (scope: Scope | undefined): boolean =>
  scope === undefined || scope.open.length + scope.held.length + scope.openTasks.length === 0

/** Flows that one status names. */
const mostNamed = 10

/** Flows whose work is done: they wait until somebody shows what their playbooks require. */
export const flowsHealth = ({ lacking }: Pick<Settling, 'lacking'>): HealthCheck => ({
  id: 'flows-evidence',
  check: () =>
    [...lacking].slice(0, mostNamed).map(([flow_id, missing]) => ({
      severity: 'info',
      code: 'flow_lacks_evidence',
      related_id: flow_id,
      message: `The work of the flow ${flow_id} is done, and it waits for evidence: ${missing.map(named).join(', ')}.`,
      action: `To add it: ${addAll(flow_id, missing)}. ` + `To end it without: ${commandLine('flows cancel', flow_id)}`,
    })),
})

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

const quoted = ({ title }: SessionTask): string => JSON.stringify(title)

/** What agents do not do by themselves they may be told to. */
const taskReason = (task: SessionTask): Reason => ({
  code: task.status === 'blocked' ? 'task_blocked' : 'task',
  text: task.status === 'blocked' ? `Its task ${quoted(task)} is blocked.` : `Its task ${quoted(task)} is not done.`,
  since_ms: task.updated_at_ms,
  commands: [commandLine('tasks get', task.session_id, task.id), commandLine('runs submit', task.session_id, 'TEXT')],
})

/** Tasks of an ended flow that ended as it did, where they are still there. */
const endedTasks = ({ tasks, sessions }: ProjectionParts, flow: FlowRecord, { status, refs }: Projection) => {
  const owners = refs.agent_ids.slice(0, mostAgents).flatMap((id) => sessions.ofAgent(id)?.session_id ?? [])
  const found = refs.task_ids
    .slice(0, mostTasks)
    .flatMap((id) => [flow.session_id, ...owners].flatMap((owner) => tasks()?.find(owner, id) ?? []))
  return found.filter((task) => task.status === status)
}

/** What made it end as it did. */
const endReasons = (parts: ProjectionParts, flow: FlowRecord, now: Projection): readonly Reason[] => {
  const { status, refs } = now
  const ended = refs.run_ids.filter((id) => parts.runs.find(id)?.status === status)
  return [
    ...(ended.length === 0
      ? []
      : [
          {
            code: 'run_ended',
            text: `${count(ended.length, 'run')} of it ended as ${status}.`,
            leads_to: ended.slice(0, mostEnded),
          },
        ]),
    ...endedTasks(parts, flow, now)
      .slice(0, mostEnded)
      .map((task) => ({ code: 'task_ended', text: `Its task ${quoted(task)} ended as ${status}.` })),
  ]
}

const anewReason = ({ session_id, playbook_ref: { playbook_id, version, digest } }: FlowRecord): Reason => ({
  code: 'flow_ended',
  text: 'It stays so, whatever follows; another flow may do the work.',
  commands: [commandLine(`flows start --digest ${shellWord(digest)}`, session_id, playbook_id, version, 'TEXT')],
})

export const flowReasons = (parts: ExplainedParts): ReasonSource => ({
  id: 'flows',
  async of({ kind, id, status }) {
    const flow = kind === 'flow' ? parts.store.flows.find(id) : undefined
    if (flow === undefined || status === 'succeeded') return []
    const found = flow.settled === undefined ? await inTurns(look(parts, flow)) : undefined
    const now = found ?? (await inTurns(project(parts, flow)))
    const isDone = isWorkDone(found?.scope)
    const evidence = isTerminal(now.status) ? [] : evidenceReason(flow.flow_id, missingEvidence(parts, flow), isDone)
    return [
      ...(isTerminal(now.status) ? endReasons(parts, flow, now) : isDone ? evidence : []),
      ...(found === undefined ? [] : found.scope.openTasks.map(taskReason)),
      ...checkReasons(now),
      ...phaseReasons(now.phases),
      ...(isTerminal(now.status) ? [anewReason(flow)] : isDone ? [] : evidence),
    ]
  },
})
