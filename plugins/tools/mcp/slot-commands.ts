/** `mcp auth`: the secrets that MCP servers refer to. */
import {
  array,
  boolean,
  commandLine,
  defineCommand,
  open,
  optional,
  parse,
  secretFlags,
  sentence,
  string,
  visibleLine,
  type Command,
  type CommandInput,
} from '../../../core/plugin.js'
import { mcpErrors } from './config/errors.js'

const secrets = '/v1/runtime/secrets'

const Servers = open({
  credentials_problem: optional(string()),
  servers: array(
    open({
      name: string(),
      secret_refs: array(string()),
      file_refs: array(string()),
      oauth_slot_ref: optional(string()),
    }),
  ),
})
const Stored = open({ slot_id: string(), details: open({ readable: boolean() }) })

interface Slot {
  readonly slot_id: string
  readonly kind: 'secret' | 'account'
  readonly state: 'stored' | 'missing' | 'unusable' | 'in_file' | 'file_unusable'
  readonly servers: readonly string[]
  /** Why the file of credentials, which may have it, cannot be used. */
  readonly problem?: string
}

interface Use {
  readonly slot_id: string
  readonly kind: Slot['kind']
  readonly server: string
  /** The file of credentials has it. */
  readonly isInFile: boolean
}

interface Uses {
  readonly uses: readonly Use[]
  /** Why the file of credentials cannot be used. */
  readonly problem: string | undefined
}

/** What the servers of the list refer to. */
const usesOf = async ({ client }: CommandInput): Promise<Uses> => {
  const read = parse(Servers, await client.get('/v1/runtime/mcp/servers'))
  const uses = (read.ok ? read.value.servers : []).flatMap(
    ({ name: server, secret_refs, file_refs, oauth_slot_ref }) => [
      ...secret_refs.map((slot_id) => ({
        slot_id,
        kind: 'secret' as const,
        server,
        isInFile: file_refs.includes(slot_id),
      })),
      ...(oauth_slot_ref === undefined
        ? []
        : [{ slot_id: oauth_slot_ref, kind: 'account' as const, server, isInFile: false }]),
    ],
  )
  return { uses, problem: read.ok ? read.value.credentials_problem : undefined }
}

/** What is stored goes before what the file has, also where it cannot be used. */
const stateOf = (uses: readonly Use[], readable: boolean | undefined): Slot['state'] => {
  if (readable === undefined) return uses.some(({ isInFile }) => isInFile) ? 'in_file' : 'missing'
  return readable ? 'stored' : 'unusable'
}

const slotsOf = async (input: CommandInput): Promise<readonly Slot[]> => {
  const { uses, problem } = await usesOf(input)
  const read = parse(array(Stored), await input.client.get(secrets))
  const stored = new Map((read.ok ? read.value : []).map(({ slot_id, details }) => [slot_id, details.readable]))
  const unused = [...stored.keys()].filter((name) => name.startsWith('mcp.'))
  return [...new Set([...uses.map(({ slot_id }) => slot_id), ...unused])].map((slot_id) => {
    const own = uses.filter((use) => use.slot_id === slot_id)
    const kind = own.some((use) => use.kind === 'account') ? 'account' : 'secret'
    const state = stateOf(own, stored.get(slot_id))
    const slot = { slot_id, kind, state, servers: own.map(({ server }) => server) } as const
    return kind === 'secret' && state === 'missing' && problem !== undefined
      ? { ...slot, state: 'file_unusable', problem }
      : slot
  })
}

const wayTo = ({ slot_id, kind, servers: [server = ''] }: Slot): string =>
  kind === 'account' ? commandLine('mcp oauth login', server) : commandLine('mcp auth set --stdin', slot_id)

const showSlot = (slot: Slot): string => {
  const { slot_id, kind, state, servers, problem } = slot
  const users = servers.length === 0 ? 'no server of the list' : servers.map(visibleLine).join(', ')
  const row = `${visibleLine(slot_id)}  ${kind}  ${state.replace('_', ' ')}  ${users}`
  if (problem !== undefined) return `${row}\n  ${sentence(visibleLine(problem))} (mcp_credentials_unusable)`
  return state === 'stored' || state === 'in_file' ? row : `${row}\n  ${wayTo(slot)}`
}

const set = async (input: CommandInput): Promise<Slot> => {
  const slot_id = input.args['slot'] ?? ''
  const own = (await usesOf(input)).uses.filter((use) => use.slot_id === slot_id)
  const account = own.find(({ kind }) => kind === 'account')
  if (account !== undefined) throw mcpErrors.mcp_slot_is_account({ details: { slot: slot_id, server: account.server } })
  await input.client.send('POST', secrets, { slot_id, state: { value: await input.secret() } })
  return { slot_id, kind: 'secret', state: 'stored', servers: own.map(({ server }) => server) }
}

export const slotCommands: readonly Command[] = [
  defineCommand({
    path: ['mcp', 'auth', 'slots'],
    summary: 'Secrets and accounts that MCP servers refer to, and whether they are there; never a value.',
    run: slotsOf,
    show: (slots) =>
      slots.length === 0 ? 'No MCP server of the list refers to a secret.' : slots.map(showSlot).join('\n'),
  }),
  defineCommand({
    path: ['mcp', 'auth', 'set'],
    route: `POST ${secrets}`,
    summary: 'Stores a secret that MCP servers refer to. The value is never a part of the line; none is shown.',
    args: ['slot'],
    flags: secretFlags,
    oneOf: Object.keys(secretFlags).map((flag) => `--${flag}`),
    fields: { 'body.slot_id': '<slot>', 'body.state': 'the value', 'body.state.value': 'the value' },
    run: set,
    show: showSlot,
  }),
]
