/** `holdfast flows show`: the phases of a flow, what it waits for, and its agents. */
import {
  array,
  defineCommand,
  fault,
  open,
  optional,
  parse,
  string,
  watchFlag,
  watchStanding,
  type Command,
  type CommandInput,
  type Json,
  type Standing,
} from '../../../../core/plugin.js'
import { reasonLines, ShownReason } from '../../../operator/explanations/contract.js'
import { lookAtTree } from '../../sidechains/contract.js'
import { ended, ShownFlow, standingLines } from './flow-text.js'

const Told = open({
  subjects: array(open({ session_id: optional(string()), reasons: array(ShownReason) })),
})

/** Of the flow and its root run: its agents have their own. None where the plugin that explains is off. */
const ownReasons = async ({ client }: CommandInput, { flow_id, session_id }: ShownFlow): Promise<string[]> => {
  const told = parse(
    Told,
    await client.get(`/v1/explanations/${encodeURIComponent(`flow:${flow_id}`)}`).catch(() => null),
  )
  const own = told.ok ? told.value.subjects.filter((subject) => subject.session_id === session_id) : []
  return own.flatMap(({ reasons }) => reasons.flatMap((reason) => reasonLines(reason, 1))).map((line) => `  ${line}`)
}

const agentLines = async (input: CommandInput, { run, primitive_refs }: ShownFlow): Promise<string[]> => {
  const { agent_ids = [] } = primitive_refs ?? {}
  if (run?.agent_id === undefined || agent_ids.length === 0) return []
  const { text } = await lookAtTree(input, run.agent_id, new Set(agent_ids))
  return text.split('\n').map((line) => `  ${line}`)
}

const read = async ({ client, args }: CommandInput): Promise<ShownFlow> => {
  const flow = parse(ShownFlow, await client.get(`/v1/flows/${encodeURIComponent(args['flow_id'] ?? '')}`))
  if (!flow.ok) throw fault('the daemon answered with no flow')
  return flow.value
}

const look = async (input: CommandInput): Promise<Standing> => {
  const flow = await read(input)
  const isOver = ended.has(flow.status) || flow.status === 'unknown'
  const lines = [
    ...standingLines(flow),
    ...(isOver ? [] : await ownReasons(input, flow)),
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
  answer: ShownFlow,
})
