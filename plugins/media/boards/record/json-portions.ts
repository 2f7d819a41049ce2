/** Reads JSON in portions, so that others are served while a long text is read. */
import type { Json, JsonObject, Portions } from '../../../../core/plugin.js'

/** Characters that are read at a time. */
const piece = 32 * 1024

/** From after the opening quote of a text to after the closing one; the end if it never closes. */
const afterText = (json: string, from: number): number => {
  for (let at = json.indexOf('"', from); at >= 0; at = json.indexOf('"', at + 1)) {
    let slashes = 0
    while (json[at - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return at + 1
  }
  return json.length
}

/** A member of a list or an object: where it begins and ends, and the colon behind its name. */
interface Member {
  readonly from: number
  readonly to: number
  readonly colon: number
  readonly isLast: boolean
}

const wrong = (): SyntaxError => new SyntaxError('no JSON')

/** The members of what opens at a place, and undefined now and then. Throws where it does not close at the end. */
function* membersOf(json: string, open: number, end: number): Generator<Member | undefined> {
  const closing = json[open] === '[' ? ']' : '}'
  let [level, from, colon, told] = [0, open + 1, -1, open]
  for (let at = open + 1; at < end; at += 1) {
    if (at - told > piece) {
      told = at
      yield undefined
    }
    const sign = json[at]
    if (sign === '"') at = afterText(json, at + 1) - 1
    else if (sign === '[' || sign === '{') level += 1
    else if (level > 0) level -= sign === ']' || sign === '}' ? 1 : 0
    else if (sign === ':' && colon < 0) colon = at
    else if (sign === ',' || sign === closing) {
      const isLast = sign === closing
      if (isLast && /[^ \t\n\r]/u.test(json.slice(at + 1, end))) throw wrong()
      yield { from, to: at, colon, isLast }
      if (isLast) return
      ;[from, colon] = [at + 1, -1]
    }
  }
  throw wrong()
}

/** What members become. */
interface Holder {
  readonly whole: Json
  /** Short ones, with the commas between them. */
  some(members: string): void
  one(member: Member, value: Json): void
}

const listHolder = (): Holder => {
  const whole: Json[] = []
  return {
    whole,
    some(members) {
      const values: Json[] = JSON.parse(`[${members}]`)
      for (const value of values) whole.push(value)
    },
    one: (_member, value) => void whole.push(value),
  }
}

const objectHolder = (json: string): Holder => {
  const whole: Record<string, Json> = {}
  /** A name may be `__proto__`. */
  const set = (name: string, value: Json): void => {
    if (name !== '__proto__') whole[name] = value
    else Object.defineProperty(whole, name, { value, configurable: true, enumerable: true, writable: true })
  }
  return {
    whole,
    some(members) {
      const values: JsonObject = JSON.parse(`{${members}}`)
      for (const name of Object.keys(values)) set(name, values[name] ?? null)
    },
    one({ from, colon }, value) {
      const name: Json = JSON.parse(json.slice(from, colon))
      if (typeof name !== 'string') throw wrong()
      set(name, value)
    },
  }
}

const firstOf = (json: string, from: number): number => from + json.slice(from, from + piece).search(/[^ \t\n\r]/u)

/** The value that stands between two places. */
function* spanOf(json: string, from: number, to: number): Portions<Json> {
  const open = firstOf(json, from)
  const isHeld = to - from > piece && (json[open] === '[' || json[open] === '{')
  if (!isHeld) return JSON.parse(json.slice(from, to))
  const holder = json[open] === '[' ? listHolder() : objectHolder(json)
  let begun = open + 1
  const take = (until: number, isLast: boolean): void => {
    const some = json.slice(begun, until)
    const isEmpty = isLast && begun === open + 1
    if (!isEmpty && some.trim() === '') throw wrong()
    holder.some(some)
  }
  for (const member of membersOf(json, open, to)) {
    if (member !== undefined) {
      const isLong = member.to - member.from > piece && json.slice(member.from, member.to).trim() !== ''
      if (isLong && member.from > begun) take(member.from - 1, false)
      if (isLong) holder.one(member, yield* spanOf(json, Math.max(member.from, member.colon + 1), member.to))
      else if (member.isLast || member.to - begun > piece) take(member.to, member.isLast)
      else continue
      begun = member.to + 1
    }
    yield
  }
  return holder.whole
}

/** What `JSON.parse` gives. Throws where that does. */
export const readJson = (json: string): Portions<Json> => spanOf(json, 0, json.length)
