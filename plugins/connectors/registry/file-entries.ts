/** The connectors of the file: of a table that is wrong, what held before stays. */
import { Problem, unsafeCast, type JsonObject, type List } from '../../../core/plugin.js'
import type { Outbox } from '../../execution/deliveries/contract.js'
import type { AnyConnectorKind } from './contract.js'
import type { Entry } from './entry.js'
import { placeIn, readTable } from './file.js'
import { idOf } from './record.js'

interface Held {
  readonly table: JsonObject
  readonly entry: Entry
}

export interface FileEntries {
  /** By id. */
  all(): ReadonlyMap<string, Held>
  /** What is wrong with tables, by the names of their entries in the list. */
  faults(): ReadonlyMap<string, string>
  /** Whether a table that is wrong has one of before in its place. */
  holds(entry: string): boolean
  /** Reads the list again. Reply targets are looked at when every connector that they may lead to is there. */
  read(): void
}

export interface FileParts {
  readonly list: List<JsonObject>
  readonly kinds: () => readonly AnyConnectorKind[]
  readonly outbox: Pick<Outbox, 'normalize'>
}

/** An entry with its reply targets as handles. Throws what `normalize` does. */
const withHandles = ({ outbox }: FileParts, entry: Entry): Entry => {
  const { targets } = entry.kind
  const handles = outbox.normalize(unsafeCast(Reflect.get(entry.settings, targets)), targets)
  return { ...entry, settings: { ...entry.settings, [targets]: handles } }
}

const faultOf = (error: unknown): string => {
  if (!(error instanceof Problem)) throw error
  const [issue] = error.occurrence.errors ?? []
  return issue === undefined ? error.message : `${issue.path} ${issue.rule}`
}

export const createFileEntries = (parts: FileParts): FileEntries => {
  let held = new Map<string, Held>()
  let faults = new Map<string, string>()
  const read = (): void => {
    const before = held
    const fresh = new Map<string, string>()
    const refuse = (entry: string, id: string, fault: string): void => {
      faults.set(entry, fault)
      const old = before.get(id)
      if (old === undefined) held.delete(id)
      else held.set(id, old)
    }
    ;[held, faults] = [new Map(), new Map()]
    for (const [entry, table] of parts.list.all()) {
      const { kind: kindName, name } = placeIn(entry)
      const id = idOf({ kind: kindName, name })
      const old = before.get(id)
      if (old?.table === table) {
        held.set(id, old)
        continue
      }
      const kind = parts.kinds().find((one) => one.kind === kindName)
      const made = kind === undefined ? { fault: 'is of a kind that no plugin serves' } : readTable(kind, name, table)
      if ('fault' in made) refuse(entry, id, made.fault)
      else {
        held.set(id, { table, entry: made.entry })
        fresh.set(entry, id)
      }
    }
    for (const [entry, id] of fresh) {
      const found = held.get(id)
      try {
        if (found !== undefined) held.set(id, { ...found, entry: withHandles(parts, found.entry) })
      } catch (error) {
        refuse(entry, id, faultOf(error))
      }
    }
  }
  return { all: () => held, faults: () => faults, holds: (entry) => held.has(idOf(placeIn(entry))), read }
}
