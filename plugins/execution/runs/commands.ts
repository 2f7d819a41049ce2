import { defineCommand, type Command, type CommandInput } from '../../../core/plugin.js'
import { saysEnded, showEvents, showRun, showRuns, showStreamed } from './pretty.js'

const runPath = (args: CommandInput['args']): string => `/v1/runs/${encodeURIComponent(args['run_id'] ?? '')}`

const list = defineCommand({
  path: ['runs', 'list'],
  summary: 'Open runs first, then the newest.',
  flags: {
    'session-id': { kind: 'text', summary: 'Only runs of this session.' },
    limit: { kind: 'text', summary: 'Most runs to show, at most 100.' },
  },
  run: ({ client, flags }) => {
    const query = new URLSearchParams({ priority_active: 'true', limit: String(flags['limit'] ?? 20) })
    if (typeof flags['session-id'] === 'string') query.set('session_id', flags['session-id'])
    return client.get(`/v1/runs?${query.toString()}`)
  },
  show: showRuns,
})

const get = defineCommand({
  path: ['runs', 'get'],
  summary: 'One run, with what it waits for.',
  args: ['run_id'],
  run: ({ client, args }) => client.get(runPath(args)),
  show: showRun,
})

const submit = defineCommand({
  path: ['runs', 'submit'],
  summary: 'Starts a run in a session and returns at once; --watch follows it.',
  args: ['session_id', 'text'],
  flags: {
    provider: { kind: 'text', summary: 'Route for this run.' },
    model: { kind: 'text', summary: 'Model for this run.' },
    'reply-to': { kind: 'text', summary: 'A URL that the outputs of this run are sent to.' },
    'idempotency-key': { kind: 'text', summary: 'The same key with the same text gives the same run.' },
    watch: { kind: 'switch', summary: 'Follow the run until it ends.' },
  },
  run: async (input) => {
    const { client, args, flags } = input
    const key = flags['idempotency-key']
    const { provider, model, 'reply-to': url } = flags
    const body = {
      content: args['text'] ?? '',
      ...(typeof provider === 'string' && { provider }),
      ...(typeof model === 'string' && { generation: { model } }),
      ...(typeof url === 'string' && { reply_targets: [{ type: 'http', url }] }),
    }
    const path = `/v1/sessions/${encodeURIComponent(args['session_id'] ?? '')}/runs`
    const run = await client.send('POST', path, body, typeof key === 'string' ? { 'idempotency-key': key } : {})
    if (flags['watch'] !== true || typeof run !== 'object' || run === null || Array.isArray(run)) return run
    return follow(input, String(run['run_id']))
  },
  show: showRun,
})

const events = defineCommand({
  path: ['runs', 'events'],
  summary: 'Everything that happened to a run.',
  args: ['run_id'],
  run: ({ client, args }) => client.get(`${runPath(args)}/events`),
  show: showEvents,
})

const cancel = defineCommand({
  path: ['runs', 'cancel'],
  summary: 'Cancels a run and stops what it does.',
  args: ['run_id'],
  run: ({ client, args }) => client.send('POST', `${runPath(args)}/cancel`),
  show: showRun,
})

const retry = defineCommand({
  path: ['runs', 'retry'],
  summary: 'Makes a new run of one that failed, was interrupted or was cancelled.',
  args: ['run_id'],
  flags: {
    provider: { kind: 'text', summary: 'Another route than that of the run.' },
    watch: { kind: 'switch', summary: 'Follow the new run until it ends.' },
  },
  run: async (input) => {
    const { client, args, flags } = input
    const { provider } = flags
    const run = await client.send('POST', `${runPath(args)}/retry`, typeof provider === 'string' ? { provider } : {})
    if (flags['watch'] !== true || typeof run !== 'object' || run === null || Array.isArray(run)) return run
    return follow(input, String(run['run_id']))
  },
  show: showRun,
})

const watch = defineCommand({
  path: ['runs', 'watch'],
  summary: 'Follows a run until it ends.',
  args: ['run_id'],
  run: (input) => follow(input, input.args['run_id'] ?? ''),
})

/** Shows a run as it is and then each change, until it has ended. */
const follow = async ({ client, output, print, signal }: CommandInput, run_id: string): Promise<void> => {
  const path = `/v1/runs/${encodeURIComponent(run_id)}`
  const ended = new AbortController()
  const frames = client.stream(`${path}/stream`, AbortSignal.any([signal, ended.signal]))
  const show = (event: string, data: Parameters<typeof showRun>[0]): void => {
    const text = output === 'json' ? JSON.stringify({ event, data }) : showStreamed(event, data)
    if (text !== undefined) print(text)
  }
  const now = { run: await client.get(path) }
  show('run_updated', now)
  if (saysEnded('run_updated', now)) return ended.abort()
  for await (const { event, data } of frames) {
    show(event, data)
    if (saysEnded(event, data)) return ended.abort()
  }
}

export const runCommands: readonly Command[] = [list, get, submit, events, cancel, retry, watch]
