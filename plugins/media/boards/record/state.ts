/** What the state of a board must be (boards-7). Pure: it knows no assets but by their ids. */
import { isJsonObject, isModest, type Json, type JsonObject, type Portions } from '../../../../core/plugin.js'
import { readJson } from './json-portions.js'

/** The version that this daemon writes. */
export const stateVersion = 'service.board_state.v1'
const versions: ReadonlySet<Json | undefined> = new Set<Json>([1, '1', stateVersion])

/** Most bytes of a state. */
export const mostStateBytes = 1024 * 1024
/** Most assets that one state embeds. */
export const mostEmbedded = 256
const mostCanvas = 100_000
/** Members of one list: what is drawn takes more than 52 bytes. */
const mostListed = 20_000

const contentFields = ['canvas', 'elements', 'strokes', 'layers', 'assets', 'metadata', 'payload', 'note'] as const

/** What is wrong, and where in the state. */
export interface StateFault {
  readonly path: string
  readonly rule: string
}
export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: StateFault }

/** The board and the revision that a state is to belong to. */
export interface StatePlace {
  readonly board_id: string
  readonly previous_revision_id?: string | undefined
}

export const parseState = function* (text: string): Portions<Read<JsonObject>> {
  const fault = (rule: string): Read<never> => ({ ok: false, fault: { path: 'state', rule } })
  if (!isModest(text, { most: mostStateBytes })) return fault('must be nested at most 64 levels deep')
  try {
    yield
    const value = yield* readJson(text)
    return isJsonObject(value) ? { ok: true, value } : fault('must be an object')
  } catch {
    return fault('must be JSON')
  }
}

const isBlank = (value: Json | undefined): boolean => value === undefined || value === null

const isHolder = (value: Json | undefined): value is JsonObject | Json[] => typeof value === 'object' && value !== null

/** Values that are looked at before others are served: a state of 1 MiB may have half a million. */
const portion = 5_000

/** Shows each value in another, and its name where it has one, until `is` says yes; true if it did. */
const someIn = function* (
  whole: JsonObject | Json[],
  is: (value: Json | undefined, name?: string) => boolean,
): Portions<boolean> {
  const holders = [whole]
  let seen = 0
  for (const holder of holders) {
    const names = Array.isArray(holder) ? undefined : Object.keys(holder)
    const count = Array.isArray(holder) ? holder.length : (names?.length ?? 0)
    const valueAt = (at: number): Json | undefined => (Array.isArray(holder) ? holder[at] : holder[names?.[at] ?? ''])
    for (let at = 0; at < count; at += 1) {
      seen += 1
      if (seen % portion === 0) yield
      const value = valueAt(at)
      if (is(value, names?.[at])) return true
      if (isHolder(value)) holders.push(value)
    }
  }
  return false
}

/** False for blank text, null, and what holds only such. */
const saysSomething = (value: Json | undefined): boolean =>
  typeof value === 'string' ? value.trim() !== '' : !isBlank(value) && typeof value !== 'object'

const sizeFault = (canvas: JsonObject): StateFault | undefined => {
  const wrong = ['width', 'height'].find((edge) => {
    const size = canvas[edge]
    const fits = typeof size === 'number' && Number.isInteger(size) && size >= 1 && size <= mostCanvas
    return size !== undefined && !fits
  })
  return wrong === undefined
    ? undefined
    : { path: `state.canvas.${wrong}`, rule: `must be a whole number from 1 to ${mostCanvas}` }
}

const shapeFault = (state: JsonObject): StateFault | undefined => {
  const { canvas, assets } = state
  for (const key of ['elements', 'strokes', 'layers']) {
    const list = state[key] ?? []
    if (state[key] === null || !Array.isArray(list)) return { path: `state.${key}`, rule: 'must be a list' }
    if (list.length > mostListed) return { path: `state.${key}`, rule: `must have at most ${mostListed} members` }
  }
  if (assets !== undefined && (typeof assets !== 'object' || assets === null))
    return { path: 'state.assets', rule: 'must be a list or an object' }
  if (canvas === undefined) return undefined
  return isJsonObject(canvas) ? sizeFault(canvas) : { path: 'state.canvas', rule: 'must be an object' }
}

const placeFault = (state: JsonObject, { board_id, previous_revision_id }: StatePlace): StateFault | undefined => {
  if (!isBlank(state['board_id']) && state['board_id'] !== board_id)
    return { path: 'state.board_id', rule: 'must be the board of the revision' }
  const previous = state['previous_revision_id']
  if (previous === undefined || (previous === null && previous_revision_id === undefined)) return undefined
  return previous === previous_revision_id
    ? undefined
    : { path: 'state.previous_revision_id', rule: 'must be the revision that this one follows' }
}

export const stateFault = function* (state: JsonObject, place: StatePlace): Portions<StateFault | undefined> {
  if (!versions.has(state['schema_version']))
    return { path: 'state.schema_version', rule: `must be 1, "1" or "${stateVersion}"` }
  const found = placeFault(state, place) ?? shapeFault(state)
  if (found !== undefined) return found
  return (yield* someIn(
    contentFields.map((key) => state[key] ?? null),
    saysSomething,
  ))
    ? undefined
    : { path: 'state', rule: `must hold something in one of ${contentFields.join(', ')}` }
}

const idFields: ReadonlySet<string> = new Set([
  'asset_id',
  'asset_ids',
  'image_asset_id',
  'image_asset_ids',
  'render_asset_id',
  'source_asset_id',
  'source_asset_ids',
  'mask_asset_id',
])
/** Ids as they are made here, and as clients of other daemons know them. */
const idShape = /^(?:asset_[0-9a-hjkmnp-tv-z]{26}|asset-\d+)$/u

const textsIn = (value: Json | undefined): string[] => {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value]
  return Array.isArray(value) ? value.flatMap(textsIn) : []
}

/**
 * Ids of the assets that a state embeds: in the known fields anywhere, and within `assets`. Ends behind the first that
 * is too many.
 */
export const embeddedIn = function* (state: JsonObject): Portions<string[]> {
  const found = new Set<string>()
  const isFull = (): boolean => found.size > mostEmbedded
  const { assets } = state
  yield* someIn(state, (value, name) => {
    if (name !== undefined && idFields.has(name)) for (const id of textsIn(value)) found.add(id)
    return isFull()
  })
  if (isHolder(assets))
    yield* someIn(assets, (value, name) => {
      for (const text of [value, name]) if (typeof text === 'string' && idShape.test(text)) found.add(text)
      return isFull()
    })
  if (Array.isArray(assets)) for (const one of assets) if (typeof one === 'string') found.add(one)
  return [...found]
}

/** Where a text or a name stands first in a value; undefined where it does not. Called for what is refused alone. */
export const placeOf = (value: Json | undefined, id: string, path = 'state'): string | undefined => {
  if (value === id) return path
  if (!isHolder(value)) return undefined
  for (const [name, one] of Object.entries(value)) {
    const found = name === id ? `${path}.${name}` : placeOf(one, id, `${path}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}
