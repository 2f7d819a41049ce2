import { array, defineCommand, open, parse, string, number, type Command, type Json } from '../../../core/plugin.js'
import { plain, sessionPath, showSession, showSessions } from './pretty.js'
import { settingCommands } from './setting-commands.js'

const Log = open({ session: open({ journal: array(open({ seq: number(), type: string(), entry: open({}) })) }) })

const showLog = (answer: Json): string => {
  const parsed = parse(Log, answer)
  return parsed.ok
    ? parsed.value.session.journal
        .map(
          ({ seq, type, entry }) =>
            `${String(seq).padStart(6)}  ${type.padEnd(8)}  ${JSON.stringify(entry).slice(0, 160)}`,
        )
        .join('\n')
    : plain(answer)
}

export const sessionCommands: readonly Command[] = [
  defineCommand({
    path: ['sessions', 'list'],
    summary: 'Sessions by id.',
    flags: { limit: { kind: 'text', summary: 'Most sessions to show, at most 100.' } },
    run: ({ client, flags }) => client.get(`/v1/sessions?limit=${encodeURIComponent(String(flags['limit'] ?? 50))}`),
    show: showSessions,
  }),
  defineCommand({
    path: ['sessions', 'get'],
    summary: 'One session.',
    args: ['session_id'],
    run: ({ client, args }) => client.get(sessionPath(args)),
    show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'create'],
    summary: 'Creates a session, or uses the one that has this id.',
    args: ['session_id?'],
    flags: { persona: { kind: 'text', summary: 'Id of the persona that it is bound to.' } },
    run: ({ client, args, flags: { persona } }) =>
      client.send('POST', '/v1/sessions', {
        ...(args['session_id'] !== undefined && { session_id: args['session_id'] }),
        ...(typeof persona === 'string' && { persona_id: persona }),
      }),
    show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'end'],
    summary: 'Ends a session and what runs in it.',
    args: ['session_id'],
    flags: { reason: { kind: 'text', summary: 'Kept with the session.' } },
    run: ({ client, args, flags }) =>
      client.send(
        'POST',
        `${sessionPath(args)}/end`,
        typeof flags['reason'] === 'string' ? { reason: flags['reason'] } : {},
      ),
    show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'interrupt'],
    summary: 'Ends the active run of a session.',
    args: ['session_id'],
    run: ({ client, args }) => client.send('POST', `${sessionPath(args)}/interrupt`),
    show: (answer) =>
      typeof answer === 'object' && answer !== null && !Array.isArray(answer) && answer['interrupted'] === true
        ? 'Interrupted.'
        : 'There was nothing to interrupt.',
  }),
  defineCommand({
    path: ['sessions', 'events'],
    summary: 'The journal of a session.',
    args: ['session_id'],
    run: ({ client, args }) => client.get(`${sessionPath(args)}/events`),
    show: showLog,
  }),
  ...settingCommands,
]
