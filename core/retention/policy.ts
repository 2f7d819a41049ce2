/** What `config/retention.toml` says: how long, how many and how much is kept of each kind. */
import path from 'node:path'
import { errors, readLayers, tableOfFile } from '../base/config.js'
import {
  defaulted,
  doc,
  fieldNames,
  integer,
  isJsonObject,
  object,
  optional,
  record,
  rule,
  string,
  type Infer,
  type JsonObject,
} from '../base/schema.js'
import { nearest } from '../base/words/nearest.js'
import type { DeclaredKind, Retention } from '../state/contract.js'
import { age, ageOf, size, sizeOf } from './amounts.js'

/** What one kind may say: `[kinds.runs]`. */
export const KindConfig = object({
  max_age: optional(age('1h', 'What is older falls. Kept for ever when absent.')),
  max_count: optional(doc(integer({ min: 1 }), 'Of the newest records at least so many stay. All when absent.')),
})

/** One table, and one more for each kind: `[kinds.runs]`. */
export const RetentionConfig = object({
  min_age: defaulted(age('1h', 'Nothing younger falls, whatever else is said.'), '1d'),
  max_bytes: optional(
    size('64MiB', 'Most bytes of the whole state root; the oldest of all kinds makes room. No limit when absent.'),
  ),
  archive_dir: optional(
    doc(
      rule(string(), 'must be an absolute path', (text) => path.isAbsolute(text) && !text.includes('\0')),
      'Folder outside the state root in which what falls is kept first, as compressed NDJSON. No archive when absent.',
    ),
  ),
  kinds: defaulted(doc(record(KindConfig), 'What is kept of each kind, by its name.'), {}),
})
/** With the lines of the file, if it is one. */
export type RetentionConfig = Infer<typeof RetentionConfig> & Pick<RetentionFile, 'lineOf'>

/** How much of a kind is kept. */
export interface KindPolicy {
  /** Milliseconds. */
  readonly maxAge?: number | undefined
  /** Records. */
  readonly maxCount?: number | undefined
  /** It falls by its age alone and makes no room for others: somebody was promised the time. */
  readonly isPromise: boolean
}
export interface Policy {
  /** Milliseconds. */
  readonly minAge: number
  readonly maxBytes?: number | undefined
  readonly archiveDir?: string | undefined
  readonly kinds: ReadonlyMap<string, KindPolicy>
  /** Kinds that it names and nobody who is here declares; their plugin may be missing now. */
  readonly unknown: readonly string[]
}

const file = 'config/retention.toml'

/** What the file has, and its lines if it is one. */
export interface RetentionFile {
  readonly table: JsonObject
  readonly lineOf?: (path: string) => number | undefined
}

const refuse = (member: string, problem: string, lineOf?: RetentionFile['lineOf']): never => {
  const line = lineOf?.(member)
  const source = line === undefined ? file : `${file}:${line}`
  throw errors.config_invalid({ details: { source, problem: `${member} ${problem}` } })
}

const policyOf = (config: RetentionConfig, { kind, promise }: DeclaredKind): KindPolicy => {
  const { max_age, max_count } = config.kinds[kind] ?? {}
  const maxAge = max_age === undefined ? promise : ageOf(max_age)
  const minAge = ageOf(config.min_age) ?? 0
  if (max_age !== undefined && maxAge !== undefined && maxAge < minAge)
    refuse(`kinds.${kind}.max_age`, `must be at least min_age, which is ${config.min_age}`, config.lineOf)
  if (promise !== undefined && max_count !== undefined)
    refuse(`kinds.${kind}.max_count`, 'cannot be set: what is promised for a time is kept for it', config.lineOf)
  return { maxAge, maxCount: max_count, isPromise: promise !== undefined }
}

const isInside = (folder: string, at: string): boolean => !/^\.\.(?:\/|$)/u.test(path.relative(folder, at))

/** Who writes `[runs]` means a kind: no field is near it. What is said of a kind stands nowhere else. */
const refuseBareKind = ({ table, lineOf }: RetentionFile): void => {
  const [fields, ofKind] = [fieldNames(RetentionConfig, []), fieldNames(KindConfig, [])]
  const isBare = (name: string): boolean =>
    isJsonObject(table[name]) &&
    name !== tableOfFile(file) &&
    !fields.includes(name) &&
    nearest(name, fields) === undefined
  const bare = Object.keys(table).find(isBare)
  if (bare !== undefined) refuse(bare, `is not a known field; did you mean kinds.${bare}?`, lineOf)
  const loose = Object.keys(table).find((name) => ofKind.includes(name))
  if (loose !== undefined) refuse(loose, `is said of a kind: write it below its table, such as [kinds.runs]`, lineOf)
}

/** Throws `config_invalid`, which names the member that is wrong. */
export const readConfig = (from: RetentionFile, root: string): RetentionConfig => {
  refuseBareKind(from)
  const config = readLayers<Infer<typeof RetentionConfig>>({
    struct: RetentionConfig,
    settings: [],
    file: { name: file, ...from },
    environment: {},
    flags: new Map(),
    guard: () => {},
  })
  if (config.archive_dir !== undefined && isInside(root, config.archive_dir))
    refuse('archive_dir', 'must be outside the state root', from.lineOf)
  return { ...config, ...(from.lineOf !== undefined && { lineOf: from.lineOf }) }
}

const meantKind = (kind: string | undefined): string => (kind === undefined ? '' : `; did you mean kinds.${kind}?`)

/** What is bounded by settings of its own, also by the last word of its name: `memories` are `run_memories`. */
const boundedAs = (kind: string, bounded: ReadonlyMap<string, string>): string | undefined =>
  bounded.get(kind) ?? Array.from(bounded).find(([name]) => name.endsWith(`_${kind}`))?.[1]

const notHere = (kind: string, known: readonly string[], settings: string | undefined): string =>
  settings === undefined
    ? `is no kind: there are ${known.toSorted().join(', ')}${meantKind(nearest(kind, known))}`
    : `is not set here: what is kept of it is said by ${settings}`

const unknownIn = (
  config: RetentionConfig,
  { declared, kinds, bounded }: KnownKinds,
  complete: boolean,
): readonly string[] => {
  const known = new Set([...declared(), ...kinds()].map(({ kind }) => kind))
  const settingsOf = (kind: string): string | undefined => boundedAs(kind, bounded())
  const unknown = Object.keys(config.kinds).filter((kind) => !known.has(kind))
  const wrong = unknown.find((kind) => complete || settingsOf(kind) !== undefined)
  if (wrong !== undefined) refuse(`kinds.${wrong}`, notHere(wrong, [...known], settingsOf(wrong)), config.lineOf)
  return unknown
}

/**
 * A kind that nobody knows may be one of a plugin that is missing here; one that is almost a known one is taken for a
 * slip, for nothing of what was meant would fall. Throws `config_invalid`.
 */
export const refuseSlips = (config: RetentionConfig, { declared, kinds }: KnownKinds, { unknown }: Policy): void => {
  const known = [...declared(), ...kinds()].map(({ kind }) => kind)
  const slip = unknown.find((kind) => nearest(kind, known) !== undefined)
  if (slip === undefined) return
  const otherwise = 'if it is one of a plugin in config/plugins.toml, start the daemon and let it fall through it'
  refuse(`kinds.${slip}`, `is no kind that is known here${meantKind(nearest(slip, known))} ${otherwise}`, config.lineOf)
}

/** What plugins declare, and what is there though its plugin is missing now. */
export type KnownKinds = Pick<Retention, 'declared' | 'kinds' | 'bounded'>

/** Throws `config_invalid` also for a kind that nobody knows, unless plugins are missing that it may be of. */
export const policyFor = (config: RetentionConfig, known: KnownKinds, complete = true): Policy => {
  const declared = known.declared()
  const unknown = unknownIn(config, known, complete)
  return {
    unknown,
    minAge: ageOf(config.min_age) ?? 0,
    maxBytes: config.max_bytes === undefined ? undefined : sizeOf(config.max_bytes),
    archiveDir: config.archive_dir,
    kinds: new Map(declared.map((one) => [one.kind, policyOf(config, one)])),
  }
}
