/** What stands in a cassette: a line that says what it is, then one exchange a line. */
import {
  array,
  enums,
  integer,
  isJsonObject,
  json,
  literal,
  open,
  optional,
  parse,
  record,
  string,
  type Infer,
  type Json,
} from '../../../../core/plugin.js'
import { cassetteErrors } from './errors.js'
import { withoutIds } from './ids.js'

/** How each cassette begins. */
export const beginning = '{"cassette":'
/** Bytes of a cassette at most; what does not fit is left out, and a line says so. */
export const mostBytes = 64 * 1024 * 1024

/** `part`: of requests only what stands in it is compared, as somebody who writes it by hand wants. */
export const Head = open({
  cassette: literal(1),
  requests: enums(['whole', 'part']),
  note: optional(string()),
})

export const Exchange = open({
  path: string(),
  headers: optional(record(string())),
  request: json(),
  status: integer({ min: 100, max: 599 }),
  answer_headers: record(string()),
  /** Pieces of the body in order. */
  answer: array(string()),
  /** Of the pieces, where they are no text. */
  encoding: optional(enums(['base64'])),
  end: enums(['whole', 'broken', 'withheld']),
})
/** One question to a server and what came back, without secrets. */
export type Exchange = Infer<typeof Exchange>

/** An exchange and the line where it stands. */
export type Recorded = Exchange & { readonly line: number }

export interface Cassette {
  readonly isPart: boolean
  readonly exchanges: readonly Recorded[]
}

const jsonOf = (text: string): Json | undefined => {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** Throws the errors of a cassette. */
export const readCassette = (file: string, text: string): Cassette => {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  if (last !== '') throw cassetteErrors.cassette_cut({ details: { file, line: lines.length + 1 } })
  const first = jsonOf(lines[0] ?? '')
  if (first !== undefined && isJsonObject(first) && typeof first['cassette'] === 'number' && first['cassette'] !== 1)
    throw cassetteErrors.cassette_version({ details: { file } })
  const head = parse(Head, first)
  if (!head.ok) throw invalid(file, 1, 'must tell the version and the kind of the cassette')
  const exchanges = lines.slice(1).flatMap((one, at): Recorded[] => {
    const line = at + 2
    const value = jsonOf(one)
    if (value === undefined || !isJsonObject(value)) throw invalid(file, line, 'is no JSON object')
    // Calls of tools, and what was left out, are for people.
    if (value['request'] === undefined) return []
    const exchange = parse(Exchange, value)
    if (exchange.ok) return [{ ...exchange.value, line }]
    const [issue = { path: '', rule: 'is no exchange' }] = exchange.issues
    throw invalid(file, line, `${issue.path} ${issue.rule}`.trim())
  })
  return { isPart: head.value.requests === 'part', exchanges }
}

const invalid = (file: string, line: number, rule: string) =>
  cassetteErrors.cassette_invalid({ details: { file, line, rule } })

export interface Difference {
  readonly path: string
  readonly recorded: string
  readonly now: string
}

const shown = (value: Json | undefined): string => {
  if (value === undefined) return 'absent'
  const text = JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

/** From the first place where two texts part, so that both show it. */
const parted = (a: string, b: string): number => {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  return Math.max(0, at - 20)
}

/** The first place where two values differ, ids aside; undefined if they are equal, or if the recorded part is. */
export const differenceOf = (recorded: Json, now: Json | undefined, wish: Wish): Difference | undefined => {
  const { path, isPart } = wish
  if (typeof recorded === 'string' && typeof now === 'string') {
    if (recorded === now) return undefined
    const [before, after] = [withoutIds(recorded), withoutIds(now)]
    if (before === after) return undefined
    const at = parted(before, after)
    return { path, recorded: shown(before.slice(at)), now: shown(after.slice(at)) }
  }
  if (Array.isArray(recorded) && Array.isArray(now)) {
    for (let at = 0; at < Math.max(recorded.length, now.length); at += 1) {
      const found = within(recorded[at], now[at], { path: `${path}.${at}`, isPart })
      if (found !== undefined) return found
    }
    return undefined
  }
  if (isJsonObject(recorded) && now !== undefined && isJsonObject(now)) {
    const names = isPart ? Object.keys(recorded) : [...new Set([...Object.keys(recorded), ...Object.keys(now)])]
    for (const name of names) {
      const found = within(recorded[name], now[name], { path: `${path}.${name}`, isPart })
      if (found !== undefined) return found
    }
    return undefined
  }
  return recorded === now ? undefined : { path, recorded: shown(recorded), now: shown(now) }
}
interface Wish {
  readonly path: string
  readonly isPart: boolean
}

const within = (recorded: Json | undefined, now: Json | undefined, wish: Wish): Difference | undefined => {
  if (recorded !== undefined) return differenceOf(recorded, now, wish)
  return now === undefined ? undefined : { path: wish.path, recorded: 'absent', now: shown(now) }
}
