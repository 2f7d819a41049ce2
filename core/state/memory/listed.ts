/** Records of a part of a group, without those whose page is damaged. */
import type { PageQuery } from '../contract.js'

interface Source<T> {
  readonly page: (query: PageQuery) => readonly string[]
  readonly find: (id: string) => T | undefined
}

/** Records that are left out make room for others, so that a page is short only at the end. */
export const listed = <T>(query: PageQuery, source: Source<T>, skipped = 0): T[] => {
  const ids = source.page(skipped === 0 ? query : { ...query, limit: query.limit + skipped })
  const found: T[] = []
  for (const id of ids) {
    const record = findOr(id, query.skip, source)
    if (record !== undefined) found.push(record)
  }
  const missing = ids.length - found.length
  return missing === skipped || ids.length < query.limit + skipped ? found : listed(query, source, missing)
}

const findOr = <T>(id: string, skip: PageQuery['skip'], { find }: Source<T>): T | undefined => {
  try {
    return find(id)
  } catch (error) {
    if (skip === undefined) throw error
    skip(id, error)
    return undefined
  }
}
