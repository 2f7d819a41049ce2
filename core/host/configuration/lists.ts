/** The lists of all plugins, read when they are declared and again when their files change. */
import path from 'node:path'
import { guardFile, hintFor } from '../../base/config.js'
import { Problem } from '../../base/errors.js'
import type { HealthCheck } from '../../base/health.js'
import { memberIn } from '../../base/issue-rule.js'
import { parse, type Issue } from '../../base/parse.js'
import { unsafeCast, type Json, type JsonObject } from '../../base/schema.js'
import { errors } from '../errors.js'
import type { ConfigDisk } from '../load/config-bytes.js'
import { readTomlFile } from '../load/toml.js'
import {
  besideTables,
  faultOfName,
  hasNothing,
  holdsAny,
  isTable,
  missingOf,
  partsOf,
  sourceOf,
  wholeFile,
  withMeant,
  type ListFile,
  type ListParts,
  type Owner,
  isConfiguration,
} from './list-parts.js'
import { absent, refusedOf, vitalFault, warningsOf, type Told } from './list-warnings.js'
import type { EntryChange, List, ListChange, ListSpec } from '../../plugin/list.js'

export interface Lists {
  /** Throws `list_taken` if the file has a list already. */
  open<T, B>(plugin: Owner, spec: ListSpec<T, B>): { readonly list: List<T, B>; readonly close: () => void }
  /**
   * Reads the files again and applies what has changed; a file that is not there, or has nothing, takes its entries
   * with it only if it is `believed`. The names of those that were not: who replaces a file or its folder takes it away
   * first, who writes it anew empties it, and a guard must stay.
   */
  look(believed?: string): readonly string[]
  /** Calls back with what a look changed, once it is in force. Returns its undo. */
  onApplied(listener: (change: ListChange) => void): () => void
  /** True for the name of a file of which nothing but entries of its list has changed since the start. */
  covers(file: string): boolean
  /** Names without `.toml` of the files that have a list. */
  files(): readonly string[]
  /** Paths of files elsewhere that have one. */
  elsewhere(): readonly string[]
  readonly health: HealthCheck
}

interface Held {
  readonly text: string
  readonly entry: unknown
}
interface Open extends Told {
  readonly plugin: Owner
  readonly listeners: Set<(names: readonly string[]) => void>
  held: ReadonlyMap<string, Held>
  all: ReadonlyMap<string, unknown>
  faults: Told['faults']
  isKept: boolean
  lineOf: Told['lineOf']
  vital: Told['vital']
  /** What the file has beside the list: at the start, and now. */
  first: string | undefined
  rest: string
}

/** The entry, or what is wrong with it. */
type Reading = { entry: unknown } | { fault: string }
interface Given {
  readonly value: Json | undefined
  readonly beside?: unknown
}
const readEntry = (spec: ListSpec, name: string, { value, beside: held }: Given): Reading => {
  const struct = name === besideTables && spec.beside !== undefined ? spec.beside : spec.entry
  const misnamed = struct === spec.entry ? faultOfName(spec, name) : undefined
  if (misnamed !== undefined) return { fault: misnamed }
  const read = parse(struct, value)
  if (!read.ok) {
    const beside = struct === spec.entry ? [] : [spec.table ?? '']
    const told = (issue: Issue): string =>
      `${issue.path} ${issue.rule}${hintFor(issue, { struct, value, beside })}`.trim()
    return { fault: read.issues.map(told).join('; ') }
  }
  const fault = struct === spec.entry ? spec.fault?.(name, unsafeCast(read.value), held) : undefined
  return fault === undefined ? { entry: read.value } : { fault }
}

/** Lets entries in as long as there are not too many for the same. Those in force keep their places. */
const createRoom = ({ spec: { bound }, held }: Open, tables: JsonObject) => {
  const taken = new Map<string, number>()
  const take = (what: string): void => void taken.set(what, (taken.get(what) ?? 0) + 1)
  const old = new Map(
    [...held].flatMap(([name, { entry }]) =>
      bound === undefined || name === besideTables || !(name in tables) ? [] : [[name, bound.of(entry)]],
    ),
  )
  for (const what of old.values()) take(what)
  return (name: string, read: Reading): Reading => {
    if (bound === undefined || name === besideTables || 'fault' in read) return read
    const what = bound.of(read.entry)
    if (old.get(name) === what) return read
    if ((taken.get(what) ?? 0) >= bound.most) return { fault: `there may be ${bound.most} for ${what} at most.` }
    take(what)
    return read
  }
}

/** What will hold beside the entries, which are judged by it. */
const besideOf = ({ spec, held }: Open, tables: JsonObject): unknown => {
  const read = besideTables in tables ? readEntry(spec, besideTables, { value: tables[besideTables] }) : undefined
  return read !== undefined && 'entry' in read ? read.entry : held.get(besideTables)?.entry
}

/** Entries of the file that are right, and in place of wrong ones those that are held. */
const applied = (open: Open, { tables, faults: known }: ListParts): Pick<Open, 'held' | 'faults' | 'vital'> => {
  const [held, faults] = [new Map<string, Held>(), new Map<string, string>()]
  const admit = createRoom(open, tables)
  const beside = besideOf(open, tables)
  let vital: string | undefined
  for (const [name, value] of Object.entries(tables)) {
    const text = JSON.stringify(value)
    const before = open.held.get(name)
    const fault = known.get(name)
    const read =
      fault !== undefined
        ? { fault }
        : before?.text === text
          ? before
          : admit(name, readEntry(open.spec, name, { value, beside }))
    if ('entry' in read) held.set(name, { text, entry: read.entry })
    else {
      faults.set(name, read.fault)
      if (before !== undefined) held.set(name, before)
      if (isTable(value) && open.spec.isVital?.(value) === true) vital ??= name
    }
  }
  return { held, faults, vital }
}

const changedNames = (before: Open['held'], now: Open['held']): string[] =>
  [...new Set([...before.keys(), ...now.keys()])].filter((name) => before.get(name)?.text !== now.get(name)?.text)

/** Entries that are as they were, at another place among those that stayed: who asks them in order notices. */
const movedNames = (before: Open['held'], now: Open['held']): string[] => {
  const stayed = [...before.keys()].filter((name) => name !== besideTables && now.has(name))
  const after = [...now.keys()].filter((name) => name !== besideTables && before.has(name))
  const moved = after.filter((name, at) => stayed[at] !== name)
  return moved.filter((name) => before.get(name)?.text === now.get(name)?.text)
}

const tableOf = (held: Held | undefined): JsonObject => (held === undefined ? {} : unsafeCast(JSON.parse(held.text)))

const tablesOf = (held: Open['held']): ReadonlyMap<string, JsonObject> =>
  new Map([...held].map(([name, one]) => [name, tableOf(one)]))

/** Their names tell what differs; values may be secrets. */
const entryChange = (name: string, before: Held | undefined, now: Held | undefined): EntryChange => {
  const [old, fresh] = [tableOf(before), tableOf(now)]
  const differs = (member: string): boolean => JSON.stringify(old[member]) !== JSON.stringify(fresh[member])
  return {
    name,
    change: before === undefined ? 'added' : now === undefined ? 'removed' : 'changed',
    members: now === undefined ? [] : [...new Set([...Object.keys(old), ...Object.keys(fresh)])].filter(differs),
  }
}

/** Tables in an entry may give references under such names. */
const entryDepth = 2

export interface ListsParts {
  readonly disk: ConfigDisk
  readonly root: string
  /** Contents by plugin that stand in for its file, for an embedding program. */
  readonly given?: Readonly<Record<string, JsonObject>>
  /** Nothing that is wrong ends the start: it is left out, and told. */
  readonly safe?: boolean
  /** Told every value of a file that is named like a secret, whatever else is wrong with its entry. */
  readonly guard?: (value: string) => void
}

/** Reads the file of a list; undefined if there is none. */
const createReader = ({ disk, root, given = {}, guard }: ListsParts) => {
  const guarded = new Set<string>()
  const guardOnce = (value: string): void => {
    if (!guarded.has(value)) guard?.(value)
    guarded.add(value)
  }
  return (spec: ListSpec): ListFile | undefined => {
    const { file, from } = spec
    const at = from?.path ?? path.join(root, 'config', `${file}.toml`)
    const table = given[file]
    const content = table === undefined ? readTomlFile(disk, at, sourceOf(spec)) : { table }
    if (content !== undefined) guardFile(content.table, guardOnce, entryDepth)
    return content
  }
}

const unread = (plugin: Owner, spec: ListSpec): Open => ({
  plugin,
  spec,
  listeners: new Set(),
  held: new Map(),
  all: new Map(),
  faults: new Map(),
  isKept: false,
  lineOf: () => undefined,
  vital: undefined,
  isConfiguration: isConfiguration(plugin, spec),
  first: undefined,
  rest: '',
})

/** A file is looked through once for each fault, however often that is told. */
const linesOf = ({ lineOf }: Partial<ListFile>, { pathOf }: ListParts): Open['lineOf'] => {
  const known = new Map<string, number | undefined>()
  return (name, fault) => {
    const at = [pathOf(name), memberIn(fault)].filter((part) => part !== '').join('.')
    if (!known.has(at)) known.set(at, lineOf?.(at))
    return known.get(at)
  }
}

export const createLists = (parts: ListsParts): Lists => {
  const opened = new Map<string, Open>()
  const followers = new Set<(change: ListChange) => void>()
  const contentOf = createReader(parts)
  const look = (open: Open, believesGone: boolean): boolean => {
    const before = open.held
    try {
      const content = contentOf(open.spec)
      if (hasNothing(content) && holdsAny(before) && !believesGone) return true
      const found = partsOf(open.plugin, open.spec, content ?? { table: {} })
      const { rest, strange } = found
      open.first ??= rest
      const tables = withMeant(found, tablesOf(before))
      const { faults, ...others } = applied(open, { ...found, tables })
      const told = strange === undefined ? faults : new Map([[wholeFile, strange.message], ...faults])
      const isKept = JSON.stringify(tables) !== JSON.stringify(found.tables)
      Object.assign(open, { rest, isKept, lineOf: linesOf(content ?? {}, found), faults: told }, others)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const faults = new Map([[wholeFile, error.message]])
      Object.assign(open, { faults, isKept: holdsAny(before), lineOf: () => undefined })
    }
    open.all = new Map([...open.held].flatMap(([name, { entry }]) => (name === besideTables ? [] : [[name, entry]])))
    const changed = changedNames(before, open.held)
    const names = changed.filter((name) => name !== besideTables)
    if (changed.length > 0) for (const listener of open.listeners) listener(names)
    const { file } = open.spec
    const entries = [
      ...changed.map((name) =>
        entryChange(name === besideTables ? `${file}.toml` : name, before.get(name), open.held.get(name)),
      ),
      ...movedNames(before, open.held).map((name): EntryChange => ({ name, change: 'moved', members: [] })),
    ]
    if (entries.length > 0 && opened.has(file)) for (const follower of followers) follower({ file, entries })
    return false
  }
  return {
    open<T, B>(plugin: Owner, spec: ListSpec<T, B>) {
      const taken = opened.get(spec.file)
      if (taken !== undefined) throw errors.list_taken({ details: { file: spec.file, plugin: taken.plugin.id } })
      const open = unread(plugin, unsafeCast<ListSpec>(spec))
      look(open, true)
      const refused = refusedOf(open)
      if (refused !== undefined && parts.safe !== true) throw vitalFault(open, refused)
      opened.set(spec.file, open)
      const list: List<T, B> = {
        source: sourceOf(spec),
        missing: () => missingOf(spec),
        all: () => unsafeCast<ReadonlyMap<string, T>>(open.all),
        beside: () => unsafeCast<B | undefined>(open.held.get(besideTables)?.entry),
        wrong: () => open.faults,
        lineOf: (name, fault) => open.lineOf(name, fault),
        onChange(listener) {
          open.listeners.add(listener)
          return () => open.listeners.delete(listener)
        },
      }
      return { list, close: () => void opened.delete(spec.file) }
    },
    look: (believed) => [...opened].flatMap(([file, open]) => (look(open, file === believed) ? [file] : [])),
    onApplied(listener) {
      followers.add(listener)
      return () => followers.delete(listener)
    },
    covers(file) {
      const open = opened.get(file)
      return open !== undefined && (open.first ?? open.rest) === open.rest
    },
    files: () => [...opened.keys()],
    elsewhere: () => [...opened.values()].flatMap(({ spec: { from } }) => from?.path ?? []),
    health: {
      id: 'lists',
      check: () => [...opened.values()].flatMap((open) => [...absent(open), ...warningsOf(open)]),
    },
  }
}
