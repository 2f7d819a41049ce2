/** Reads path, query and body by the structs of a route. Every fault names its field. */
import type { IncomingMessage } from 'node:http'
import { hintFor, type Judged } from '../../base/config.js'
import type { Problem, ProblemFactory } from '../../base/errors.js'
import { parse, type Issue } from '../../base/parse.js'
import { inlineSchema, object, type AnyStruct } from '../../base/schema.js'
import { idempotencyKeyRule, isIdempotencyKey, refusesKeys } from '../routes/idempotency.js'
import type { Clock } from '../../base/clock.js'
import type { TextHashes } from '../../base/text/canonical-json.js'
import { sentence } from '../../base/text/command-text.js'
import { hasBody, openHold, readBody, takeRest, tooLarge } from './body.js'
import type { BodyBudget, Hold } from './body-budget.js'
import { badRequest, httpErrors, type FieldError } from '../errors.js'
import type { JsonReader } from './json-reader.js'
import type { JsonText } from './json-text.js'
import { fixed } from './piece.js'
import { defaultBodyLimit, type Route } from '../routes/route.js'
import type { Found } from '../routes/table.js'

const none = object({})

const prefixed = (prefix: string, issues: readonly Issue[], judged: Judged): FieldError[] =>
  issues.map((issue) => ({
    path: issue.path === '' ? prefix : `${prefix}.${issue.path}`,
    rule: issue.rule + hintFor(issue, judged),
  }))

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A sentence with `{reason}` names the first fault. */
const refusal = (factory: ProblemFactory | undefined, errors: readonly FieldError[]): Problem => {
  if (factory === undefined) return badRequest(...errors)
  const [first] = factory.spec.detail.includes('{reason}') ? errors : []
  return factory({
    errors,
    ...(first !== undefined && { details: { reason: sentence(`${first.path} ${first.rule}`) } }),
  })
}

const accept = (
  struct: AnyStruct,
  value: unknown,
  { prefix, invalid }: { prefix: string; invalid?: ProblemFactory | undefined },
): unknown => {
  const parsed = parse(struct, value)
  if (!parsed.ok)
    throw refusal(isObject(value) ? invalid : undefined, prefixed(prefix, parsed.issues, { struct, value }))
  return parsed.value
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** A parameter names one thing: it has no separators, dot segments or control characters, however they were written. */
const paramRule = (value: string | undefined): string | undefined => {
  if (value === undefined) return 'has a malformed percent-escape'
  if (value === '.' || value === '..') return 'must not be a dot segment'
  return /[\p{Cc}/\\]/u.test(value) ? 'must not contain slashes or control characters' : undefined
}

export const readParams = ({ entry, values }: Found): unknown => {
  const { params } = entry.route
  if (params === undefined) return undefined
  const read: Record<string, string> = {}
  for (const [index, name] of entry.names.entries()) {
    const value = decode(values[index] ?? '')
    const rule = paramRule(value)
    if (rule !== undefined) throw badRequest({ path: `path.${name}`, rule })
    read[name] = value ?? ''
  }
  return accept(params, read, { prefix: 'path' })
}

/** A limit or a position beyond what is counted exactly means the last that is. */
const nearest = (value: number): number => Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value))

/**
 * Text as the type that the field's JSON Schema names; unchanged if it is not of that form, so that the struct refuses
 * it.
 */
const coerce = (field: AnyStruct | undefined, text: string): unknown => {
  const type = field === undefined ? undefined : inlineSchema(field)['type']
  if (type === 'integer') return /^-?\d{1,300}$/u.test(text) ? nearest(Number(text)) : text
  if (type === 'number') return /^-?\d{1,300}(?:\.\d{1,300})?$/u.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

const splitPair = (pair: string): [name: string | undefined, value: string | undefined] => {
  const cut = pair.indexOf('=')
  const [name, value] = cut === -1 ? [pair, ''] : [pair.slice(0, cut), pair.slice(cut + 1)]
  return [decode(name.replaceAll('+', ' ')), decode(value.replaceAll('+', ' '))]
}

/** Names and values of a query string; a key may occur once. */
export const readPairs = (search: string): Map<string, string> => {
  const pairs = new Map<string, string>()
  if (search === '') return pairs
  for (const pair of search.split('&')) {
    if (pair === '') continue
    const [name, value] = splitPair(pair)
    if (name === undefined || value === undefined)
      throw badRequest({ path: 'query', rule: 'has a malformed percent-escape' })
    if (/\p{Cc}/u.test(name)) throw badRequest({ path: 'query', rule: 'has a control character in a name' })
    if (pairs.has(name)) throw badRequest({ path: `query.${name}`, rule: 'is given twice' })
    if (value.includes('\0')) throw badRequest({ path: `query.${name}`, rule: 'must not contain NUL' })
    pairs.set(name, value)
  }
  return pairs
}

export const readQuery = (struct: AnyStruct | undefined, pairs: ReadonlyMap<string, string>): unknown => {
  if (struct === undefined && pairs.size === 0) return undefined
  const fields: Readonly<Record<string, AnyStruct>> = struct?.schema ?? {}
  const value = Object.fromEntries(
    [...pairs].map(([name, text]) => [name, coerce(Object.hasOwn(fields, name) ? fields[name] : undefined, text)]),
  )
  const read = accept(struct ?? none, value, { prefix: 'query' })
  return struct === undefined ? undefined : read
}

/** What bodies are received with. */
export interface Intake {
  readonly clock: Clock
  readonly budget: BodyBudget
  readonly json: JsonReader
  /** Ms in which 64 KiB of a body must come, or what is left of it. */
  readonly stall: number
}

/** A body that was accepted, and what it holds until its handler is done with it. */
export interface ReadInput {
  readonly body: unknown
  readonly hashes: TextHashes
  readonly release: () => void
}

const noHashes: TextHashes = new Map()
const noBytes = new Uint8Array()
const nothingHeld = (): void => {}

/** What a body is read for. */
export interface BodyUse {
  readonly route: Route
  /** Looks at the bytes before anything reads them; throws where they are refused. */
  readonly verify?: ((body: Uint8Array) => void) | undefined
}

/** A route without a body takes none, or an empty object; one that takes bytes has none then. */
const withoutBytes = ({ body, bodyForm, bodyOptional, invalidBody: invalid }: Route): ReadInput => {
  if (body !== undefined && bodyOptional !== true) throw refusal(invalid, [{ path: 'body', rule: 'is required' }])
  const nothing = bodyForm === 'bytes' ? noBytes : {}
  const value = body === undefined ? undefined : accept(body, nothing, { prefix: 'body', invalid })
  return { body: value, hashes: noHashes, release: nothingHeld }
}

const acceptText = (text: JsonText, { body, fileBytes, invalidBody: invalid }: Route, size: number): unknown => {
  if (!text.ok) throw badRequest(text.error)
  const value = accept(body ?? none, text.value, { prefix: 'body', invalid })
  if (fileBytes !== undefined && size > defaultBodyLimit && size - fileBytes(value) > defaultBodyLimit)
    throw tooLarge(defaultBodyLimit)
  return body === undefined ? undefined : value
}

const readHeld = async (
  request: IncomingMessage,
  { route, verify }: BodyUse,
  { intake, hold }: { intake: Intake; hold: Hold },
): Promise<ReadInput | undefined> => {
  const { clock, stall, json } = intake
  const { bodyForm = 'strict', bodyLimit: limit = defaultBodyLimit } = route
  const bytes = await readBody(request, { limit, hold, clock, stall, anyType: bodyForm !== 'strict' })
  if (bytes !== undefined) verify?.(bytes)
  if (bytes === undefined || bytes.length === 0) {
    hold.end()
    return bytes && withoutBytes(route)
  }
  if (bodyForm === 'bytes') return { body: fixed(bytes), hashes: noHashes, release: hold.end }
  await takeRest({ hold }, bytes)
  // The thread takes the bytes away.
  const size = bytes.length
  const { text, hashes } = await json.read(bytes, bodyForm)
  return { body: acceptText(text, route, size), hashes, release: hold.end }
}

/** Undefined if the client went away. */
export const readInput = async (
  request: IncomingMessage,
  use: BodyUse,
  intake: Intake,
): Promise<ReadInput | undefined> => {
  const { route, verify } = use
  if (!hasBody(request)) {
    verify?.(noBytes)
    return withoutBytes(route)
  }
  const hold = openHold(intake.budget, request, route.bodyLimit ?? defaultBodyLimit)
  try {
    return await readHeld(request, use, { intake, hold })
  } catch (error) {
    hold.end()
    throw error
  }
}

export const readIdempotencyKey = (request: IncomingMessage, route: Route): string | undefined => {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (refusesKeys(route))
    throw httpErrors.idempotency_key_not_taken({
      errors: [{ path: 'header.idempotency-key', rule: 'is not taken here' }],
    })
  if (route.idempotent !== true) return undefined
  if (typeof key !== 'string' || !isIdempotencyKey(key))
    throw httpErrors.invalid_idempotency_key({
      errors: [{ path: 'header.idempotency-key', rule: idempotencyKeyRule }],
    })
  return key
}
