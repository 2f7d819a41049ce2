/** Sub-commands that belong to no plugin. */
import { defineCommand, type Command } from '../plugin/command.js'
import { parse } from '../base/parse.js'
import { array, json, open, optional, string, type Infer } from '../base/schema.js'
import { cutAtWord } from '../base/text/command-text.js'
import { visibleLine } from '../base/text/visible.js'
import { backupCommands, releaseCommand } from './backup-commands.js'
import { findingsCommand } from './finding-commands.js'
import { newPluginCommand } from './plugin-commands.js'
import { retentionCommand } from './retention-command.js'
import type { ShippedView } from './shipped-view.js'
import { stateCommands } from './state-commands.js'

const query = (values: Readonly<Record<string, string | boolean | undefined>>): string => {
  const given = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

const streamEvents = defineCommand({
  path: ['events', 'stream'],
  route: 'GET /v1/events/stream',
  summary: 'Follow the events of the daemon, one a line, until interrupted.',
  flags: {
    'session-id': { kind: 'text', summary: 'Only events of this session.' },
    'run-id': { kind: 'text', summary: 'Only events of this run.' },
    deltas: { kind: 'switch', summary: 'Also what models say while they say it.' },
    cursor: { kind: 'text', summary: 'Replay what came after this event id.' },
  },
  fields: { 'query.include': '--deltas' },
  run: async ({ client, flags, output, print, signal }) => {
    const include = flags['deltas'] === true ? 'deltas' : undefined
    const wanted = { include, session_id: flags['session-id'], run_id: flags['run-id'], cursor: flags['cursor'] }
    const path = `/v1/events/stream${query(wanted)}`
    for await (const { event, id, data } of await client.stream(path, signal)) {
      if (output === 'json') print(JSON.stringify({ event, ...(id !== undefined && { id }), data }))
      else if (event !== 'heartbeat') print(`${id ?? '-'} ${event} ${JSON.stringify(data)}`)
    }
  },
})

const PluginRows = array(
  open({
    id: string(),
    version: string(),
    from: string(),
    state: string(),
    reason: optional(string()),
    last_fault: optional(open({ where: string(), message: string() })),
    summary: string(),
  }),
)

type PluginRow = Infer<typeof PluginRows>[number]
/** Characters of where a plugin failed and of what was thrown there, each. */
const mostFault = 300

/** What a person needs to know of it: why it is not there, or what it did wrong last. */
const told = ({ state, reason, last_fault: last, summary }: PluginRow): string => {
  if (reason !== undefined) return reason
  if (state !== 'degraded' || last === undefined) return summary
  return `failed in ${cutAtWord(last.where, mostFault)}: ${cutAtWord(last.message, mostFault)}`
}

const showPlugins = (plugins: Infer<typeof PluginRows>): string => {
  const width = Math.max(...plugins.map(({ id }) => id.length))
  return plugins
    .map((plugin) => {
      const { id, version, state, from } = plugin
      return visibleLine(
        `${id.padEnd(width)}  ${version.padEnd(7)} ${state.padEnd(9)} ${from.padEnd(8)}  ${told(plugin)}`,
      )
    })
    .join('\n')
}

const listPlugins = defineCommand({
  path: ['plugins', 'list'],
  summary: 'Every plugin with its state; why it is left out, or what it did wrong last.',
  run: async ({ client }) => {
    const status = parse(open({ plugins: json() }), await client.get('/v1/status'))
    return status.ok ? status.value.plugins : []
  },
  answer: PluginRows,
  show: showPlugins,
})

const openapi = defineCommand({
  path: ['openapi'],
  route: 'GET /v1/openapi.json',
  summary: 'The OpenAPI 3.1 document of the daemon.',
  run: ({ client }) => client.get('/v1/openapi.json'),
  answer: json(),
  show: (document) => JSON.stringify(document, null, 2),
})

export const coreCommands = (shipped: ShippedView): readonly Command[] => [
  streamEvents,
  listPlugins,
  newPluginCommand(shipped),
  openapi,
  ...stateCommands(shipped),
  findingsCommand,
  retentionCommand(shipped),
  releaseCommand,
  ...backupCommands(shipped),
]
