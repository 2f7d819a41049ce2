import {
  array,
  boolean,
  cursorFlag,
  defineCommand,
  listedRows,
  number,
  open,
  optional,
  readRows,
  showRows,
  string,
  type Command,
  type Infer,
} from '../../../core/plugin.js'
import {
  SessionAnswer,
  sessionPath,
  SessionRow,
  showSession,
  showSessions,
  withAsked,
} from './terminal/session-text.js'
import { settingCommands } from './terminal/setting-commands.js'

const Log = open({ session: open({ journal: array(open({ seq: number(), type: string(), entry: open({}) })) }) })

const showLog = ({ session }: Infer<typeof Log>): string =>
  session.journal
    .map(
      ({ seq, type, entry }) => `${String(seq).padStart(6)}  ${type.padEnd(8)}  ${JSON.stringify(entry).slice(0, 160)}`,
    )
    .join('\n')

const Compacted = open({
  compacted: boolean(),
  message: optional(string()),
  messages: optional(number()),
  tokens_before: optional(number()),
  tokens_after: optional(number()),
})

const showCompacted = ({ compacted, message = '', ...of }: Infer<typeof Compacted>): string =>
  compacted
    ? `Summed up ${of.messages} messages: about ${of.tokens_before} tokens before, ${of.tokens_after} after.`
    : `Not summed up: ${message}`

export const commands: readonly Command[] = [
  defineCommand({
    path: ['sessions', 'list'],
    route: 'GET /v1/sessions',
    summary: 'Sessions by id.',
    flags: { limit: { kind: 'text', summary: 'Most sessions to show, at most 100.' }, ...cursorFlag },
    run: (input) => readRows(input, `/v1/sessions?limit=${encodeURIComponent(String(input.flags['limit'] ?? 50))}`),
    answer: listedRows(SessionRow),
    show: showRows(showSessions),
  }),
  defineCommand({
    path: ['sessions', 'get'],
    route: 'GET /v1/sessions/{session_id}',
    summary: 'One session.',
    args: ['session_id'],
    run: async (input) => withAsked(input, await input.client.get(sessionPath(input.args))),
    answer: SessionAnswer,
    show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'create'],
    route: 'POST /v1/sessions',
    summary: 'Creates a session, or uses the one that has this id.',
    args: ['session_id?'],
    flags: { persona: { kind: 'text', summary: 'Id of the persona that it is bound to.' } },
    fields: { 'body.persona_id': '--persona' },
    run: ({ client, args, flags: { persona } }) =>
      client.send('POST', '/v1/sessions', {
        ...(args['session_id'] !== undefined && { session_id: args['session_id'] }),
        ...(typeof persona === 'string' && { persona_id: persona }),
      }),
    answer: SessionAnswer,
    show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'end'],
    route: 'POST /v1/sessions/{session_id}/end',
    summary: 'Ends a session and what runs in it.',
    args: ['session_id'],
    flags: { reason: { kind: 'text', summary: 'Kept with the session.' } },
    run: ({ client, args, flags }) =>
      client.send(
        'POST',
        `${sessionPath(args)}/end`,
        typeof flags['reason'] === 'string' ? { reason: flags['reason'] } : {},
      ),
    answer: SessionAnswer,
    show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'interrupt'],
    route: 'POST /v1/sessions/{session_id}/interrupt',
    summary: 'Ends the active run of a session.',
    args: ['session_id'],
    run: ({ client, args }) => client.send('POST', `${sessionPath(args)}/interrupt`),
    answer: open({ interrupted: boolean() }),
    show: ({ interrupted }) => (interrupted ? 'Interrupted.' : 'There was nothing to interrupt.'),
  }),
  defineCommand({
    path: ['sessions', 'compact'],
    route: 'POST /v1/sessions/{session_id}/compact',
    summary: 'Sums up the older part of what was said in a session, for its models.',
    args: ['session_id'],
    flags: { instructions: { kind: 'text', summary: 'What the summary must keep, say.' } },
    fields: { 'body.instructions': '--instructions' },
    run: ({ client, args, flags: { instructions } }) =>
      client.send('POST', `${sessionPath(args)}/compact`, {
        ...(typeof instructions === 'string' && { instructions }),
      }),
    answer: Compacted,
    show: showCompacted,
  }),
  defineCommand({
    path: ['sessions', 'events'],
    route: 'GET /v1/sessions/{session_id}/events',
    summary: 'The journal of a session.',
    args: ['session_id'],
    run: ({ client, args }) => client.get(`${sessionPath(args)}/events`),
    answer: Log,
    show: showLog,
  }),
  ...settingCommands,
]
