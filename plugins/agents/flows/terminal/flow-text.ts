/** Flows as text for terminals. */
import {
  array,
  boolean,
  commandLine,
  count,
  idWord,
  integer,
  namedLine,
  open,
  optional,
  showTime,
  string,
  visibleLine,
  type Infer,
} from '../../../../core/plugin.js'
import { checkLine, ShownCheck } from './check-text.js'

const Evidence = open({ kind: string(), id: string(), verified_at_ms: optional(integer()) })
const Phase = open({ phase_id: string(), status: string(), missing_evidence: optional(array(Evidence)) })
const ids = () => optional(array(string()))
export const ShownFlow = open({
  flow_id: string(),
  status: string(),
  session_id: string(),
  playbook_ref: open({ playbook_id: string(), version: string(), digest: optional(string()) }),
  run_id: optional(string()),
  run: optional(open({ status: string(), agent_id: optional(string()), error: optional(string()) })),
  primitive_refs: optional(
    open({
      run_ids: ids(),
      agent_ids: ids(),
      task_ids: ids(),
      approval_ids: ids(),
      question_ids: ids(),
      output_ids: ids(),
      schedule_ids: ids(),
    }),
  ),
  primitive_refs_truncated: optional(boolean()),
  phase_states: optional(array(Phase)),
  contract: open({ passed: boolean(), checks: optional(array(ShownCheck)) }),
  evidence_refs: optional(array(Evidence)),
  created_at_ms: optional(integer()),
  completed_at_ms: optional(integer()),
  started_before: optional(boolean()),
})
/** The value form of `ShownFlow`. */
export type ShownFlow = Infer<typeof ShownFlow>

const row = ({ flow_id, status, session_id, playbook_ref: { playbook_id, version } }: ShownFlow): string =>
  [idWord(flow_id), status, `${visibleLine(playbook_id)} ${visibleLine(version)}`, idWord(session_id)].join('  ')
const timedRow = (flow: ShownFlow): string =>
  `${row(flow)}${flow.created_at_ms === undefined ? '' : `  ${showTime(flow.created_at_ms)}`}`

export const showFlows = (flows: ShownFlow[]): string =>
  flows.length === 0
    ? 'No flows yet. Start one: holdfast flows start SESSION PLAYBOOK VERSION TEXT --digest DIGEST'
    : flows.map(timedRow).join('\n')

const pieces = (list: readonly Infer<typeof Evidence>[]): string =>
  visibleLine(
    list
      .map(({ kind, id, verified_at_ms: seen }) => `${kind}:${id}${seen === undefined ? '' : ' (looked at)'}`)
      .join(', '),
  )

const phaseLine = ({ phase_id, status, missing_evidence = [] }: Infer<typeof Phase>): string =>
  `  ${status}  ${visibleLine(phase_id)}${missing_evidence.length === 0 ? '' : `  lacks ${pieces(missing_evidence)}`}`

/** What a flow stays. */
export const ended: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'interrupted'])
/** What does not pass is open until the flow has ended: it may pass yet. */
const checkLines = ({ status, contract }: ShownFlow): string[] =>
  (contract.checks ?? []).map(checkLine(ended.has(status) ? 'failed' : 'open'))

const line = namedLine(9)

const nouns = [
  ['run_ids', 'run'],
  ['agent_ids', 'agent'],
  ['task_ids', 'task'],
  ['approval_ids', 'approval'],
  ['question_ids', 'question'],
  ['output_ids', 'output'],
] as const
const members = ({ primitive_refs: refs = {}, primitive_refs_truncated: cut }: ShownFlow): string => {
  const told = nouns.flatMap(([name, noun]) => {
    const { length } = refs[name] ?? []
    return length === 0 ? [] : [count(length, noun)]
  })
  return told.length === 0 ? '' : `${told.join(', ')}${cut === true ? ', and more' : ''}; --output json has their ids`
}

/** As which status of the flow its root run ends. */
const endsAs = new Map([
  ['completed', 'succeeded'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['interrupted', 'interrupted'],
])

/** What somebody would type next: to follow its root run, to learn what it waits for, or to begin anew. */
const nextLines = ({ flow_id, status, session_id, playbook_ref, run }: ShownFlow): string[] => {
  if (status === 'succeeded') return []
  if ((status === 'pending' || status === 'running') && !endsAs.has(run?.status ?? ''))
    return line('next', visibleLine(commandLine('flows stream', flow_id)))
  const { playbook_id, version, digest } = playbook_ref
  const digestFlag = digest === undefined ? 'DIGEST' : digest
  const again = commandLine(`flows start --digest ${digestFlag}`, session_id, playbook_id, version, 'TEXT')
  return [
    ...line('next', visibleLine(commandLine('explain', `flow:${flow_id}`))),
    ...(ended.has(status) ? line('another', visibleLine(again)) : []),
  ]
}

/** How a flow stands. */
export const standingLines = (flow: ShownFlow): string[] => {
  const { created_at_ms: since, completed_at_ms: end, primitive_refs, evidence_refs = [], run, run_id } = flow
  return [
    row(flow),
    ...line('started', since === undefined ? undefined : showTime(since)),
    ...line('ended', end === undefined ? undefined : showTime(end)),
    ...line('run', run_id === undefined ? undefined : `${run_id}${run === undefined ? '' : `  ${run.status}`}`),
    ...line('error', run?.error),
    ...line('schedule', primitive_refs?.schedule_ids?.map(visibleLine).join(', ')),
    ...line('has', members(flow)),
    ...line('given', pieces(evidence_refs)),
    ...(flow.phase_states ?? []).map(phaseLine),
    ...checkLines(flow),
  ]
}

const knownLine = ({ flow_id, started_before }: ShownFlow): string[] =>
  started_before === true
    ? [`The flow ${visibleLine(flow_id)} was there already: the same start had made it. It is so now:`]
    : []

/** The same with what to type next. */
export const showFlow = (flow: ShownFlow): string =>
  [...knownLine(flow), ...standingLines(flow), ...nextLines(flow)].join('\n')

/** How a flow is after its root run, where that does not say it: others work for it, evidence lacks, a tool strayed. */
export const showFlowBehind = (flow: ShownFlow): string | undefined => {
  const { run, status } = flow
  const told = run === undefined ? undefined : (endsAs.get(run.status) ?? 'waiting')
  if (told === status) return undefined
  return [`The flow ${visibleLine(flow.flow_id)} is ${status}.`, ...checkLines(flow), ...nextLines(flow)].join('\n')
}

/** Exit code of whom follows a flow, where it is not that of its root run. */
export const flowCode = ({ status }: ShownFlow): number | undefined =>
  status === 'failed' || status === 'cancelled' ? 1 : status === 'interrupted' ? 130 : undefined
