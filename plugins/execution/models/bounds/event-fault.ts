/** What is wrong with an event of a provider: a plugin that no compiler has checked may yield anything (models-76). */
import {
  array,
  boolean,
  enums,
  integer,
  json,
  isJsonObject,
  object,
  open,
  optional,
  parse,
  rule,
  string,
  tagged,
  type AnyStruct,
} from '../../../../core/plugin.js'
import { failureClasses } from './failure-class.js'
import { unreadIn } from './foreign-connection.js'
import { TakenUsage } from './usage.js'

/** Deepest nesting of what stands in a part. */
const mostDepth = 128

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))

const isJson = (value: unknown, depth = mostDepth): boolean => {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return ['string', 'boolean', 'object'].includes(typeof value)
  const isInside = (inner: unknown): boolean => isJson(inner, depth - 1)
  if (depth === 0) return false
  if (Array.isArray(value)) return value.every(isInside)
  return isPlain(value) && Object.values(value).every((inner) => inner === undefined || isInside(inner))
}

const plain = rule(json(), 'must be a JSON value', (value) => isJson(value))
const metadata = optional(rule(json(), 'must be a JSON object', (value) => isJsonObject(value) && isJson(value)))
const pages = array(open({ url: string(), title: string() }))

/** Code units of a call: some servers put into an id what they want back, and no tool has a name as long as that. */
const [mostId, mostName] = [64 * 1024, 1_000]

const part = tagged('type', {
  text: open({ type: string(), text: string(), metadata, cites: optional(pages) }),
  reasoning: open({ type: string(), text: string(), metadata }),
  search: open({ type: string(), queries: array(string()), pages, failed: optional(string()), metadata }),
  tool_call: open({
    type: string(),
    id: string({ min: 1, max: mostId }),
    name: string({ min: 1, max: mostName }),
    input: plain,
    unparsed: optional(string()),
    metadata,
  }),
})

const failure = open({
  class: enums(failureClasses),
  retryable: boolean(),
  message: string(),
  retry_after_ms: optional(
    rule(json(), 'must be a finite number from 0', (value) => Number.isFinite(value) && Number(value) >= 0),
  ),
  status: optional(integer({ min: 0, max: 999 })),
})

const ended = open({ type: string(), outcome: string(), usage: TakenUsage })
const done = tagged('outcome', {
  stop: ended,
  tool_calls: ended,
  length: ended,
  paused: ended,
  other: ended,
  failed: open({ type: string(), outcome: string(), failure, usage: optional(TakenUsage) }),
})

const delta = object({ type: string(), text: string() })
const event: AnyStruct = tagged('type', {
  text_delta: delta,
  reasoning_delta: delta,
  part: open({ type: string(), part }),
  done,
})

/** Deltas come by the thousand: they are looked at with no struct. */
const isDelta = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('text' in value)) return false
  return (value.type === 'text_delta' || value.type === 'reasoning_delta') && typeof value.text === 'string'
}

/** The field and its rule, never the value; undefined if the event may be taken. */
export const eventFault = (value: unknown): string | undefined => {
  if (isDelta(value)) return undefined
  const parsed = parse(event, value)
  const [issue] = parsed.ok ? [] : parsed.issues
  return issue && `${issue.path === '' ? 'the event' : issue.path} ${issue.rule}`
}

/** The same of a plugin of others, whose parts are copied: what the contract does not know of them must be JSON too. */
export const foreignEventFault = (value: unknown): string | undefined => {
  const wrong = unreadIn(value) ?? eventFault(value)
  if (wrong !== undefined || typeof value !== 'object' || value === null || !('part' in value)) return wrong
  return isJson(value.part) ? undefined : 'part must be a JSON value'
}
