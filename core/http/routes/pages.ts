/** Lists in pages (http-11 to http-15). */
import { createHash } from 'node:crypto'
import { array, boolean, doc, integer, object, optional, string, union, type StructOf } from '../../base/schema.js'
import type { Collection } from '../../state/contract.js'
import { httpErrors } from '../errors.js'
import { sliced, sliceItems, type Sliced } from './sliced.js'
import { viewsOf, type Skip } from './unreadable.js'

const defaultLimit = 50
const maxLimit = 100

/** What a paged list may answer with: `problems: [...pageProblems]`. */
export const pageProblems = [httpErrors.invalid_limit, httpErrors.invalid_cursor] as const

/** Fields of a list route's query: `object({ ...pageFields, session_id: optional(string()) })`. */
export const pageFields = {
  page: optional(doc(boolean(), 'Answers with an envelope of items and pagination instead of a plain array.')),
  cursor: optional(doc(string({ max: 2048 }), '`next_cursor` of the page before; implies an envelope.')),
  limit: optional(doc(integer(), `Most items to return, 1 to ${maxLimit}; larger values mean ${maxLimit}.`)),
}
export interface PageRequest {
  readonly page?: boolean | undefined
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

export interface Pagination {
  limit: number
  total_count: number
  has_more: boolean
  next_cursor?: string | undefined
  order: string
}
export interface Page<V> {
  items: V[]
  pagination: Pagination
}

/** The struct of what is said of pages of at most `most` items. */
export const paginationOf = (most: number): StructOf<Pagination> =>
  object({
    limit: doc(integer({ min: 1, max: most }), 'The limit in force.'),
    total_count: doc(integer({ min: 0 }), 'Items of the whole list, after filters.'),
    has_more: boolean(),
    next_cursor: optional(doc(string(), 'Absent on the last page.')),
    order: doc(string(), 'Names of the sort keys.'),
  })

/** The answer of a paged list: a plain array, or an envelope. */
export const pageOf = <T>(item: StructOf<T>): StructOf<T[] | Page<T>> =>
  union(array(item), object({ items: array(item), pagination: paginationOf(maxLimit) }))

/** What a list answers: a plain array, in slices where it is long, or an envelope. */
export type ListReply<V> = V[] | Page<V> | Sliced<V>

/** What a list reads from: ordered by ascending key, keys unique. */
export interface PageSource<T> {
  readonly count: () => number
  readonly key: (item: T) => string
  /** Items strictly beyond a key in the direction of `order`. */
  readonly list: (range: {
    readonly limit: number
    readonly order: 'asc' | 'desc'
    readonly beyond?: string
    /** Given what cannot be read, which is left out; without it the list fails. */
    readonly skip?: Skip | undefined
  }) => readonly T[]
}

export interface PageInput<T, V> {
  readonly query: PageRequest
  readonly source: PageSource<T>
  /** Names the order, such as `run_id_asc`. */
  readonly label: string
  readonly order?: 'asc' | 'desc'
  /** Which end a plain array with a limit keeps; still in ascending order. Default `first`. */
  readonly legacy?: 'first' | 'last'
  /** The first so many are a plain array without a limit; all when absent. */
  readonly mostPlain?: number
  /** May be called later than `listPage` returns. */
  readonly view: (item: T) => V
  /** Given what cannot be read or shown, which is left out; without it the list fails. */
  readonly skip?: Skip | undefined
}

/**
 * A requested limit within what a list gives: larger ones mean the most. Throws `invalid_limit` (400, domain
 * `pagination`) below 1.
 */
export const clampLimit = (limit: number, most: number): number => {
  if (limit < 1) throw httpErrors.invalid_limit({ errors: [{ path: 'query.limit', rule: 'must be at least 1' }] })
  return Math.min(limit, most)
}

const limitOf = (limit: number | undefined, most = maxLimit): number | undefined =>
  limit === undefined ? undefined : clampLimit(limit, most)

const checkBytes = 6

/** Where a page ended, in a list of this order. The first bytes tell cursors of other lists and made-up ones. */
export const encodeCursor = (order: string, key: string): string => {
  const check = createHash('sha256').update(`${order}\0${key}`).digest().subarray(0, checkBytes)
  return Buffer.concat([check, Buffer.from(key, 'utf8')]).toString('base64url')
}

/** Throws `invalid_cursor` for one that no list of this order made. */
export const decodeCursor = (order: string, cursor: string): string => {
  const key = Buffer.from(cursor, 'base64url').subarray(checkBytes).toString('utf8')
  if (encodeCursor(order, key) !== cursor)
    throw httpErrors.invalid_cursor({
      errors: [{ path: 'query.cursor', rule: 'must be a next_cursor of this list' }],
    })
  return key
}

/** Throws `invalid_limit` and `invalid_cursor`, domain `pagination`. */
export const listPage = <T, V>(input: PageInput<T, V>): ListReply<V> => {
  const limit = limitOf(input.query.limit)
  return input.query.page === true || input.query.cursor !== undefined
    ? envelope(input, limit ?? defaultLimit)
    : plain(input, limit)
}

const plain = <T, V>(
  { source, legacy = 'first', mostPlain = Infinity, view, skip }: PageInput<T, V>,
  limit: number | undefined,
): V[] | Sliced<V> => {
  const shown = (items: readonly T[]): V[] => viewsOf(items, view, { key: source.key, skip })
  if (limit === undefined && source.count() > maxLimit)
    return sliced(function* () {
      let left = mostPlain
      for (const item of walk({ source, skip }, 'asc')) {
        if (left === 0) return
        left -= 1
        yield* shown([item])
      }
    })
  if (limit === undefined || legacy === 'first')
    return shown(source.list({ limit: limit ?? maxLimit, order: 'asc', skip }))
  return shown(source.list({ limit, order: 'desc', skip }).toReversed())
}

/** A page of what is never told in whole: `most` items unless a smaller limit is asked for. Throws the same. */
export const boundedPage = <T, V>(input: Omit<PageInput<T, V>, 'legacy'>, most: number): Page<V> =>
  envelope(input, limitOf(input.query.limit, most) ?? most)

/** A plain array without a limit that is bounded all the same: the newest `most`, in ascending order. */
export const latest = <T, V>(
  { source, view, skip }: Pick<PageInput<T, V>, 'source' | 'view' | 'skip'>,
  most: number,
): Sliced<V> =>
  sliced(function* () {
    const found: T[] = []
    for (const item of walk({ source, skip }, 'desc')) {
      if (found.push(item) === most) break
      yield undefined
    }
    for (const item of found.reverse()) yield* viewsOf([item], view, { key: source.key, skip })
  })

/** All items, read in slices. */
function* walk<T>(
  { source, skip }: { readonly source: PageSource<T>; readonly skip: Skip | undefined },
  order: 'asc' | 'desc',
): Generator<T> {
  let beyond: string | undefined
  for (;;) {
    const found = source.list({ limit: sliceItems, order, skip, ...(beyond !== undefined && { beyond }) })
    yield* found
    const last = found.at(-1)
    if (found.length < sliceItems || last === undefined) return
    beyond = source.key(last)
  }
}

const envelope = <T, V>(
  { source, query, label, order = 'asc', view, skip }: PageInput<T, V>,
  limit: number,
): Page<V> => {
  const beyond = query.cursor === undefined || query.cursor === '' ? undefined : decodeCursor(label, query.cursor)
  const found = source.list({ limit: limit + 1, order, skip, ...(beyond !== undefined && { beyond }) })
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const more = found.length > limit && last !== undefined
  return {
    items: viewsOf(items, view, { key: source.key, skip }),
    pagination: {
      limit,
      total_count: source.count(),
      has_more: more,
      ...(more && { next_cursor: encodeCursor(label, source.key(last)) }),
      order: label,
    },
  }
}

/** One group of an index of a collection; the cursor is the index's sort key, so it must be unique in its group. */
export const collectionSource = <T extends object>(
  collection: Collection<T>,
  index: string,
  group: string,
): PageSource<T> => ({
  count: () => collection.count(index, group),
  key: (record) => (collection.spec.indexes[index]?.sort ?? collection.spec.id)(record),
  list: (range) => collection.list({ index, group, ...range }),
})

/** Items in memory, in any order. */
export const arraySource = <T>(items: readonly T[], key: (item: T) => string): PageSource<T> => {
  const sorted = items.map((item) => ({ key: key(item), item })).sort((a, b) => compare(a.key, b.key))
  /** How many items come before those that fit. */
  const countUntil = (fits: (key: string) => boolean): number => {
    let low = 0
    for (let high = sorted.length; low < high;) {
      const middle = (low + high) >>> 1
      if (fits(sorted[middle]?.key ?? '')) high = middle
      else low = middle + 1
    }
    return low
  }
  return {
    count: () => items.length,
    key,
    list({ limit, order, beyond }) {
      if (order === 'asc') {
        const start = beyond === undefined ? 0 : countUntil((own) => own > beyond)
        return sorted.slice(start, start + limit).map(({ item }) => item)
      }
      const end = beyond === undefined ? sorted.length : countUntil((own) => own >= beyond)
      return sorted
        .slice(Math.max(0, end - limit), end)
        .toReversed()
        .map(({ item }) => item)
    },
  }
}
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
