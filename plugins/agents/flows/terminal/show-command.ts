/** `holdfast flows show`: the phases of a flow, what it waits for, and its agents. */
import {
  array,
  boolean,
  defineCommand,
  fault,
  integer,
  open,
  optional,
  parse,
  showTime,
  string,
  visibleLine,
  watchFlag,
  watchStanding,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
  type Standing,
} from '../../../../core/plugin.js'
import { lookAtTree } from '../../sidechains/contract.js'

const Phase = open({
  phase_id: string(),
  status: string(),
  missing_evidence: optional(array(open({ kind: string(), id: string() }))),
})
const Shown = open({
  flow_id: string(),
  status: string(),
  session_id: string(),
  playbook_ref: open({ playbook_id: string(), version: string() }),
  created_at_ms: integer(),
  completed_at_ms: optional(integer()),
  run: optional(open({ run_id: string(), agent_id: string(), status: string() })),
  primitive_refs: open({ agent_ids: array(string()) }),
  phase_states: optional(array(Phase)),
  contract: open({ checks: optional(array(open({ name: string(), passed: boolean(), details: string() }))) }),
})
type Shown = Infer<typeof Shown>

const Told = open({
  subjects: array(
    open({ session_id: string(), reasons: array(open({ text: string(), commands: optional(array(string())) })) }),
  ),
})

const over: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'interrupted', 'unknown'])
const signs: Readonly<Record<string, string>> = { satisfied: '[x]', blocked: '[!]' }

const phaseLine = ({ phase_id, status, missing_evidence = [] }: Infer<typeof Phase>): string => {
  const missing = missing_evidence.map(({ kind, id }) => `${kind}:${id}`).join(', ')
  return `  ${signs[status] ?? '[ ]'} ${visibleLine(phase_id)}${missing === '' ? '' : `  lacks ${visibleLine(missing)}`}`
}

const headOf = (flow: Shown): string[] => {
  const { flow_id, status, playbook_ref, session_id, created_at_ms, completed_at_ms, run } = flow
  const times = `since ${showTime(created_at_ms)}`
  return [
    [flow_id, status, `${playbook_ref.playbook_id} ${playbook_ref.version}`, session_id]
      .map((text) => visibleLine(text))
      .join('  '),
    `  ${times}${completed_at_ms === undefined ? '' : `, over ${showTime(completed_at_ms)}`}`,
    ...(run === undefined ? [] : [`  run  ${visibleLine(run.run_id)}  ${run.status}`]),
  ]
}

/** What does not pass of a flow that is open may still come. */
const checkLines = ({ status, contract: { checks = [] } }: Shown): string[] =>
  checks.map(({ name, passed, details }) => {
    const how = passed ? 'passed' : over.has(status) ? 'failed' : 'open'
    return `  ${how}  ${visibleLine(name)}  ${visibleLine(details)}`
  })

/** Of the flow and its root run: its agents have their own. None where the plugin that explains is off. */
const reasonLines = async ({ client }: CommandInput, { flow_id, session_id }: Shown): Promise<string[]> => {
  const told = parse(Told, await client.get(`/v1/explanations/${encodeURIComponent(flow_id)}`).catch(() => null))
  const own = told.ok ? told.value.subjects.filter((subject) => subject.session_id === session_id) : []
  const reasons = own.flatMap((subject) => subject.reasons)
  return reasons.flatMap(({ text, commands: [first] = [] }) => [
    `  - ${visibleLine(text)}`,
    ...(first === undefined ? [] : [`      ${visibleLine(first)}`]),
  ])
}

const agentLines = async (input: CommandInput, { run, primitive_refs: { agent_ids } }: Shown): Promise<string[]> => {
  if (run === undefined || agent_ids.length === 0) return []
  const { text } = await lookAtTree(input, run.agent_id, new Set(agent_ids))
  return text.split('\n').map((line) => `  ${line}`)
}

const read = async ({ client, args }: CommandInput): Promise<Shown> => {
  const flow = parse(Shown, await client.get(`/v1/flows/${encodeURIComponent(args['flow_id'] ?? '')}`))
  if (!flow.ok) throw fault('the daemon answered with no flow')
  return flow.value
}

const look = async (input: CommandInput): Promise<Standing> => {
  const flow = await read(input)
  const isOver = over.has(flow.status)
  const lines = [
    ...headOf(flow),
    ...(flow.phase_states ?? []).map(phaseLine),
    ...checkLines(flow),
    ...(isOver ? [] : await reasonLines(input, flow)),
    ...(await agentLines(input, flow)),
  ]
  return { text: lines.join('\n'), isOver }
}

const run = async (input: CommandInput): Promise<Json | void> => {
  if (input.output === 'json') return JSON.parse(JSON.stringify(await read(input)))
  if (input.flags['watch'] === true) return watchStanding(input, () => look(input))
  input.print((await look(input)).text)
}

export const showCommand: Command = defineCommand({
  path: ['flows', 'show'],
  summary: 'A flow as it stands: its phases, what it waits for, and its agents as a tree.',
  args: ['flow_id'],
  flags: watchFlag,
  run,
  answer: Shown,
})
