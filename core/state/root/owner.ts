/** Who holds a state root: `owner.json`, for people and for the next start. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { parse } from '../../base/parse.js'
import { enums, integer, open, optional, string, type Infer } from '../../base/schema.js'
import { codeOf } from '../errors.js'
import { isGone } from './process-table.js'

export const mechanisms = ['flock', 'socket', 'lockfile'] as const
export type Mechanism = (typeof mechanisms)[number]

const record = open({
  pid: integer({ min: 1 }),
  /** In the kernel's ticks since boot: tells a process from a later one with the same number. */
  start_ticks: string(),
  boot_id: string(),
  /** Process numbers can be compared only inside one of these. */
  pid_space: string(),
  host: string(),
  generation: integer({ min: 1 }),
  locked_at_ms: integer({ min: 0 }),
  mechanism: enums(mechanisms),
  /** Device and inode of the root's folder: the record of a root that was copied says nothing of the copy. */
  folder: optional(string()),
  /** Where the daemon listens, as `127.0.0.1:4000`: once it does, for commands that are given the root alone. */
  bind: optional(string()),
})
export type OwnerRecord = Infer<typeof record>

const textOf = (read: () => string): string => {
  try {
    return read().trim()
  } catch {
    return ''
  }
}
/** The fields of /proc/<pid>/stat behind the name, which may hold any character: the state comes first. */
const statOf = (pid: number): readonly string[] =>
  textOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /su, '')).split(' ')
export const startTicks = (pid: number): string => statOf(pid)[19] ?? ''
const bootId = (): string => textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
const pidSpace = (): string => textOf(() => readlinkSync('/proc/self/ns/pid'))

const folderOf = (root: string): string => {
  const { dev, ino } = statSync(root, { bigint: true })
  return `${dev}:${ino}`
}

export const describeOwner = (facts: {
  readonly root: string
  readonly generation: number
  readonly now: number
  readonly mechanism: Mechanism
}): OwnerRecord => ({
  pid: process.pid,
  start_ticks: startTicks(process.pid),
  boot_id: bootId(),
  pid_space: pidSpace(),
  host: hostname(),
  generation: facts.generation,
  locked_at_ms: facts.now,
  mechanism: facts.mechanism,
  folder: folderOf(facts.root),
})

export const readOwner = (path: string): OwnerRecord | undefined => {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  const text = textOf(() => readFileSync(path, 'utf8'))
  if (text === '') return undefined
  try {
    const parsed = parse(record, JSON.parse(text))
    return parsed.ok ? parsed.value : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether both records are of one opening of one root. Number and generation alone are the same in each fresh
 * container: process 1, first start.
 */
export const isSameOwner = (a: OwnerRecord, b: OwnerRecord): boolean => markOf(a) === markOf(b)

const markOf = ({ pid, start_ticks, boot_id, pid_space, folder, generation, locked_at_ms }: OwnerRecord): string =>
  JSON.stringify([pid, start_ticks, boot_id, pid_space, folder, generation, locked_at_ms])

/** A process by its number and its start: the number alone may be given again. */
export interface ProcessMark {
  readonly pid: number
  readonly start_ticks: string
}
export const ownMark = (): ProcessMark => ({ pid: process.pid, start_ticks: startTicks(process.pid) })

/** `unknown`: neither the kernel nor the process table of this machine can tell. */
export type OwnerVerdict = 'dead' | 'alive' | 'unknown'

/**
 * What is certain of the last owner, asked by the one who has the guard now.
 * The guard alone proves nothing, because its file may have been replaced
 * under a live owner. `freed` is the process that the kernel took this very
 * file from, which it does from the dead only; else boot and process tell.
 */
export const judgeOwner = (
  root: string,
  last: OwnerRecord | undefined,
  freed: ProcessMark | undefined,
): OwnerVerdict => {
  if (last === undefined) return freed === undefined ? 'unknown' : 'dead'
  if (freed?.pid === last.pid && freed.start_ticks === last.start_ticks) return 'dead'
  if (last.boot_id !== bootId()) return last.host === hostname() ? 'dead' : 'unknown'
  if (last.boot_id === '' || last.pid_space !== pidSpace()) return 'unknown'
  if (cameAlong(root, last)) return 'dead'
  return isRunning(last.pid) && last.start_ticks === startTicks(last.pid) ? 'alive' : 'dead'
}

/** True for a record of this machine that was copied with its root: it tells who holds the original. */
const cameAlong = (root: string, { folder }: OwnerRecord): boolean => folder !== undefined && folder !== folderOf(root)

/**
 * Whether a process is at work, the one place that says so. The kernel keeps the number of a dead one until its parent
 * asks for it, which some never do; as long as a thread of it is left, it is not dead.
 */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
  } catch (cause) {
    if (codeOf(cause) === 'ESRCH') return false
  }
  return !isGone(statOf(pid)[0]) || threadsOf(pid) > 1
}

const threadsOf = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`).length
  } catch {
    return 0
  }
}

/** Whom to ask about a root that a daemon holds. */
export type Holder = Pick<OwnerRecord, 'pid' | 'bind'>

/** Who may hold the root, for those who only look: see `mayLive`. */
export const findHolder = (root: string): Holder | undefined =>
  mayLive(root) ? readOwner(join(root, 'owner.json')) : undefined

/** Whether the process of a record can still be at work, for those who only look: without proof of its death it can. */
export const mayLive = (root: string): boolean => {
  const owner = readOwner(join(root, 'owner.json'))
  if (owner === undefined || (owner.boot_id !== '' && owner.boot_id !== bootId())) return false
  if (owner.pid_space !== pidSpace()) return true
  return !cameAlong(root, owner) && isRunning(owner.pid) && owner.start_ticks === startTicks(owner.pid)
}
