/** What sidecars send, and what they are answered (external-12). */
import {
  array,
  doc,
  enums,
  integer,
  json,
  named,
  open,
  object,
  optional,
  passing,
  string,
  type Infer,
} from '../../../../core/plugin.js'
import { InlineAsset, InputItem } from '../../../execution/runs/contract.js'

/** Versions that events may have; the last one is meant where none is said. */
export const eventVersions = [1, 2] as const
export const mostEvents = 64

const protocolVersion = optional(doc(integer(), 'Of the form of events: 1 or 2, and 2 when absent.'))

/** Members that it does not know are dropped: what the form has one day may be sent already. */
export const ExternalEvent = named(
  'ExternalIngressEvent',
  open({
    protocol_version: protocolVersion,
    instance_id: doc(string(), 'Names the process of the sidecar.'),
    event_id: doc(string(), 'Names the event among all of this connector: sent again, it is the same event.'),
    fingerprint: optional(doc(string(), 'Of what it says, such as a revision: another one under its id is refused.')),
    occurred_at_ms: optional(doc(integer(), 'When it happened, in ms since 1970.')),
    actor_id: optional(doc(string(), 'Who did it.')),
    source_kind: optional(doc(string(), 'What kind of source it is of; the platform when absent.')),
    intent: optional(doc(string(), 'What it is meant as.')),
    relation: optional(
      doc(
        open({ kind: optional(string()), target_event_id: optional(string()) }),
        'How it relates to an earlier event.',
      ),
    ),
    thread: optional(
      open({ path: optional(doc(array(string()), 'The conversation, from the outermost part to the innermost.')) }),
    ),
    routing_key: optional(doc(string(), 'The conversation, where there is no thread.')),
    content: optional(doc(string(), 'What the model is told; with attachments or without.')),
    input_items: optional(doc(array(InputItem), 'What the model is told, in place of content and attachments.')),
    attachments: optional(doc(array(InlineAsset), 'Files that came with it.')),
    reply_route: optional(doc(string(), 'Where the answer goes, in words of the sidecar; it comes back with it.')),
    metadata: optional(doc(json(), 'Kept with the run.')),
  }),
)
/** The value form of `ExternalEvent`. */
export type ExternalEvent = Infer<typeof ExternalEvent>

/** An event of a version that is not known here: nobody can say what its form is (external-14). */
export interface StrangeEvent {
  readonly protocol_version: number
  readonly event_id?: unknown
}
const isKnown = (version: number): boolean => eventVersions.some((known) => known === version)
/** `shared` is the version of its batch. */
export const isStrange = (given: unknown, shared?: number): given is StrangeEvent => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  const version: unknown = shared ?? Reflect.get(given, 'protocol_version')
  return Number.isInteger(version) && !isKnown(Number(version))
}
export const GivenEvent = passing(ExternalEvent, {
  holds: (given): given is StrangeEvent => isStrange(given),
  schema: {
    type: 'object',
    allOf: [
      {
        properties: { protocol_version: { type: 'integer', not: { enum: [...eventVersions] } } },
        required: ['protocol_version'],
      },
    ],
  },
})

export const EventBatch = named(
  'ExternalIngressBatch',
  open({
    protocol_version: protocolVersion,
    events: doc(array(json()), `At most ${mostEvents} events in their order, each as it would be sent alone.`),
  }),
)
/** The value form of `EventBatch`. */
export type EventBatch = Infer<typeof EventBatch>

const answerFields = {
  event_id: optional(string()),
  session_id: optional(doc(string(), 'Of the first event of this id, where it came before.')),
  run_id: optional(doc(string(), 'Of the first event of this id, where it came before.')),
  reason: optional(doc(string(), 'Why it was not taken, for people.')),
}
export const singleStatuses = ['accepted', 'duplicate', 'rejected'] as const
export const EventAnswer = named('ExternalIngressAnswer', object({ ...answerFields, status: enums(singleStatuses) }))
/** The value form of `EventAnswer`. */
export type EventAnswer = Infer<typeof EventAnswer>

export const BatchItem = named(
  'ExternalIngressBatchItem',
  object({
    ...answerFields,
    status: doc(
      enums([...singleStatuses, 'rate_limited', 'error']),
      'What was rejected stays so; rate_limited and error may be sent again.',
    ),
    retry_after_ms: optional(doc(integer({ min: 1 }), 'How long to wait.')),
  }),
)
/** The value form of `BatchItem`. */
export type BatchItem = Infer<typeof BatchItem>
export const BatchAnswer = named(
  'ExternalIngressBatchAnswer',
  object({ results: optional(doc(array(BatchItem), 'In the order of the events; absent for none.')) }),
)

/** The version of an event; `shared` is that of its batch. */
export const versionOf = (event: Pick<ExternalEvent, 'protocol_version'>, shared?: number): number =>
  shared ?? event.protocol_version ?? 2

/** True if the model is told nothing by it. */
export const isEmpty = ({ content = '', attachments = [], input_items = [] }: ExternalEvent): boolean =>
  content.trim() === '' &&
  attachments.length === 0 &&
  input_items.every((item) => item.type === 'text' && item.text.trim() === '')
