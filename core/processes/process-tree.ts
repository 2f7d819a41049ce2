/**
 * Stops everything that a program started: its process group, its session,
 * their children, and whoever carries its marker. SIGTERM, then SIGKILL, until
 * a look at all processes finds none.
 */
import type { Clock } from '../base/clock.js'
import type { Stopped } from './contract.js'
import { readProcesses, type ProcessRow } from '../state/root/process-table.js'

/** Says of a process, by itself, that it belongs to what is to be stopped. */
export type Belongs = (row: ProcessRow) => boolean

/** The first processes and all that descend from them or share a session with them; never the daemon's own. */
export const membersOf = (rows: readonly ProcessRow[], belongs: Belongs, self: number): ProcessRow[] => {
  const ownSession = rows.find(({ pid }) => pid === self)?.sid
  const pids = new Set<number>()
  const sessions = new Set<number>()
  const members: ProcessRow[] = []
  const isMember = (row: ProcessRow): boolean => belongs(row) || pids.has(row.ppid) || sessions.has(row.sid)
  const add = (row: ProcessRow): void => {
    members.push(row)
    pids.add(row.pid)
    if (row.sid !== ownSession) sessions.add(row.sid)
  }
  let rest = rows.filter(({ pid }) => pid !== self && pid > 1)
  for (let before = -1; before !== members.length;) {
    before = members.length
    const [found, others] = [rest.filter(isMember), rest.filter((row) => !isMember(row))]
    found.forEach(add)
    rest = others
  }
  return members
}

export interface Group {
  /** Undefined if nobody knows it. */
  readonly pid: number | undefined
  /** Empty where the system does not tell. */
  readonly started: string
  readonly marker: string
  /** Its first process takes all others along when it ends. */
  readonly holds?: boolean
}

/** True of the first process of a group that holds the others. */
export const isHolder = ({ pid, started, holds }: Group, row: ProcessRow): boolean =>
  holds === true && row.pid === pid && (started === '' || row.started === started)

/** A program's processes. A pid that now names another process names no group of ours. */
export const belongsTo = ({ pid, started, marker }: Group, rows: readonly ProcessRow[]): Belongs => {
  const leader = rows.find((row) => row.pid === pid)
  const reused = leader !== undefined && started !== '' && leader.started !== started
  return (row) => row.marker === marker || (!reused && (row.pgid === pid || row.sid === pid))
}

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch {
    // It has just gone, or is not ours to signal: the next look tells.
  }
}

/** The same for the whole group of a process that is known to exist. */
export const signalGroup = ({ pid }: Group, name: NodeJS.Signals): void => {
  if (pid !== undefined) signal(-pid, name)
}

export interface Wanted {
  /** Whom to look for, given all processes. */
  readonly of: (rows: readonly ProcessRow[]) => Belongs
  /**
   * Grows with each look by those that were found: one whose parent has ended belongs to nothing any more, though it
   * was found before.
   */
  readonly known: Set<string>
}

export interface Stop extends Wanted {
  readonly clock: Clock
  /** Between SIGTERM and SIGKILL. */
  readonly grace_ms: number
  /** Who is sent no SIGTERM: it ends by itself when the others have. */
  readonly spares?: (row: ProcessRow) => boolean
}

const keyOf = ({ pid, started }: ProcessRow): string => `${pid} ${started}`

export const wantedIn = (rows: readonly ProcessRow[], { of, known }: Wanted): ProcessRow[] => {
  const belongs = of(rows)
  const members = membersOf(rows, (row) => known.has(keyOf(row)) || belongs(row), process.pid)
  for (const row of members) known.add(keyOf(row))
  return members
}

/** Longest time after the grace, milliseconds. */
const patience = 5_000
/** Between two looks, milliseconds. */
const pause = 15
/** A signal of whoever stops would end waits early at that very moment. */
const never = new AbortController().signal

export const stopProcesses = async ({ clock, grace_ms, spares, ...wanted }: Stop): Promise<Stopped> => {
  const asked = new Set<string>()
  let supported = false
  const look = async (): Promise<ProcessRow[]> => {
    const rows = await readProcesses()
    supported ||= rows.length > 0
    return wantedIn(rows, wanted)
  }
  let members = await look()
  const began = clock.elapsed()
  while (members.length > 0 && clock.elapsed() - began < grace_ms + patience) {
    const late = clock.elapsed() - began >= grace_ms
    for (const row of members) {
      if (late) signal(row.pid, 'SIGKILL')
      else if (!asked.has(keyOf(row)) && spares?.(row) !== true) {
        signal(row.pid, 'SIGTERM')
        signal(row.pid, 'SIGCONT')
      }
      asked.add(keyOf(row))
    }
    await clock.sleep(pause, never)
    members = await look()
  }
  return { found: asked.size, remaining: members.map(({ pid }) => pid), supported }
}
