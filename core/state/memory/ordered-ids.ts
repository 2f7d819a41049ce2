/**
 * Ids in ascending order of sort key, then id. Very many are kept in pieces, so that one that is added or dropped moves
 * few others; most groups are small and are one piece, which is the group itself.
 */

/** A place in the order. */
export interface Key {
  readonly sort: string
  readonly id: string
}

/** Parallel arrays; the same array twice where the id is the sort key. */
interface Piece {
  ids: string[]
  sorts: string[]
}

export interface OrderedIds extends Piece {
  length: number
  /** False while loading: what was loaded last came in any order. */
  ordered: boolean
  /** The pieces behind the first. */
  more: Piece[] | undefined
}

/** Ids in one piece. */
const most = 1024

export const newIds = ({ id, sort }: Key, sorted: boolean): OrderedIds => {
  const ids = [id]
  return { ids, sorts: sorted ? [sort] : ids, length: 1, ordered: true, more: undefined }
}

const comesBefore = (piece: Piece, at: number, { sort, id }: Key): boolean => {
  const own = piece.sorts[at] ?? ''
  return own < sort || (own === sort && (piece.ids[at] ?? '') < id)
}

/** The first of `count` positions that does not come before. */
const firstOf = (count: number, isBefore: (at: number) => boolean): number => {
  let low = 0
  for (let high = count; low < high;) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

/** The first position in a piece that does not come before the key. Most keys come last. */
const positionIn = (piece: Piece, key: Key): number => {
  const last = piece.ids.length - 1
  if (last < 0 || comesBefore(piece, last, key)) return last + 1
  return firstOf(last, (at) => comesBefore(piece, at, key))
}

const pieceAt = (ids: OrderedIds, at: number): Piece => (at === 0 ? ids : (ids.more?.[at - 1] ?? ids))

/** The piece in which a key stands or belongs: the first that does not end before it, or the last. */
const pieceFor = (ids: OrderedIds, key: Key): number => {
  const { more } = ids
  if (more === undefined) return 0
  return firstOf(more.length, (at) => {
    const piece = pieceAt(ids, at)
    return comesBefore(piece, piece.ids.length - 1, key)
  })
}

const insertAt = (list: string[], at: number, value: string): void => {
  if (at === list.length) list.push(value)
  else list.splice(at, 0, value)
}

export const addId = (ids: OrderedIds, key: Key): void => {
  const number = pieceFor(ids, key)
  const piece = pieceAt(ids, number)
  const at = positionIn(piece, key)
  const sorted = piece.sorts !== piece.ids
  insertAt(piece.ids, at, key.id)
  if (sorted) insertAt(piece.sorts, at, key.sort)
  ids.length += 1
  if (piece.ids.length > most) split(ids, number, at === most ? most : most / 2)
}

/** What stands from a position on becomes a piece of its own. */
const split = (ids: OrderedIds, number: number, from: number): void => {
  const piece = pieceAt(ids, number)
  const sorted = piece.sorts !== piece.ids
  const behind = piece.ids.splice(from)
  const next = { ids: behind, sorts: sorted ? piece.sorts.splice(from) : behind }
  if (ids.more === undefined) ids.more = [next]
  else ids.more.splice(number, 0, next)
}

export const dropId = (ids: OrderedIds, key: Key): void => {
  const number = pieceFor(ids, key)
  const piece = pieceAt(ids, number)
  const at = positionIn(piece, key)
  if (piece.ids[at] !== key.id) return
  const sorted = piece.sorts !== piece.ids
  piece.ids.splice(at, 1)
  if (sorted) piece.sorts.splice(at, 1)
  ids.length -= 1
  if (piece.ids.length === 0) removePiece(ids, number)
}

const removePiece = (ids: OrderedIds, number: number): void => {
  const { more } = ids
  if (more === undefined) return
  const [taken] = more.splice(Math.max(0, number - 1), 1)
  if (number === 0 && taken !== undefined) Object.assign(ids, taken)
  if (more.length === 0) ids.more = undefined
}

/** Drops many at once: each piece is gone through, which costs less than a search for each. */
export const dropIds = (ids: OrderedIds, isGone: (id: string) => boolean): void => {
  const left: Piece[] = []
  ids.length = 0
  for (const piece of [{ ids: ids.ids, sorts: ids.sorts }, ...(ids.more ?? [])]) {
    keepIn(piece, isGone)
    ids.length += piece.ids.length
    if (piece.ids.length > 0) left.push(piece)
  }
  const [first, ...more] = left
  Object.assign(ids, first ?? { ids: [], sorts: [] })
  ids.more = more.length > 0 ? more : undefined
}

const keepIn = (piece: Piece, isGone: (id: string) => boolean): void => {
  const { ids, sorts } = piece
  piece.ids = ids.filter((id) => !isGone(id))
  piece.sorts = sorts === ids ? piece.ids : sorts.filter((_, at) => !isGone(ids[at] ?? ''))
}

/** Adds in any order; `settleIds` puts all in order. */
export const loadId = (ids: OrderedIds, key: Key): void => {
  ids.ordered &&= comesBefore(ids, ids.ids.length - 1, key)
  const sorted = ids.sorts !== ids.ids
  ids.ids.push(key.id)
  if (sorted) ids.sorts.push(key.sort)
  ids.length += 1
}

export const settleIds = (ids: OrderedIds): void => {
  if (!ids.ordered) putInOrder(ids)
  if (ids.length > most) cut(ids)
}

const cut = (ids: OrderedIds): void => {
  const { ids: all, sorts } = ids
  const piece = (from: number): Piece => {
    const own = all.slice(from, from + most)
    return { ids: own, sorts: sorts === all ? own : sorts.slice(from, from + most) }
  }
  ids.more = Array.from({ length: Math.ceil(all.length / most) - 1 }, (_, at) => piece((at + 1) * most))
  Object.assign(ids, piece(0))
}

const putInOrder = (ids: OrderedIds): void => {
  const order = ids.ids.map((id, at) => ({ id, sort: ids.sorts[at] ?? '' }))
  order.sort((a, b) => (a.sort === b.sort ? (a.id < b.id ? -1 : 1) : a.sort < b.sort ? -1 : 1))
  order.forEach(({ id, sort }, at) => {
    ids.ids[at] = id
    ids.sorts[at] = sort
  })
  ids.ordered = true
}

/** At most `limit`, strictly beyond a sort key if there is one. */
export interface Part {
  readonly beyond?: string | undefined
  readonly limit: number
}

/** The first so many whose sort key is beyond, or of all; or their sort keys. */
export const idsBeyond = (ids: OrderedIds, { beyond, limit }: Part, cells: 'ids' | 'sorts' = 'ids'): string[] => {
  const pieces = 1 + (ids.more?.length ?? 0)
  const isBefore = (piece: Piece, at: number): boolean => beyond !== undefined && (piece.sorts[at] ?? '') <= beyond
  let number = firstOf(pieces - 1, (at) => {
    const piece = pieceAt(ids, at)
    return isBefore(piece, piece.ids.length - 1)
  })
  const first = pieceAt(ids, number)
  const start = firstOf(first.ids.length, (at) => isBefore(first, at))
  const found = first[cells].slice(start, start + limit)
  while (found.length < limit && (number += 1) < pieces) {
    const next = pieceAt(ids, number)[cells]
    found.push(...next.slice(0, limit - found.length))
  }
  return found
}

/** How many have a sort key beyond another. */
export const countBeyond = (ids: OrderedIds, beyond: string): number => {
  const pieces: readonly Piece[] = [ids, ...(ids.more ?? [])]
  const isBefore = ({ sorts }: Piece, at: number): boolean => (sorts[at] ?? '') <= beyond
  const number = firstOf(
    pieces.length,
    (at) => pieces[at] !== undefined && isBefore(pieces[at], pieces[at].ids.length - 1),
  )
  const [first, ...behind] = pieces.slice(number)
  if (first === undefined) return 0
  const own = first.ids.length - firstOf(first.ids.length, (at) => isBefore(first, at))
  return behind.reduce((sum, piece) => sum + piece.ids.length, own)
}

/** The last so many before a sort key, or of all, backwards; or their sort keys. */
export const idsBefore = (ids: OrderedIds, { beyond, limit }: Part, cells: 'ids' | 'sorts' = 'ids'): string[] => {
  const key = { sort: beyond ?? '', id: '' }
  let number = beyond === undefined ? (ids.more?.length ?? 0) : pieceFor(ids, key)
  const last = pieceAt(ids, number)
  const end = beyond === undefined ? last.ids.length : positionIn(last, key)
  const found = last[cells].slice(Math.max(0, end - limit), end).reverse()
  while (found.length < limit && (number -= 1) >= 0) {
    const next = pieceAt(ids, number)[cells]
    found.push(...next.slice(Math.max(0, next.length - limit + found.length)).reverse())
  }
  return found
}
