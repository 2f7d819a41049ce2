/** What the state of a board must be (boards-7). Pure: it knows no assets but by their ids. */
import { isJsonObject, isModest, type Json, type JsonObject } from '../../../../core/plugin.js'

/** The version that this daemon writes. */
export const stateVersion = 'service.board_state.v1'
const versions: ReadonlySet<Json | undefined> = new Set<Json>([1, '1', stateVersion])

/** Most bytes of a state. */
export const mostStateBytes = 1024 * 1024
/** Most assets that one state embeds. */
export const mostEmbedded = 256
const mostCanvas = 100_000

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

export const parseState = (text: string): Read<JsonObject> => {
  const fault = (rule: string): Read<never> => ({ ok: false, fault: { path: 'state', rule } })
  if (!isModest(text, { most: mostStateBytes })) return fault('must be nested at most 64 levels deep')
  try {
    const value: Json = JSON.parse(text)
    return isJsonObject(value) ? { ok: true, value } : fault('must be an object')
  } catch {
    return fault('must be JSON')
  }
}

const isBlank = (value: Json | undefined): boolean => value === undefined || value === null

/** True for what says nothing: blank text, null, and what holds only such. */
const isPlaceholder = (value: Json | undefined): boolean => {
  if (value === undefined || value === null) return true
  if (typeof value === 'string') return value.trim() === ''
  return typeof value === 'object' && Object.values(value).every(isPlaceholder)
}

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
  const list = ['elements', 'strokes', 'layers'].find((key) => state[key] !== undefined && !Array.isArray(state[key]))
  if (list !== undefined) return { path: `state.${list}`, rule: 'must be a list' }
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

export const stateFault = (state: JsonObject, place: StatePlace): StateFault | undefined => {
  if (!versions.has(state['schema_version']))
    return { path: 'state.schema_version', rule: `must be 1, "1" or "${stateVersion}"` }
  const found = placeFault(state, place) ?? shapeFault(state)
  if (found !== undefined) return found
  return contentFields.every((key) => isPlaceholder(state[key]))
    ? { path: 'state', rule: `must hold something in one of ${contentFields.join(', ')}` }
    : undefined
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

/** Where an id stands that is found first there. */
type Found = Map<string, string>
const note = (found: Found, id: string, path: string): void => {
  if (!found.has(id)) found.set(id, path)
}

const noteTexts = (value: Json | undefined, path: string, found: Found): void => {
  if (typeof value === 'string' && value.trim() !== '') note(found, value, path)
  if (Array.isArray(value)) for (const [at, one] of value.entries()) noteTexts(one, `${path}.${at}`, found)
}

/** Texts and names that look like ids, at any depth. */
const noteShaped = (value: Json | undefined, path: string, found: Found): void => {
  if (typeof value === 'string' && idShape.test(value)) note(found, value, path)
  if (typeof value !== 'object' || value === null) return
  for (const [name, one] of Object.entries(value)) {
    if (idShape.test(name)) note(found, name, path)
    noteShaped(one, `${path}.${name}`, found)
  }
}

const noteNamed = (value: Json | undefined, path: string, found: Found): void => {
  if (typeof value !== 'object' || value === null) return
  for (const [name, one] of Object.entries(value)) {
    if (idFields.has(name)) noteTexts(one, `${path}.${name}`, found)
    noteNamed(one, `${path}.${name}`, found)
  }
}

/** Ids of the assets that a state embeds, with their places: in the known fields anywhere, and within `assets`. */
export const embeddedIn = (state: JsonObject): ReadonlyMap<string, string> => {
  const found: Found = new Map()
  noteNamed(state, 'state', found)
  const { assets } = state
  if (Array.isArray(assets))
    for (const [at, one] of assets.entries()) if (typeof one === 'string') note(found, one, `state.assets.${at}`)
  noteShaped(assets, 'state.assets', found)
  return found
}
