/** How connectors are: what is missing for them, and what they told of themselves. */
import { sentence, type Clock } from '../../../core/plugin.js'
import type { ConnectorTrouble } from './contract.js'
import type { Entry } from './entry.js'
import { idOfEntry } from './roster.js'
import { faultOfSource, type SourceParts } from './sources.js'

/** What a connector told of itself. */
interface Course {
  readonly trouble?: ConnectorTrouble | undefined
  readonly last_event_at_ms?: number
  readonly last_success_at_ms?: number
  /** What the connector was when it told its trouble. */
  readonly of?: Entry
}

/** How a connector is now. */
export type Health = { readonly state: 'ok' | ConnectorTrouble['state'] } & Partial<Omit<ConnectorTrouble, 'state'>> &
  Omit<Course, 'trouble' | 'of'>

export interface Courses {
  /** What keeps a connector out of force; undefined if nothing does. */
  blockOf(entry: Entry): ConnectorTrouble | undefined
  healthOf(entry: Entry): Health
  note(entry: Entry, what: 'heard' | 'well' | ConnectorTrouble): void
  /** It is another one now: what was wrong with the one before may be mended. */
  renew(entry: Entry): void
  forget(id: string): void
  /** Looks at the secrets of a connector again. */
  lookAgain(entry: Entry): void
}

const blockIn = (parts: SourceParts, { kind: { kind }, name, secrets, fault }: Entry): ConnectorTrouble | undefined => {
  if (fault !== undefined)
    return {
      state: 'degraded',
      cause: sentence(`Its settings are not right any more: ${fault}`),
      action: `Correct them with PUT /v1/runtime/connectors/${kind}/${name}.`,
    }
  for (const [secret, source] of secrets) {
    const found = faultOfSource(parts, secret, source)
    if (found !== undefined) return { state: 'degraded', ...found }
  }
  return undefined
}

export const createCourses = (parts: SourceParts, clock: Pick<Clock, 'now'>): Courses => {
  const courses = new Map<string, Course>()
  /** Asked for at each event. */
  const blocks = new WeakMap<Entry, { readonly block: ConnectorTrouble | undefined }>()
  const blockOf = (entry: Entry): ConnectorTrouble | undefined => {
    const known = blocks.get(entry) ?? { block: blockIn(parts, entry) }
    blocks.set(entry, known)
    return known.block
  }
  const change = (id: string, next: Course): void => void courses.set(id, { ...courses.get(id), ...next })
  return {
    blockOf,
    healthOf(entry) {
      const { trouble, of: _of, ...times } = courses.get(idOfEntry(entry)) ?? {}
      return { state: 'ok', ...(blockOf(entry) ?? trouble), ...times }
    },
    note(entry, what) {
      const id = idOfEntry(entry)
      if (what === 'heard') change(id, { last_event_at_ms: clock.now() })
      else if (what === 'well') change(id, { last_success_at_ms: clock.now(), trouble: undefined })
      else change(id, { trouble: what, of: entry })
    },
    renew(entry) {
      const id = idOfEntry(entry)
      // Its secrets are told of first, and whoever heard that may have begun with what it is now.
      if (courses.get(id)?.of !== entry) change(id, { trouble: undefined })
    },
    forget: (id) => void courses.delete(id),
    lookAgain: (entry) => void blocks.delete(entry),
  }
}
