/** Programs as children of the daemon itself: where a fork is cheap, and where nobody else can start them. */
import { spawn, type ChildProcess } from 'node:child_process'
import { codeOf } from '../state/errors.js'
import { startTicks } from '../state/root/owner.js'
import type { Program, ProgramEnd, ProgramWish } from './contract.js'
import { absentProgram, runningProgram } from './program.js'

const refusal = (cause: unknown): ProgramEnd => ({ type: 'refused', reason: codeOf(cause) ?? 'UNKNOWN' })

const spawnChild = ({ file, args, folder, environment, input }: ProgramWish): ChildProcess =>
  spawn(file, [...args], {
    cwd: folder,
    env: environment,
    detached: true,
    stdio: [input === true ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
  })

export const startDirectly = async (wish: ProgramWish): Promise<Program> => {
  let child: ChildProcess
  try {
    child = spawnChild(wish)
  } catch (cause) {
    return absentProgram(refusal(cause))
  }
  // Listeners come first: a process that could not be made says so by an event, and has no streams.
  const failed = new Promise<ProgramEnd>((resolve) => {
    child.on('error', (cause) => resolve(refusal(cause)))
  })
  const { pid, stdout, stderr } = child
  if (pid === undefined || stdout === null || stderr === null) return absentProgram(await failed)
  child.stdio[3]?.on('error', () => {})
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ type: 'ended', code, signal }))
  })
  return runningProgram({ pid, started: startTicks(pid), input: child.stdin ?? undefined, stdout, stderr, ended })
}
