/** What every way to start a program makes of it. */
import { Readable, type Writable } from 'node:stream'
import { startTicks } from '../state/root/owner.js'
import type { Program, ProgramEnd } from './contract.js'

export interface Running {
  readonly pid: number
  readonly started: string
  readonly input: Writable | undefined
  readonly stdout: Readable
  readonly stderr: Readable
  readonly ended: Promise<ProgramEnd>
}

/** Its number alone could be another's by now; nobody has it while a process of its group is left. */
const killGroup = (pid: number, started: string): void => {
  const now = startTicks(pid)
  if (now !== '' && now !== started) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just gone.
  }
}

const closing = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    stream.on('error', () => {})
    stream.once('close', () => resolve())
  })

export const runningProgram = (running: Running): Program => {
  const { pid, started, input, stdout, stderr } = running
  input?.on('error', () => {})
  return {
    ...running,
    closed: Promise.all([closing(stdout), closing(stderr)]).then(() => {}),
    kill: () => killGroup(pid, started),
    letGo: () => {
      input?.destroy()
      stdout.destroy()
      stderr.destroy()
    },
  }
}

/** One that never was, or that nobody knows. */
export const absentProgram = (end: ProgramEnd): Program => ({
  pid: undefined,
  started: '',
  input: undefined,
  stdout: Readable.from([]),
  stderr: Readable.from([]),
  ended: Promise.resolve(end),
  closed: Promise.resolve(),
  kill: () => {},
  letGo: () => {},
})
