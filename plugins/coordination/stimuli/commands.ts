/** Stimuli and the work of threads from the command line. */
import {
  array,
  commandErrors,
  count,
  defineCommand,
  open,
  optional,
  showTime,
  string,
  timestamp,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
} from '../../../core/plugin.js'
import { stimulusKinds } from './contract.js'
import { stimulusStates, visibilityHints } from './record/stimulus.js'

const route = '/v1/channels/{channel_id}'
const pathOf = ({ args }: CommandInput): string => `/v1/channels/${encodeURIComponent(args['channel_id'] ?? '')}`

/** The flags that were given, as the query of a request. */
const queryOf = ({ flags }: CommandInput, names: Readonly<Record<string, string>>): string => {
  const query = new URLSearchParams()
  for (const [flag, field] of Object.entries(names)) if (typeof flags[flag] === 'string') query.set(field, flags[flag])
  return query.size === 0 ? '' : `?${query.toString()}`
}

const Row = open({
  stimulus_id: string(),
  state: string(),
  kind: string(),
  content: string(),
  available_at_ms: timestamp(),
  last_error: optional(string()),
})
const showStimulus = (one: Infer<typeof Row>): string =>
  [
    `${one.stimulus_id}  ${one.state}  ${one.kind}  ${showTime(one.available_at_ms)}`,
    `  ${visibleLine(one.content.slice(0, 200))}`,
    ...(one.last_error === undefined ? [] : [`  ${visibleLine(one.last_error)}`]),
  ].join('\n')

const Work = open({
  thread_root_message_id: string(),
  topic_kind: string(),
  status: string(),
  owner_session_id: optional(string()),
  bindings: array(open({ binding_kind: string(), binding_ref: string() })),
})
const showWork = (work: Infer<typeof Work>): string =>
  [
    `${work.thread_root_message_id}  ${work.status}  ${work.topic_kind}`,
    ...(work.owner_session_id === undefined ? [] : [visibleLine(work.owner_session_id)]),
    ...(work.bindings.length === 0 ? [] : [count(work.bindings.length, 'binding')]),
  ].join('  ')

/** The other spelling is taken by the daemon, too. */
const takenKinds: ReadonlySet<string> = new Set([...stimulusKinds, 'thread_idle_follow_up'])

const thread = { kind: 'text', summary: 'Only of this thread: the id of the message that opened it.' } as const

export const commands: readonly Command[] = [
  defineCommand({
    path: ['channels', 'stimuli', 'list'],
    route: `GET ${route}/stimuli`,
    summary: 'What agents, schedules and others would say in a channel, the newest last.',
    args: ['channel_id'],
    flags: {
      thread,
      state: { kind: 'text', summary: 'Only those in this state.' },
      limit: { kind: 'text', value: 'n', summary: 'Most stimuli, the newest.' },
    },
    choices: { state: stimulusStates },
    fields: { 'query.thread_root_message_id': '--thread' },
    run: (input) => {
      const query = queryOf(input, { thread: 'thread_root_message_id', state: 'state', limit: 'limit' })
      return input.client.get(`${pathOf(input)}/stimuli${query}`)
    },
    answer: array(Row),
    show: (rows) => (rows.length === 0 ? 'No stimuli.' : rows.map(showStimulus).join('\n')),
  }),
  defineCommand({
    path: ['channels', 'stimuli', 'create'],
    route: `POST ${route}/stimuli`,
    summary: 'Has something said in a channel when its policy lets it.',
    args: ['channel_id', 'content'],
    flags: {
      thread: { kind: 'text', summary: 'The thread that it continues; without one it may open a subject.' },
      kind: { kind: 'text', summary: 'What it tells of; agent_idea when absent.' },
      hint: { kind: 'text', summary: 'Where it is told.' },
      dedupe: { kind: 'text', value: 'key', summary: 'Names what it is about: what is the same is said once.' },
      'progress-key': { kind: 'text', value: 'key', summary: 'Names what it tells the newest of.' },
    },
    choices: { kind: stimulusKinds, hint: visibilityHints },
    fields: {
      'body.scope': '--thread',
      'body.thread_root_message_id': '--thread',
      'body.kind': '--kind',
      'body.visibility_hint': '--hint',
      'body.dedupe_key': '--dedupe',
    },
    run: async (input) => {
      const { thread: root, kind = 'agent_idea', hint, dedupe, 'progress-key': progress } = input.flags
      if (!takenKinds.has(String(kind)))
        throw commandErrors.flag_invalid({ details: { flag: 'kind', problem: `must be ${stimulusKinds.join(', ')}` } })
      return input.client.send('POST', `${pathOf(input)}/stimuli`, {
        content: input.args['content'] ?? '',
        scope: typeof root === 'string' ? 'thread' : 'channel',
        kind,
        ...(typeof root === 'string' && { thread_root_message_id: root }),
        ...(typeof hint === 'string' && { visibility_hint: hint }),
        ...(typeof dedupe === 'string' && { dedupe_key: dedupe }),
        ...(typeof progress === 'string' && { progress_key: progress }),
      })
    },
    answer: Row,
    show: showStimulus,
  }),
  defineCommand({
    path: ['channels', 'thread-work'],
    route: `GET ${route}/thread-work`,
    summary: 'What is worked on in the threads of a channel.',
    args: ['channel_id'],
    flags: { thread },
    fields: { 'query.thread_root_message_id': '--thread' },
    run: (input) =>
      input.client.get(`${pathOf(input)}/thread-work${queryOf(input, { thread: 'thread_root_message_id' })}`),
    answer: array(Work),
    show: (rows) => (rows.length === 0 ? 'Nothing is worked on in threads.' : rows.map(showWork).join('\n')),
  }),
]
