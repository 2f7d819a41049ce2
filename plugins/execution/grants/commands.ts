import {
  cursorFlag,
  defineCommand,
  enums,
  listedRows,
  number,
  open,
  optional,
  readRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  showTime,
  withMembers,
} from '../../../core/plugin.js'
import { grantRuleKinds, grantText } from '../tools/contract.js'
import { wishOf } from './contract.js'

const Row = open({
  grant_id: string(),
  session_id: optional(string()),
  tool_name: string(),
  rule: open({ kind: enums(grantRuleKinds), value: string() }),
  expires_at_ms: number(),
})
type Row = Infer<typeof Row>

const showGrant = ({ grant_id, session_id, tool_name, rule, expires_at_ms }: Row): string =>
  [
    `${grant_id}  ${grantText(tool_name, rule)}`,
    `  in ${session_id === undefined ? 'every session' : `session ${visibleLine(session_id)}`}, until ` +
      `${showTime(expires_at_ms)}`,
  ].join('\n')

const showGrants = (rows: Row[]): string =>
  rows.length === 0 ? 'No approval is remembered.' : rows.map(showGrant).join('\n')

const list = {
  summary: 'Approvals that are remembered and hold.',
  flags: { 'session-id': { kind: 'text' as const, summary: 'Only those that hold in this session.' }, ...cursorFlag },
  run: (input: CommandInput) => {
    const session = input.flags['session-id']
    const query = new URLSearchParams({ limit: '100', ...(typeof session === 'string' && { session_id: session }) })
    return readRows(input, `/v1/grants?${query.toString()}`)
  },
  answer: listedRows(Row),
  show: showRows(showGrants),
}

export const commands: readonly Command[] = [
  defineCommand({ path: ['grants'], ...list }),
  defineCommand({ path: ['grants', 'list'], route: 'GET /v1/grants', ...list }),
  defineCommand({
    path: ['grants', 'add'],
    route: 'POST /v1/grants',
    summary: 'Lets calls of a tool pass without asking, in one session or in all.',
    args: ['tool_name'],
    flags: {
      'input-json': { kind: 'text', value: 'json', summary: 'A call that is to pass, such as {"command":"npm test"}.' },
      'session-id': { kind: 'text', summary: 'Only in this session; in every session when absent.' },
      'command-prefix': { kind: 'text', summary: 'Every command that begins with these words, and is plain words.' },
      hours: { kind: 'text', summary: 'How long it holds; a day, unless it is configured.' },
    },
    needs: ['--input-json'],
    fields: {
      'body.input': '--input-json',
      'body.input.*': '--input-json',
      'body.session_id': '--session-id',
      'body.command_prefix': '--command-prefix',
      'body.expires_in_ms': '--hours',
    },
    run: async (input) => {
      const { client, args, flags, json } = input
      return client.send('POST', '/v1/grants', {
        tool_name: args['tool_name'] ?? '',
        input: withMembers(await json('input-json'), {}),
        ...(typeof flags['session-id'] === 'string' && { session_id: flags['session-id'] }),
        ...wishOf(input),
      })
    },
    answer: Row,
    show: showGrant,
  }),
  defineCommand({
    path: ['grants', 'revoke'],
    route: 'DELETE /v1/grants/{grant_id}',
    summary: 'Revokes a remembered approval: the next call is asked about again.',
    args: ['grant_id'],
    run: ({ client, args }) => client.send('DELETE', `/v1/grants/${encodeURIComponent(args['grant_id'] ?? '')}`),
    answer: Row,
    show: (grant) => `Revoked ${showGrant(grant)}`,
  }),
]
