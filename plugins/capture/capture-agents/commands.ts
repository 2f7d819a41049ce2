import {
  array,
  cursorFlag,
  defineCommand,
  listedRows,
  open,
  optional,
  number,
  readRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  showTime,
} from '../../../core/plugin.js'
import { osProfiles } from './client/agent-file.js'
import { provisionAgents, Written } from './provision/provision-command.js'

const base = '/v1/capture-agents'
const urlOf = ({ args }: Pick<CommandInput, 'args'>, end = ''): string =>
  `${base}/${encodeURIComponent(args['machine_id'] ?? '')}${end}`

const Agent = open({
  machine_id: string(),
  os_profile: string(),
  heartbeat_state: string(),
  last_heartbeat_at_ms: optional(number()),
  source_ids: array(string()),
})
const heardAt = (ms: number | undefined): string => (ms === undefined ? 'never heard' : showTime(ms))
const showAgent = (agent: Infer<typeof Agent>): string =>
  `${visibleLine(agent.machine_id)}  ${visibleLine(agent.os_profile)}  ${visibleLine(agent.heartbeat_state)}  ` +
  `${heardAt(agent.last_heartbeat_at_ms)}  ${visibleLine(agent.source_ids.join(', '))}`
const showAgents = (rows: Infer<typeof Agent>[]): string =>
  rows.length === 0
    ? 'No capture agents yet. Provision one: holdfast capture-agents provision BATCH --machines NAME --into FOLDER'
    : rows.map(showAgent).join('\n')

const Alert = open({ machine_id: string(), message: string() })
const showAlerts = (rows: Infer<typeof Alert>[]): string =>
  rows.length === 0 ? 'Every agent is heard.' : rows.map(({ message }) => visibleLine(message)).join('\n')

const agentCommands: readonly Command[] = [
  defineCommand({
    path: ['capture-agents', 'list'],
    route: 'GET /v1/capture-agents',
    summary: 'Capture agents by machine, and when each was heard last.',
    flags: cursorFlag,
    run: (input) => readRows(input, base),
    answer: listedRows(Agent),
    show: showRows(showAgents),
  }),
  defineCommand({
    path: ['capture-agents', 'get'],
    route: 'GET /v1/capture-agents/{machine_id}',
    summary: 'One capture agent, with its leases.',
    args: ['machine_id'],
    run: (input) => input.client.get(urlOf(input)),
  }),
  defineCommand({
    path: ['capture-agents', 'provision'],
    route: 'POST /v1/capture-agent-provisions',
    summary: 'Provisions machines, and writes the file that each runs with; what they had before ends at once.',
    args: ['batch_id?'],
    flags: {
      machines: { kind: 'text', value: 'names', summary: 'The machines, separated by commas.' },
      os: { kind: 'text', summary: 'What they run: macos when absent.' },
      sources: {
        kind: 'text',
        summary:
          'Of screen, camera, system_audio and microphone, separated by commas: screen when absent, ' +
          'of linux and windows the microphone.',
      },
      'daemon-url': {
        kind: 'text',
        value: 'url',
        summary: 'Where they reach the daemon: as this command when absent.',
      },
      'interval-ms': { kind: 'text', value: 'ms', summary: 'Time between two captures; 5000 when absent.' },
      into: { kind: 'text', value: 'folder', summary: 'Where the files go: NAME.toml each, for you alone to read.' },
      file: { kind: 'text', value: 'file', summary: 'The whole request as JSON, in place of all that is above.' },
      stdin: { kind: 'switch', summary: 'The whole request as JSON, from standard input.' },
    },
    oneOf: ['--machines', '--file', '--stdin'],
    choices: { os: osProfiles },
    fields: {
      body: '--file',
      'body.batch_id': '<batch_id>',
      'body.agents': '--machines',
      'body.agents.*': '--machines',
      'body.os_profile': '--os',
      'body.daemon_base_url': '--daemon-url',
      'body.sources': '--sources',
      'body.sources.*': '--sources',
    },
    run: provisionAgents,
    answer: Written,
    show: ({ batch_id, files }) =>
      [`Batch ${visibleLine(batch_id)}: on each machine, run holdfast capture --config with its file.`]
        .concat(files.map(({ machine_id, file }) => `${visibleLine(machine_id)}  ${visibleLine(file)}`))
        .join('\n'),
  }),
  defineCommand({
    path: ['capture-agents', 'revoke'],
    route: 'POST /v1/capture-agents/{machine_id}/revoke',
    summary: 'Ends a capture agent: its tokens open nothing any more, and its sources take no uploads.',
    args: ['machine_id'],
    flags: { reason: { kind: 'text', summary: 'Why, for the audit.' } },
    run: (input) =>
      input.client.send('POST', urlOf(input, '/revoke'), {
        ...(typeof input.flags['reason'] === 'string' && { reason: input.flags['reason'] }),
      }),
    answer: Agent,
    show: ({ machine_id }) => `${visibleLine(machine_id)} is revoked.`,
  }),
  defineCommand({
    path: ['capture-agents', 'alerts'],
    route: 'GET /v1/capture-alerts',
    summary: 'Capture agents that were not heard in time.',
    flags: cursorFlag,
    run: (input) => readRows(input, '/v1/capture-alerts'),
    answer: listedRows(Alert),
    show: showRows(showAlerts),
  }),
]

export const commands: readonly Command[] = [
  ...agentCommands,
  defineCommand({
    path: ['capture'],
    alone: true,
    summary: 'Captures on this machine until it is ended: takes what the file of its agent says, and sends it.',
    flags: {
      config: { kind: 'text', value: 'file', summary: 'The file of the agent, as it was provisioned.' },
      source: { kind: 'text', summary: 'Only this source of the file, by its id or stream.' },
      command: {
        kind: 'text',
        summary: 'A command for the shell that captures: into the file in $CAPTURE_FILE, or on its standard output.',
      },
      folder: { kind: 'text', summary: 'A folder whose files are the captures.' },
      once: { kind: 'switch', summary: 'Capture once, send what waits, and end.' },
      spool: {
        kind: 'text',
        value: 'folder',
        summary: 'Where captures wait for the daemon; as the file says when absent.',
      },
    },
    needs: ['--config'],
    // Loaded by those alone who capture.
    run: async (input) => (await import('./client/capture.js')).capture(input),
  }),
]
