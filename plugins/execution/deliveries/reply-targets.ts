/** Where outputs go: as it is stored, and as it is asked for (sessions-19 and sessions-20). */
import {
  doc,
  integer,
  literal,
  named,
  object,
  optional,
  record,
  string,
  tagged,
  type Infer,
} from '../../../core/plugin.js'

/** Characters of an address, with headers that are sealed: those of 20,000 in clear fit, in ASCII. */
export const mostAddress = 28_000

/** A place that outputs go to: which reply plugin, and what it needs to reach it. */
export const ReplyHandle = named(
  'ReplyHandle',
  object({
    plugin: string({ min: 1, max: 100 }),
    address: doc(string({ min: 1, max: mostAddress }), 'What the plugin needs, as text.'),
  }),
)
/** The value form of `ReplyHandle`. */
export type ReplyHandle = Infer<typeof ReplyHandle>

const id = () => string({ min: 1, max: 400 })
/** The forms in which a reply target is requested (sessions-20). */
export const ReplyTargetRequest = tagged('type', {
  raw: object({
    type: literal('raw'),
    plugin: string({ min: 1, max: 100 }),
    address: string({ min: 1, max: mostAddress }),
  }),
  external: object({ type: literal('external'), connector: id(), route: string({ min: 1, max: 20_000 }) }),
  telegram: object({
    type: literal('telegram'),
    connector: id(),
    chat_id: integer(),
    message_thread_id: optional(integer()),
    reply_to_message_id: optional(integer()),
  }),
  slack: object({
    type: literal('slack'),
    connector: id(),
    channel_id: id(),
    enterprise_id: optional(id()),
    team_id: optional(id()),
    thread_ts: optional(id()),
  }),
  http: object({
    type: literal('http'),
    url: string({ min: 1, max: 8000 }),
    headers: optional(record(string({ max: 8000 }))),
  }),
})
/** The value form of `ReplyTargetRequest`. */
export type ReplyTargetRequest = Infer<typeof ReplyTargetRequest>
