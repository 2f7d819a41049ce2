/** Lists of what somebody looks for where no index tells it: each item is looked at, in slices. */
import { comparable } from '../../base/words/comparable.js'
import { createPause } from '../../base/turns.js'
import { arraySource, type PageSource } from './pages.js'
import type { Skip } from './unreadable.js'

/** Items that are looked at before others are served. */
const slice = 50

/** What somebody looks for, as `holdsText` takes it; empty for nothing. */
export const searchText = (query = ''): string => comparable(query.trim())

/** Whether a field holds the text of a search, whatever its case and however its letters are put together. */
export const holdsText = (text: string, fields: readonly (string | undefined)[]): boolean =>
  fields.some((field) => field !== undefined && comparable(field).includes(text))

/** Items of a list that fit. What cannot be read is given to `skip`; without it the list fails. */
export const filteredSource = async <T>(
  source: PageSource<T>,
  fits: (item: T) => boolean,
  skip?: Skip,
): Promise<PageSource<T>> => {
  const found: T[] = []
  const pause = createPause(1)
  for (let last: T | undefined; ; await pause()) {
    const beyond = last === undefined ? {} : { beyond: source.key(last) }
    const some = source.list({ limit: slice, order: 'asc', skip, ...beyond })
    found.push(...some.filter(fits))
    last = some.at(-1)
    if (some.length < slice) return arraySource(found, source.key)
  }
}
