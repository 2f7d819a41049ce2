/** The connectors that are listed: those of the file, and those of requests that it has not. */
import { unsafeCast, type Collection } from '../../../core/plugin.js'
import type { SecretSeal } from '../../operator/secrets/contract.js'
import type { AnyConnectorKind } from './contract.js'
import { readSettings, tellIssues, type Entry } from './entry.js'
import { createFileEntries, type FileParts } from './file-entries.js'
import { idOf, type StoredConnector } from './record.js'
import { openedSettings } from './sealed.js'

export interface RosterParts extends FileParts {
  readonly collection: Collection<StoredConnector>
  readonly seal: Pick<SecretSeal, 'open'>
}

export interface Roster {
  find(id: string): Entry | undefined
  hasKind(kind: string): boolean
  /** By kind and name. */
  list(): readonly Entry[]
  /** The same in any order. */
  all(): Iterable<Entry>
  /** Reads the file again; ids of what is another now. */
  reload(): readonly string[]
  /** What is wrong with tables of the file, by the names of their entries. */
  faults(): ReadonlyMap<string, string>
  /** Whether a table of the file that is wrong has one of before in its place. */
  holds(entry: string): boolean
  /** Ids of records in whose place the file has an entry. */
  shaded(): readonly string[]
  /** Ids of records of whose kind there is no plugin. */
  unserved(): readonly string[]
}

/** What names an entry. */
export const idOfEntry = ({ kind: { kind }, name }: Pick<Entry, 'kind' | 'name'>): string => idOf({ kind, name })

const fromRecord = (
  { seal }: Pick<RosterParts, 'seal'>,
  kind: AnyConnectorKind,
  { name, settings: kept, secrets: stored }: StoredConnector,
): Entry => {
  const { settings, locked } = openedSettings(seal, { kind, name }, kept)
  const secrets = new Map(Object.entries(stored))
  const read = readSettings(kind, { name, secrets, settings })
  const entry = { kind, name, source: 'daemon', secrets } as const
  const [place] = locked
  return 'settings' in read
    ? { ...entry, settings: read.settings, ...(place !== undefined && { fault: `${place} ${doesNotOpen}` }) }
    : { ...entry, settings: unsafeCast(settings), fault: tellIssues(read.issues) }
}

/** Of a place in settings: what is wrong with it, and what mends it. */
export const doesNotOpen = 'cannot be decrypted: give the key back, or give it anew'

/**
 * What is read is what the state has now, as secrets are: a commit that changes settings and secrets of a connector is
 * seen whole, or not at all.
 */
export const createRoster = (parts: RosterParts): Roster => {
  const { collection, kinds } = parts
  const files = createFileEntries(parts)
  let isRead = false
  const made = new WeakMap<StoredConnector, Entry>()
  const stored = (id: string): Entry | undefined => {
    const record = collection.find(id)
    const kind = record && kinds().find((one) => one.kind === record.kind)
    if (record === undefined || kind === undefined) return undefined
    const entry = made.get(record) ?? fromRecord(parts, kind, record)
    // What is locked now may open when the key is back.
    if (entry.fault === undefined) made.set(record, entry)
    return entry
  }
  const fromFile = (): ReturnType<typeof files.all> => {
    if (!isRead) {
      isRead = true
      files.read()
    }
    return files.all()
  }
  const find = (id: string): Entry | undefined => fromFile().get(id)?.entry ?? stored(id)
  const ids = (): string[] => [...new Set([...collection.ids('all', 'all'), ...fromFile().keys()])]
  const entriesOf = (some: readonly string[]): Entry[] => some.flatMap((id) => find(id) ?? [])
  return {
    find,
    hasKind(kind) {
      const beginning = idOf({ kind, name: '' })
      const [first = ''] = collection.page({ index: 'all', group: 'all', beyond: beginning, limit: 1 })
      return [first, ...fromFile().keys()].some((id) => id.startsWith(beginning))
    },
    list: () => entriesOf(ids().toSorted()),
    all: () => entriesOf(ids()),
    reload() {
      const before = fromFile()
      files.read()
      const after = files.all()
      return [...new Set([...before.keys(), ...after.keys()])].filter(
        (id) => before.get(id)?.entry !== after.get(id)?.entry,
      )
    },
    faults: files.faults,
    holds: files.holds,
    shaded: () => collection.ids('all', 'all').filter((id) => fromFile().has(id)),
    unserved: () => collection.ids('all', 'all').filter((id) => find(id) === undefined),
  }
}
