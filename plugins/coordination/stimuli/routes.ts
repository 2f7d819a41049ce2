import {
  array,
  clampLimit,
  defineRoute,
  doc,
  enums,
  integer,
  jsonObject,
  jsonReply,
  object,
  optional,
  pageProblems,
  rule,
  sliced,
  string,
  timestamp,
  type Route,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import { channelErrors, type Channels } from '../channels/contract.js'
import { stimulusKinds, type StimulusDraft } from './contract.js'
import { mostContent, mostName } from './create.js'
import { stimulusErrors } from './errors.js'
import {
  scopes,
  shownStimulus,
  Stimulus,
  stimulusStates,
  visibilityHints,
  type StimulusRecord,
} from './record/stimulus.js'
import { stimulusGroup, type StimulusStore } from './record/store.js'
import { ThreadWork, type WorkRecord } from './record/thread-work.js'

export interface StimulusRouteParts {
  readonly state: State
  readonly store: StimulusStore
  readonly channels: Channels
  readonly create: (tx: Tx, draft: StimulusDraft) => StimulusRecord
}

const params = object({ channel_id: string({ min: 1, max: 200 }) })
const mostListed = 1_000
const mostBindings = 100

/** The other spelling is taken, and never given. */
const Kind = enums([...stimulusKinds, 'thread_idle_follow_up'])
const name = () => optional(string({ max: mostName }))

const Draft = object({
  scope: doc(enums(scopes), 'Whether it may open a subject, or continues a thread.'),
  thread_root_message_id: name(),
  kind: Kind,
  visibility_hint: optional(doc(enums(visibilityHints), 'Where it is told; auto when absent.')),
  content: doc(string({ max: mostContent }), 'What is said; must not be blank.'),
  addressed_member_ids: optional(array(string({ max: 400 }), { max: 100 })),
  sender_session_id: name(),
  sender_actor_id: name(),
  sender_display_name: name(),
  source_kind: name(),
  source_ref: name(),
  dedupe_key: optional(doc(string({ max: mostName }), 'Names what it is about.')),
  progress_key: optional(doc(string({ max: mostName }), 'Names what it tells the newest of.')),
  available_at_ms: optional(timestamp()),
  expires_at_ms: optional(timestamp()),
  metadata: optional(
    rule(
      jsonObject(),
      'must have at most 65536 bytes as JSON',
      (value) => Buffer.byteLength(JSON.stringify(value)) <= 65_536,
    ),
  ),
})

export const stimulusRoutes = (parts: StimulusRouteParts): readonly Route[] => [list(parts), create(parts), work(parts)]

const list = ({ store, channels }: StimulusRouteParts): Route =>
  defineRoute({
    id: 'channels.stimuli.list',
    method: 'GET',
    path: '/v1/channels/:channel_id/stimuli',
    summary: `Lists the newest stimuli of a channel, at most ${mostListed}, in the order in which they came.`,
    access: 'read',
    params,
    query: object({
      thread_root_message_id: optional(doc(string({ max: mostName }), 'Only those of this thread.')),
      state: optional(enums(stimulusStates)),
      limit: optional(doc(integer(), `Most stimuli, the newest: 1 to ${mostListed}.`)),
      before: optional(doc(string({ max: mostName }), 'Only stimuli that came before this one.')),
    }),
    reply: jsonReply(array(Stimulus)),
    problems: [...pageProblems, channelErrors.channel_not_found],
    handler: ({
      params: { channel_id },
      query: { thread_root_message_id: thread, state, limit = mostListed, before },
    }) => {
      channels.get(channel_id)
      const beyond = before === undefined ? {} : { beyond: before }
      const page = { ...stimulusGroup(channel_id, { thread, state }), ...beyond, order: 'desc' } as const
      const newest = store.stimuli.page({ ...page, limit: clampLimit(limit, mostListed) })
      return sliced(function* () {
        for (const id of newest.toReversed()) {
          const found = store.stimuli.find(id)
          yield found && shownStimulus(found)
        }
      })
    },
  })

const create = ({ state, create: keep }: StimulusRouteParts): Route =>
  defineRoute({
    id: 'channels.stimuli.create',
    method: 'POST',
    path: '/v1/channels/:channel_id/stimuli',
    summary: 'Has something said in a channel when it may be.',
    access: 'admin',
    params,
    body: Draft,
    reply: jsonReply(Stimulus, 201),
    problems: [
      channelErrors.channel_not_found,
      channelErrors.channel_message_not_found,
      channelErrors.channel_invalid_request,
      stimulusErrors.channel_stimuli_full,
    ],
    durability: 'A',
    example: { body: { scope: 'channel', kind: 'agent_idea', content: 'The bakery opens at six.' } },
    handler: ({ params: { channel_id }, body: { kind, ...body } }) => {
      const named = kind === 'thread_idle_follow_up' ? 'thread_idle_followup' : kind
      return state.commit((tx) => shownStimulus(keep(tx, { ...body, kind: named, channel_id })))
    },
  })

const shownWork = ({ bindings }: StimulusStore, work: WorkRecord): ThreadWork => ({
  ...work,
  bindings: bindings
    .list({ index: 'thread', group: work.thread_root_message_id, order: 'desc', limit: mostBindings })
    .map(({ channel_id: _channel, thread_root_message_id: _root, ...bound }) => bound),
})

const work = ({ store, channels }: StimulusRouteParts): Route =>
  defineRoute({
    id: 'channels.thread_work',
    method: 'GET',
    path: '/v1/channels/:channel_id/thread-work',
    summary: `What is worked on in the threads of a channel, by their roots: the newest ${mostListed}.`,
    access: 'read',
    params,
    query: object({
      thread_root_message_id: optional(doc(string({ max: mostName }), 'That of this thread alone, if there is one.')),
      before: optional(doc(string({ max: mostName }), 'Only those of threads before this one.')),
    }),
    reply: jsonReply(array(ThreadWork)),
    problems: [channelErrors.channel_not_found],
    handler: ({ params: { channel_id }, query: { thread_root_message_id: root, before } }) => {
      channels.get(channel_id)
      const beyond = before === undefined ? {} : { beyond: before }
      const newest = { index: 'channel', group: channel_id, order: 'desc', limit: mostListed, ...beyond } as const
      const ids = root === undefined ? store.work.page(newest).toReversed() : [root]
      return sliced(function* () {
        for (const id of ids) {
          const found = store.work.find(id)
          yield found?.channel_id === channel_id ? shownWork(store, found) : undefined
        }
      })
    },
  })
