/** The processes of this machine, as /proc tells them. Empty where there is no /proc. */
import { closeSync, openSync, promises as fs, readdirSync, readFileSync, readSync } from 'node:fs'

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

/** The fields after the command's name, which may hold anything: state ppid pgrp session … starttime. */
const parseStat = (pid: number, stat: string): Omit<ProcessRow, 'marker'> | undefined => {
  const [state, ppid, pgid, sid, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const gone = state === 'Z' || state === 'X'
  return gone || sid === undefined
    ? undefined
    : { pid, ppid: Number(ppid), pgid: Number(pgid), sid: Number(sid), started: rest[15] ?? '' }
}

const markerIn = (environment: string): string | undefined => {
  const prefix = `${markerName}=`
  return environment
    .split('\0')
    .find((line) => line.startsWith(prefix))
    ?.slice(prefix.length)
}

const readRow = async (pid: number): Promise<ProcessRow | undefined> => {
  try {
    const row = parseStat(pid, await fs.readFile(`/proc/${pid}/stat`, 'latin1'))
    if (row === undefined) return undefined
    // Those of the kernel are in no group and have no environment.
    if (row.pgid === 0) return { ...row, marker: undefined }
    const environment = await fs.readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    return { ...row, marker: markerIn(environment) }
  } catch {
    return undefined
  }
}

export const readProcesses = async (): Promise<ProcessRow[]> => {
  const names = await fs.readdir('/proc').catch((): string[] => [])
  const rows = await Promise.all(names.filter((name) => /^\d+$/u.test(name)).map((name) => readRow(Number(name))))
  return rows.filter((row) => row !== undefined)
}

/** Nearly all are smaller. A file of /proc says nothing of its size, and each question about it would cost as much. */
const usualBytes = 16 * 1024

const isIn = (pid: string, wanted: string, room: Buffer): boolean => {
  let file: number | undefined
  try {
    file = openSync(`/proc/${pid}/environ`, 'r')
    const got = readSync(file, room)
    const whole = got < room.length ? room.subarray(0, got) : Buffer.concat([room, readFileSync(file)])
    return whole.includes(wanted)
  } catch {
    return false
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Whether a process has a marker that begins so. A start waits for this, so it makes no trip to the thread pool. */
export const isMarkerInUse = (beginning: string): boolean => {
  const wanted = `${markerName}=${beginning}`
  const room = Buffer.allocUnsafe(usualBytes)
  try {
    return readdirSync('/proc').some((pid) => /^\d/u.test(pid) && isIn(pid, wanted, room))
  } catch {
    return false
  }
}
