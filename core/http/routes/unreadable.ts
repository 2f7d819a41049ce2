/** Records that cannot be read are named, and left out of lists: one of them must not hide all others. */
import type { HealthCheck } from '../../base/health.js'
import type { Log } from '../../base/text/log.js'
import { thrownText } from '../../base/text/thrown.js'

/** What a list does with an item that it cannot show. */
export type Skip = (id: string, error: unknown) => void

export interface Unreadable {
  /** Names an item once, in the log and as a warning. */
  readonly skip: Skip
  readonly health: HealthCheck
}

/** Names that are kept; what is damaged beyond them is in the log of `state verify`. */
const most = 1000

/** `what` is the plural of what a list shows, such as `approval requests`. */
export const createUnreadable = (log: Log, what: string): Unreadable => {
  const known = new Set<string>()
  return {
    skip(id, error) {
      if (known.has(id) || known.size >= most) return
      known.add(id)
      log.error(`some ${what} cannot be read and are left out of lists`, { id, error: thrownText(error) })
    },
    health: {
      id: `unreadable ${what}`,
      check: () => {
        const [first] = known
        if (first === undefined) return []
        return [
          {
            severity: 'error',
            code: 'unreadable_records',
            related_id: first,
            message: `Of the ${what}, ${known.size} cannot be read and are left out of lists; the first is ${first}.`,
            action: 'See what is damaged with holdfast state verify.',
          },
        ]
      },
    },
  }
}

/** The views of items, without those that cannot be made if `skip` is given. */
export const viewsOf = <T, V>(
  items: readonly T[],
  view: (item: T) => V,
  { key, skip }: { readonly key: (item: T) => string; readonly skip?: Skip | undefined },
): V[] =>
  items.flatMap((item) => {
    try {
      return [view(item)]
    } catch (error) {
      if (skip === undefined) throw error
      skip(key(item), error)
      return []
    }
  })
