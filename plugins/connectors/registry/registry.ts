/** Connectors as they are now, of the file and of requests, and how each of them is. */
import { unsafeCast, type Clock, type Log, type Secrets } from '../../../core/plugin.js'
import type { SecretSlots } from '../../operator/secrets/contract.js'
import type {
  Connector,
  ConnectorChange,
  ConnectorKind,
  ConnectorKindName,
  Connectors,
  ConnectorSettings,
} from './contract.js'
import { createCourses, type Courses, type Health } from './courses.js'
import type { Entry } from './entry.js'
import { connectorErrors } from './errors.js'
import { createGuards } from './guards.js'
import { idOf } from './record.js'
import { createRoster, idOfEntry, type RosterParts } from './roster.js'
import { valueOf, type SourceParts } from './sources.js'

export interface RegistryParts extends RosterParts {
  readonly slots: SecretSlots
  readonly secrets: Secrets
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

export interface Registry {
  readonly connectors: Connectors
  /** All that are listed, in force or not, by kind and name. */
  list(): readonly Entry[]
  /** Undefined for one that is not listed. */
  find(kind: string, name: string): Entry | undefined
  healthOf(entry: Entry): Health
  /** Tells that a commit has changed a connector, on disk. */
  changed(kind: ConnectorKindName, name: string): void
  /** What is wrong with tables of the file, by the names of their entries. */
  faults(): ReadonlyMap<string, string>
  /** Whether a table of the file that is wrong has one of before in its place. */
  holds(entry: string): boolean
  /** Ids of records in whose place the file has an entry. */
  shaded(): readonly string[]
  /** Ids of records of whose kind there is no plugin. */
  unserved(): readonly string[]
  /** Connectors that a secret is a source of, or that name it. */
  using(secret_ref: string): readonly Entry[]
  /** Has the value of a variable redacted. */
  guard(value: string): void
  /** Looks at everything; from then on changes are followed. Returns what ends that. */
  begin(): () => void
}

type Listener = Parameters<Connectors['onChange']>[0]

/** A connector for its kind. */
const served = <S extends ConnectorSettings>(
  { log }: Pick<RegistryParts, 'log'>,
  sources: SourceParts,
  entry: Entry,
): Connector<S> => ({
  kind: entry.kind.kind,
  name: entry.name,
  source: entry.source,
  settings: unsafeCast<S>(entry.settings),
  has: (secret) => entry.secrets.has(secret),
  secret(secret) {
    const source = entry.secrets.get(secret)
    if (source === undefined) return undefined
    try {
      const value = valueOf(sources, source)
      if (value !== undefined) return value
    } catch (error) {
      log.warn('a secret of a connector cannot be used', { connector: idOfEntry(entry), error })
    }
    throw connectorErrors.connector_secret_unusable({ details: { kind: entry.kind.kind, name: entry.name } })
  },
})

export const createRegistry = (parts: RegistryParts): Registry => {
  const { list, slots, clock } = parts
  const guards = createGuards(parts.secrets)
  const sources: SourceParts = { slots, secrets: parts.secrets, guard: guards.once }
  const roster = createRoster(parts)
  const courses = createCourses(sources, clock)
  const listeners = new Set<Listener>()
  const tell = (change: ConnectorChange): void => {
    for (const listener of listeners) listener(change)
  }
  const guardFile = (): void =>
    guards.replace(roster.list().flatMap(({ source, secrets }) => (source === 'file' ? [...secrets.values()] : [])))
  const changed = (id: string, kind: ConnectorKindName): void => {
    const entry = roster.find(id)
    if (entry === undefined) courses.forget(id)
    else courses.renew(entry)
    tell({ kind, name: id.slice(kind.length + 1), why: 'set_up' })
  }
  const using = (secret_ref: string): Entry[] =>
    [...roster.all()].filter(
      ({ kind, secrets, settings, fault }) =>
        [...secrets.values()].some((source) => source.type === 'secret' && source.secret_ref === secret_ref) ||
        (fault === undefined && kind.uses?.(settings).includes(secret_ref) === true),
    )
  const fileChanged = (): void => {
    const kindOf = new Map(roster.list().map((entry) => [idOfEntry(entry), entry.kind.kind]))
    const ids = roster.reload()
    for (const entry of roster.list()) kindOf.set(idOfEntry(entry), entry.kind.kind)
    guardFile()
    for (const id of ids) {
      const kind = kindOf.get(id)
      if (kind !== undefined) changed(id, kind)
    }
  }
  const secretChanged = (secret_ref: string): void => {
    for (const entry of using(secret_ref)) {
      courses.lookAgain(entry)
      tell({ kind: entry.kind.kind, name: entry.name, why: 'secret' })
    }
  }
  return {
    connectors: createService({
      roster,
      courses,
      listeners,
      serve: <S extends ConnectorSettings>(entry: Entry) => served<S>(parts, sources, entry),
    }),
    list: roster.list,
    find: (kind, name) => roster.find(idOf({ kind, name })),
    healthOf: courses.healthOf,
    changed: (kind, name) => changed(idOf({ kind, name }), kind),
    faults: roster.faults,
    holds: roster.holds,
    shaded: roster.shaded,
    unserved: roster.unserved,
    using,
    guard: guards.once,
    begin() {
      guardFile()
      const undo = [slots.onChange(secretChanged), list.onChange(fileChanged)]
      return () => {
        for (const one of undo) one()
        guards.letGo()
      }
    },
  }
}

interface ServiceParts {
  readonly roster: Pick<ReturnType<typeof createRoster>, 'find' | 'hasKind' | 'list'>
  readonly courses: Courses
  readonly listeners: Set<Listener>
  serve<S extends ConnectorSettings>(entry: Entry): Connector<S>
}

const createService = ({ roster, courses, listeners, serve }: ServiceParts): Connectors => {
  const inForce = (entry: Entry): boolean => courses.blockOf(entry) === undefined
  const note = (kind: string, name: string, what: Parameters<Courses['note']>[1]): void => {
    const entry = roster.find(idOf({ kind, name }))
    if (entry !== undefined) courses.note(entry, what)
  }
  return {
    has: (kind, name) => roster.find(idOf({ kind, name })) !== undefined,
    hasKind: roster.hasKind,
    settingsOf<S extends ConnectorSettings>({ kind }: ConnectorKind<S>, name: string) {
      const entry = roster.find(idOf({ kind, name }))
      return entry === undefined ? undefined : unsafeCast<S>(entry.settings)
    },
    find<S extends ConnectorSettings>({ kind }: ConnectorKind<S>, name: string) {
      const entry = roster.find(idOf({ kind, name }))
      return entry === undefined || !inForce(entry) ? undefined : serve<S>(entry)
    },
    all: <S extends ConnectorSettings>({ kind: wanted }: ConnectorKind<S>) =>
      roster
        .list()
        .filter((entry) => entry.kind.kind === wanted && inForce(entry))
        .map((entry) => serve<S>(entry)),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    heard: (kind, name) => note(kind, name, 'heard'),
    well: (kind, name) => note(kind, name, 'well'),
    trouble: (kind, name, trouble) => note(kind, name, trouble),
  }
}
