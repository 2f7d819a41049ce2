import {
  array,
  cursorFlag,
  defineCommand,
  isJsonObject,
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
  type Json,
  showTime,
  type JsonObject,
} from '../../../core/plugin.js'
import { givenFile } from '../../media/assets/contract.js'
import { chat } from './chat/chat-command.js'
import { follow, followNew, following, followingFields, follows } from './terminal/follow.js'
import { withHold } from './terminal/held-daemon.js'
import { withToolFiles } from './terminal/tool-files.js'
import { RunEvents, showEvents } from './terminal/event-text.js'
import { RunAnswer, showRun, showRuns } from './terminal/run-text.js'

const codes = 'Exit codes: 0 completed, 1 failed, 3 waits for a person, 130 interrupted.'

const runPath = (args: CommandInput['args']): string => `/v1/runs/${encodeURIComponent(args['run_id'] ?? '')}`

const list = defineCommand({
  path: ['runs', 'list'],
  route: 'GET /v1/runs',
  summary: 'Open runs first, then the newest.',
  flags: {
    'session-id': { kind: 'text', summary: 'Only runs of this session.' },
    limit: { kind: 'text', summary: 'Most runs to show, at most 100.' },
    ...cursorFlag,
    unknown: {
      kind: 'switch',
      summary: 'Only runs with an effect of which nobody can tell whether it happened.',
    },
  },
  run: async (input) => {
    const { flags } = input
    const query = new URLSearchParams({ priority_active: 'true', limit: String(flags['limit'] ?? 20) })
    if (typeof flags['session-id'] === 'string') query.set('session_id', flags['session-id'])
    if (flags['unknown'] === true) query.set('unknown', 'true')
    const page = await readRows(input, `/v1/runs?${query.toString()}`)
    return isJsonObject(page) && page['items'] !== undefined
      ? { ...page, items: await withHold(input, page['items']) }
      : page
  },
  answer: listedRows(RunAnswer),
  show: showRows(showRuns),
})

const get = defineCommand({
  path: ['runs', 'get'],
  route: 'GET /v1/runs/{run_id}',
  summary: 'One run, with what it waits for.',
  args: ['run_id'],
  run: async (input) => withToolFiles(input, await withHold(input, await input.client.get(runPath(input.args)))),
  answer: RunAnswer,
  show: showRun,
})

/** Stored files have a place among items alone, where words and other files are items too. */
const inputOf = (input: CommandInput): JsonObject => {
  const text = input.args['text'] ?? ''
  const attached = input.all('attach').map((file) => ({ ...givenFile(file) }))
  const stored = input.all('asset').map((asset_id) => ({ type: 'asset_reference', asset_id }))
  if (stored.length === 0) return { content: text, ...(attached.length > 0 && { attachments: attached }) }
  const words = text === '' ? [] : [{ type: 'text', text }]
  return { input_items: [...words, ...stored, ...attached.map((file) => ({ type: 'inline_asset', ...file }))] }
}

const submit = defineCommand({
  path: ['runs', 'submit'],
  route: 'POST /v1/sessions/{session_id}/runs',
  summary: 'Starts a run in a session and returns at once; --watch follows it as runs watch does.',
  args: ['session_id', 'text?'],
  oneOf: ['<text>', '--attach', '--asset'],
  flags: {
    provider: { kind: 'text', summary: 'Route for this run.' },
    model: { kind: 'text', summary: 'Model for this run.' },
    attach: {
      kind: 'text',
      value: 'file',
      several: true,
      summary: 'A file that the run is given; the model is told the words in it. May be given again.',
    },
    asset: { kind: 'text', value: 'asset_id', several: true, summary: 'A stored file, by its id. May be given again.' },
    worktree: { kind: 'switch', summary: 'Work in a git worktree of its own, from HEAD of the workspace.' },
    'reply-to': { kind: 'text', summary: 'A URL that the outputs of this run are sent to.' },
    'idempotency-key': { kind: 'text', summary: 'The same key with the same text gives the same run.' },
    watch: { kind: 'switch', summary: 'Follow the run until it ends or waits for a person; the exit code says which.' },
    ...following,
  },
  fields: {
    'body.content': '<text>',
    'body.generation.model': '--model',
    'body.reply_targets': '--reply-to',
    'body.attachments': '--attach',
    'body.input_items': ['--asset', '--attach'],
    'body.isolation': '--worktree',
    'header.idempotency-key': '--idempotency-key',
    ...followingFields,
  },
  run: async (input) => {
    const { client, args, flags } = input
    const key = flags['idempotency-key']
    const { provider, model, 'reply-to': url } = flags
    const body = {
      ...inputOf(input),
      ...(typeof provider === 'string' && { provider }),
      ...(typeof model === 'string' && { generation: { model } }),
      ...(flags['worktree'] === true && { isolation: 'worktree' }),
      ...(typeof url === 'string' && { reply_targets: [{ type: 'http', url }] }),
    }
    const path = `/v1/sessions/${encodeURIComponent(args['session_id'] ?? '')}/runs`
    const given = typeof key === 'string' ? { 'idempotency-key': key } : {}
    const send = (): Promise<Json> => client.send('POST', path, body, given)
    return follows(input) ? followNew(input, args['session_id'] ?? '', send) : withHold(input, await send())
  },
  answer: RunAnswer,
  show: showRun,
})

const events = defineCommand({
  path: ['runs', 'events'],
  route: 'GET /v1/runs/{run_id}/events',
  summary: 'Everything that happened to a run, with its model attempts and tool calls.',
  args: ['run_id'],
  run: ({ client, args }) => client.get(`${runPath(args)}/events?steps=true`),
  answer: RunEvents,
  show: showEvents,
})

const cancel = defineCommand({
  path: ['runs', 'cancel'],
  route: 'POST /v1/runs/{run_id}/cancel',
  summary: 'Cancels a run and stops what it does.',
  args: ['run_id'],
  run: ({ client, args }) => client.send('POST', `${runPath(args)}/cancel`),
  answer: RunAnswer,
  show: showRun,
})

const retry = defineCommand({
  path: ['runs', 'retry'],
  route: 'POST /v1/runs/{run_id}/retry',
  summary: 'Makes a new run of one that failed, was interrupted or was cancelled.',
  args: ['run_id'],
  flags: {
    provider: { kind: 'text', summary: 'Another route than that of the run.' },
    watch: {
      kind: 'switch',
      summary: 'Follow the new run until it ends or waits for a person; the exit code says which.',
    },
    ...following,
  },
  fields: followingFields,
  run: async (input) => {
    const { client, args, flags } = input
    const { provider } = flags
    const run = await client.send('POST', `${runPath(args)}/retry`, typeof provider === 'string' ? { provider } : {})
    if (!follows(input) || !isJsonObject(run)) return withHold(input, run)
    return follow(input, String(run['run_id']))
  },
  answer: RunAnswer,
  show: showRun,
})

const watch = defineCommand({
  path: ['runs', 'watch'],
  route: 'GET /v1/runs/{run_id}/stream',
  summary: `Follows a run until it ends or waits for a person. ${codes}`,
  args: ['run_id'],
  flags: following,
  fields: followingFields,
  run: (input) => follow(input, input.args['run_id'] ?? ''),
})

const ActionRow = open({
  timestamp_ms: number(),
  kind: string(),
  target: string(),
  outcome: string(),
  attempts: number(),
  code: optional(string()),
  acknowledged_at_ms: optional(number()),
  approved_by: open({ type: string(), id: string() }),
})

const showActions = (rows: Infer<typeof ActionRow>[]): string => {
  if (rows.length === 0) return 'This run did nothing outside the daemon.'
  return rows
    .map(
      ({ timestamp_ms, kind, target, outcome, attempts, code, acknowledged_at_ms, approved_by: { type, id } }) =>
        `${showTime(timestamp_ms)}  ${outcome.padEnd(7)}  ${kind} ${visibleLine(target)}  by ${type} ` +
        `${visibleLine(id)}${attempts > 1 ? `  ${attempts} attempts` : ''}${code === undefined ? '' : `  ${code}`}` +
        (acknowledged_at_ms === undefined ? '' : '  acknowledged'),
    )
    .join('\n')
}

const actionsPath = (args: CommandInput['args']): string => `${runPath(args)}/external-actions`

const actions = defineCommand({
  path: ['runs', 'actions'],
  route: 'GET /v1/runs/{run_id}/external-actions',
  summary: 'What a run did outside the daemon, and how it ended.',
  args: ['run_id'],
  run: ({ client, args }) => client.get(actionsPath(args)),
  answer: array(ActionRow),
  show: showActions,
})

const acknowledge = defineCommand({
  path: ['runs', 'acknowledge'],
  route: 'POST /v1/runs/{run_id}/external-actions/acknowledge',
  summary: 'Says that you have looked at the actions of a run whose outcome is unknown.',
  args: ['run_id'],
  flags: { note: { kind: 'text', summary: 'What you found; kept in the ledger.' } },
  run: ({ client, args, flags }) =>
    client.send(
      'POST',
      `${actionsPath(args)}/acknowledge`,
      typeof flags['note'] === 'string' ? { note: flags['note'] } : {},
    ),
  answer: array(ActionRow),
  show: showActions,
})

export const commands: readonly Command[] = [
  chat,
  list,
  get,
  submit,
  events,
  cancel,
  retry,
  watch,
  actions,
  acknowledge,
]
