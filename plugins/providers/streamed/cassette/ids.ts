/** Ids that a daemon makes are others on each root: what is played goes by those of the daemon that plays. */
import { isJsonObject, type Json } from '../../../../core/plugin.js'

const made = /(?<![0-9a-z_])([a-z]+(?:_[a-z]+)*)_[0-9a-hjkmnp-tv-z]{26}(?![0-9a-z])/gu

/** The same for what was said with other ids. */
export const withoutIds = (text: string): string => text.replaceAll(made, '$1_…')

const idsIn = (text: string): readonly string[] => text.match(made) ?? []

/** Texts of a value in the order in which they stand, each with the name of its member. */
const textsOf = (value: Json, name = ''): { readonly name: string; readonly text: string }[] => {
  if (typeof value === 'string') return [{ name, text: value }]
  if (Array.isArray(value)) return value.flatMap((one) => textsOf(one, name))
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, one]) => textsOf(one ?? null, key)) : []
}

/** The same value with other texts, taken in that order. */
const retold = (value: Json, next: () => string): Json => {
  if (typeof value === 'string') return next()
  if (Array.isArray(value)) return value.map((one) => retold(one, next))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, retold(one ?? null, next)]))
}

const begin = 'data:'
const eventOf = (line: string): Json | undefined => {
  if (!line.startsWith(begin)) return undefined
  try {
    const value: Json = JSON.parse(line.slice(begin.length))
    return value
  } catch {
    return undefined
  }
}

export interface PlayedIds {
  /** A recorded question and the same one now: ids at the same places are the same. */
  learn(recorded: Json, now: Json): void
  /** The pieces of a recorded answer with the ids of now. */
  tell(pieces: readonly string[]): readonly string[]
}

export const createPlayedIds = (): PlayedIds => {
  const known = new Map<string, string>()
  const learn = (recorded: Json, now: Json): void => {
    const [before, after] = [textsOf(recorded), textsOf(now)].map((texts) => texts.flatMap(({ text }) => idsIn(text)))
    if (before?.length !== after?.length) return
    for (const [at, id] of (before ?? []).entries()) if (id !== after?.[at]) known.set(id, after?.[at] ?? id)
  }
  const named = (text: string): string => text.replaceAll(made, (id) => known.get(id) ?? id)
  /** A model says an id in several pieces: those under one name are one text, and ids are all of one length. */
  const streamed = (body: string): string => {
    const lines = body.split('\n')
    const events = lines.map(eventOf)
    const whole = new Map<string, string>()
    const texts = events.flatMap((event) => (event === undefined ? [] : textsOf(event)))
    for (const { name, text } of texts) whole.set(name, (whole.get(name) ?? '') + text)
    for (const [name, text] of whole) whole.set(name, named(text))
    const used = new Map<string, number>()
    const told = texts.map(({ name, text }) => {
      const at = used.get(name) ?? 0
      used.set(name, at + text.length)
      return whole.get(name)?.slice(at, at + text.length) ?? text
    })
    const next = (): string => told.shift() ?? ''
    return lines
      .map((line, at) => {
        const event = events[at]
        return event === undefined ? named(line) : `${begin} ${JSON.stringify(retold(event, next))}`
      })
      .join('\n')
  }
  return { learn, tell: (pieces) => (known.size === 0 ? pieces : [streamed(pieces.join(''))]) }
}
