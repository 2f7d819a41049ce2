/** Which conversation an event belongs to (external-18, external-19). */
import { hash } from 'node:crypto'
import type { ExternalEvent } from './event.js'

export interface Place {
  readonly name: string
  readonly platform: string
}
export interface Identity {
  /** The key of the conversation itself. */
  readonly key: string
  /** Keys of the conversations around it, the innermost first, each with the session that its own messages are in. */
  readonly around: readonly { readonly key: string; readonly natural: string }[]
  /** The session that it is in unless something says otherwise. */
  readonly natural: string
}

/** Characters of a key, at most: it can be one of a session. */
const mostKey = 1000

const encoded = (text: string): string => Buffer.from(text).toString('base64url')
const sha256 = (value: unknown): string => hash('sha256', JSON.stringify(value))

/** `sha256` is no encoded text, so that no path has such a key. */
const keyOf = ({ name, platform }: Place, parts: readonly string[], whole: unknown): string => {
  const start = `external:${name}:${encoded(platform)}`
  const key = [start, ...parts].join(':')
  return key.length <= mostKey ? key : `external:${name}:sha256:${sha256(whole)}`
}
const naturalOf = ({ name }: Place, value: unknown): string => `external:${name}:${sha256(value).slice(0, 16)}`

const ofPath = (place: Place, path: readonly string[]): { key: string; natural: string } => {
  const whole = [place.platform, path]
  return { key: keyOf(place, path.map(encoded), whole), natural: naturalOf(place, whole) }
}

/** The keys of a path, of each of its beginnings, from the shortest to the whole. */
export const pathKeys = (place: Place, path: readonly string[]): string[] =>
  path.map((_, at) => ofPath(place, path.slice(0, at + 1)).key)

/** Undefined for an event of no conversation. */
export const identityOf = (
  place: Place,
  { thread, routing_key }: Pick<ExternalEvent, 'thread' | 'routing_key'>,
): Identity | undefined => {
  const path = thread?.path ?? []
  if (path.length > 0) {
    const around = path.slice(1).map((_, at) => ofPath(place, path.slice(0, at + 1)))
    return { ...ofPath(place, path), around: around.toReversed() }
  }
  const route = routing_key?.trim() ?? ''
  if (route === '') return undefined
  const whole = ['routing_key', place.platform, route]
  return { key: keyOf(place, ['route', encoded(route)], whole), natural: naturalOf(place, whole), around: [] }
}

export interface Homes {
  /** The session that a key is bound to. */
  readonly find: (key: string) => string | undefined
  /** Of the connector: where all of its events go. */
  readonly fixed: string | undefined
  /** Of the connector: keys of all of its sessions. */
  readonly additional: readonly string[]
}

/** Where an event goes, and the keys that can be bound to that session. */
export interface Home {
  readonly binding_keys: readonly string[]
  readonly natural_session_id?: string
  readonly session_id?: string
}

/**
 * A conversation is in the session that its own key leads to, else in one that an additional key leads to, else in that
 * of a conversation around it which somebody bound to another one than its own, else in its own. Only its own key and
 * the additional ones are bound: with the keys around it, conversations side by side would be one. A key of another
 * session is left out, because keys do not move.
 */
export const homeOf = (identity: Identity | undefined, { find, fixed, additional }: Homes): Home => {
  const keys = [...new Set([...(identity === undefined ? [] : [identity.key]), ...additional])]
  const bound = keys.map(find).find((session) => session !== undefined)
  const natural = identity && (ledTo(identity, find) ?? identity.natural)
  const session_id = fixed ?? bound ?? natural
  const binding_keys = keys.filter((key) => (find(key) ?? session_id) === session_id)
  return {
    binding_keys,
    ...(natural !== undefined && { natural_session_id: natural }),
    ...(session_id !== undefined && { session_id }),
  }
}

const ledTo = ({ around }: Identity, find: Homes['find']): string | undefined => {
  for (const { key, natural } of around) {
    const bound = find(key)
    if (bound !== undefined && bound !== natural) return bound
  }
  return undefined
}
