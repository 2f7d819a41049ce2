/** The processes of this machine, as /proc tells them. Empty where there is no /proc. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { createPause } from '../../base/turns.js'

/** The variable with the marker of those that the daemon started. */
export const markerName = 'SERVICE_SHELL_TASK_ID'

export interface ProcessRow {
  readonly pid: number
  readonly ppid: number
  readonly pgid: number
  readonly sid: number
  /** Clock ticks since boot at which it began: with the pid it names one process for ever. */
  readonly started: string
  /** The value of its marker, if it has one and may be looked at. */
  readonly marker: string | undefined
}

/** Whether this state of a process is that of a dead one, which its parent has not asked for yet. */
export const isGone = (state: string | undefined): boolean => state === 'Z' || state === 'X'

/** The fields after the command's name, which may hold anything: state ppid pgrp session … starttime. */
const parseStat = (pid: number, stat: string): Omit<ProcessRow, 'marker'> | undefined => {
  const [state, ppid, pgid, sid, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return isGone(state) || sid === undefined
    ? undefined
    : { pid, ppid: Number(ppid), pgid: Number(pgid), sid: Number(sid), started: rest[15] ?? '' }
}

/** Nearly all are smaller. A file of /proc says nothing of its size, and each question about it would cost as much. */
const usualBytes = 16 * 1024

/** What a file of /proc says, until the next is read; nothing of one that is gone or of another user. */
type Read = (name: string) => Buffer

/**
 * Without a trip to the thread pool: each of them costs more than such a file. A start waits for this, and so does the
 * end of every command.
 */
const createReader = (): Read => {
  const room = Buffer.allocUnsafe(usualBytes)
  const nothing = room.subarray(0, 0)
  return (name) => {
    let file: number | undefined
    try {
      file = openSync(`/proc/${name}`, 'r')
      const got = readSync(file, room)
      return got < room.length ? room.subarray(0, got) : Buffer.concat([room, readFileSync(file)])
    } catch {
      return nothing
    } finally {
      if (file !== undefined) closeSync(file)
    }
  }
}

const markerPrefix = `${markerName}=`

const markerIn = (environment: Buffer): string | undefined =>
  environment.includes(markerPrefix)
    ? environment
        .toString('latin1')
        .split('\0')
        .find((line) => line.startsWith(markerPrefix))
        ?.slice(markerPrefix.length)
    : undefined

const readRow = (pid: number, read: Read): ProcessRow | undefined => {
  const row = parseStat(pid, read(`${pid}/stat`).toString('latin1'))
  if (row === undefined) return undefined
  // Those of the kernel are in no group and have no environment.
  return { ...row, marker: row.pgid === 0 ? undefined : markerIn(read(`${pid}/environ`)) }
}

const pids = (): string[] => {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/u.test(name))
  } catch {
    return []
  }
}

/** About a millisecond. */
const processesAtOnce = 32

export const readProcesses = async (): Promise<ProcessRow[]> => {
  const [read, pause] = [createReader(), createPause(processesAtOnce)]
  const rows: ProcessRow[] = []
  for (const pid of pids()) {
    const row = readRow(Number(pid), read)
    if (row !== undefined) rows.push(row)
    await pause()
  }
  return rows
}

/** Whether a process has a marker that begins so. */
export const isMarkerInUse = (beginning: string): boolean => {
  const read = createReader()
  // Those of the kernel and of other users are passed over: a refusal costs as much as ten files.
  return pids().some(
    (pid) => existsSync(`/proc/${pid}/exe`) && read(`${pid}/environ`).includes(`${markerPrefix}${beginning}`),
  )
}
