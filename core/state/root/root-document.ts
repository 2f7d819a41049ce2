/** `root.json`: what this root is, which formats it holds, and how often it was opened. */
import { join } from 'node:path'
import { parse } from '../../base/parse.js'
import { array, integer, open, string, timestamp, type Infer } from '../../base/schema.js'
import { codeOf, errors } from '../errors.js'
import { seal, unseal } from '../format/sealed.js'
import type { Clock } from '../../base/clock.js'
import type { Ids } from '../../base/ids.js'
import type { Disk } from '../disk/disk.js'

const format = 1
/**
 * Forms that a reader must know or leave the root alone; one that is not listed here is refused. `partitions`: some
 * fell, and streams do not begin with their first entry. `forgotten-records`: lines say that a record is gone and that
 * its id may come again.
 */
const knownForms = ['partitions', 'forgotten-records'] as const
export type RootForm = (typeof knownForms)[number]
const isKnown = (flag: string): boolean => knownForms.some((form) => form === flag)

const facts = open({
  format: integer({ min: 1 }),
  root_id: string({ pattern: '^[0-9a-f]{32}$' }),
  created_at_ms: timestamp(),
  generation: integer({ min: 1 }),
  compat: array(string({ min: 1, max: 64 })),
  incompat: array(string({ min: 1, max: 64 })),
})
export type RootFacts = Infer<typeof facts>

/**
 * The facts of a root; undefined if it was never opened. Refuses a damaged file and formats that this version does not
 * know.
 */
export const readRoot = ({ root, disk }: { readonly root: string; readonly disk: Disk }): RootFacts | undefined => {
  const path = join(root, 'root.json')
  const bytes = disk.readFile(path)
  if (bytes === undefined) return undefined
  const parsed = parse(facts, unseal(bytes))
  if (!parsed.ok) throw errors.state_root_damaged({ details: { path, root } })
  const { format: found, incompat } = parsed.value
  const unknown = incompat.find((flag) => !isKnown(flag))
  if (unknown !== undefined) throw errors.state_root_incompatible({ details: { path, flag: unknown } })
  if (found !== format) throw errors.state_root_incompatible({ details: { path, flag: `format ${found}` } })
  return parsed.value
}

/** Bytes that no `root.json` has, whatever the white space in it. */
const most = 64 * 1024

/**
 * The facts in a file whose bytes do not match its digest, as after an editor; undefined if it is not whole. What they
 * say is nothing that anybody vouches for.
 */
export const readUnsealed = ({ root, disk }: Pick<RootOpening, 'root' | 'disk'>): RootFacts | undefined => {
  const bytes = disk.readFile(join(root, 'root.json'), most)
  if (bytes === undefined) return undefined
  try {
    const parsed = parse(facts, JSON.parse(new TextDecoder().decode(bytes)))
    return parsed.ok ? { ...parsed.value, incompat: parsed.value.incompat.filter(isKnown) } : undefined
  } catch {
    return undefined
  }
}

/** False before the first start. */
export const isMade = (disk: Disk, root: string): boolean => disk.stat(join(root, 'root.json')) !== undefined

/** Facts of a root that never was, or whose file was lost. */
export const createRootFacts = (
  known: Pick<RootFacts, 'root_id' | 'created_at_ms' | 'generation'> & Partial<Pick<RootFacts, 'compat'>>,
  forms: Iterable<string> = [],
): RootFacts => ({ format, compat: [], ...known, incompat: [...new Set(forms)] })

export interface RootOpening {
  readonly root: string
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: Ids
}

/**
 * Opens `root.json`, makes it on the first open, and raises the generation. Only the owner of the lock may call this.
 */
export const openRootDocument = async ({ root, disk, clock, ids }: RootOpening): Promise<RootFacts> => {
  const before = readRoot({ root, disk })
  const next: RootFacts =
    before === undefined
      ? createRootFacts({ root_id: ids.random(16), created_at_ms: clock.now(), generation: 1 })
      : { ...before, generation: before.generation + 1 }
  await refusable(root, () => disk.replace(join(root, 'root.json'), seal(next)))
  return next
}

/**
 * Names a form before the first of it is written, so that earlier versions leave the root alone. A root without its
 * document names none.
 */
export const nameForm = async ({ root, disk }: Pick<RootOpening, 'root' | 'disk'>, form: RootForm): Promise<void> => {
  const facts = readRoot({ root, disk })
  if (facts === undefined || facts.incompat.includes(form)) return
  await disk.replace(join(root, 'root.json'), seal({ ...facts, incompat: [...facts.incompat, form] }))
}

/** Writes again what its owner knows of the root, and the forms that were named since. */
export const resealRoot = async (
  { root, disk }: Pick<RootOpening, 'root' | 'disk'>,
  known: RootFacts,
  { incompat }: RootFacts,
): Promise<void> => {
  const forms = new Set([...known.incompat, ...incompat])
  await disk.replace(join(root, 'root.json'), seal({ ...known, incompat: [...forms] }))
}

export const isMarkedFallen = (place: Pick<RootOpening, 'root' | 'disk'>): boolean =>
  readRoot(place)?.incompat.includes('partitions') === true

/** Runs a first write and turns what a read-only or full folder or file system answers into its problem. */
export const refusable = async <R>(path: string, write: () => R | Promise<R>): Promise<R> => {
  try {
    return await write()
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM')
      throw errors.state_root_read_only({ details: { path, reason: code }, cause })
    if (code === 'ENOSPC' || code === 'EDQUOT') throw errors.state_root_full({ details: { path }, cause })
    throw cause
  }
}
