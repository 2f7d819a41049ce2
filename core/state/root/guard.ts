/**
 * The guard of a state root: something the kernel frees at the instant its
 * holder dies, so that a dead daemon is replaced at once and a live one never.
 */
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { codeOf } from '../errors.js'
import { type Mechanism, ownMark, type ProcessMark } from './owner.js'

export interface Guard {
  readonly mechanism: Mechanism
  /** False when the file that carries the guard was removed or replaced: somebody else may then hold another. */
  intact(): boolean
  /**
   * The last process that held the guard by this very file; the kernel took it from the dead. Undefined: nobody
   * knows.
   */
  readonly freed: ProcessMark | undefined
  /** Writes who we are into the guard's file: for the one who is refused, and for the one who comes after our death. */
  sign(): void
  release(): Promise<void>
}
/** `held`: another process has it. `unavailable`: this platform cannot tell. */
type Attempt = Guard | 'held' | 'unavailable'

const guardName = 'daemon.lock'

/** A timer of the clock would not keep a process alive that has nothing else to do yet. */
export const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** The guard by the first mechanism that works here; undefined if another process has it. */
export const takeGuard = async (root: string, kinds: readonly Mechanism[]): Promise<Guard | undefined> => {
  const carrier = openCarrier(join(root, guardName))
  for (const kind of kinds) {
    const attempt =
      kind === 'flock'
        ? await takeFlock(carrier)
        : kind === 'socket'
          ? await takeSocket(root, carrier)
          : withoutGuard(carrier)
    if (attempt === 'unavailable') continue
    if (attempt !== 'held') return attempt
    break
  }
  closeSync(carrier.file)
  return undefined
}

/** The process number that the holder wrote into the guard's file. */
export const guardHolder = (root: string): number | undefined => {
  try {
    const pid = Number.parseInt(readFileSync(join(root, guardName), 'utf8'), 10)
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

interface Carrier {
  readonly file: number
  readonly path: string
}

/** macOS takes its flock in `open` itself. */
const exclusiveOnDarwin = 0x20 | constants.O_NONBLOCK
const openCarrier = (path: string): Carrier => ({
  file: openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600),
  path,
})

/** The lock belongs to the open file, not to the program that takes it on our behalf: it stays ours when that ends. */
const tryFlock = ({ file }: Carrier): number | null =>
  spawnSync('flock', ['-n', '-x', '3'], { stdio: ['ignore', 'ignore', 'ignore', file], timeout: 5000 }).status
const heldStatus = 1

/**
 * A program that the last holder was about to start has a copy of its open file until it executes: such a guard is gone
 * in a moment, and asking ten times waits for it.
 */
const askAgain = async <T>(ask: () => T | Promise<T>, isHeld: (answer: T) => boolean): Promise<T> => {
  let answer = await ask()
  for (let again = 0; again < 10 && isHeld(answer); again += 1) {
    pause(20)
    answer = await ask()
  }
  return answer
}

const takeFlock = async (carrier: Carrier): Promise<Attempt> => {
  if (process.platform === 'darwin') return takeExclusiveOpen(carrier)
  const status = await askAgain(
    () => tryFlock(carrier),
    (code) => code === heldStatus,
  )
  if (status === heldStatus) return 'held'
  return status === 0 ? hold(carrier, 'flock', async () => {}) : 'unavailable'
}

const takeExclusiveOpen = (carrier: Carrier): Attempt => {
  try {
    const file = openSync(carrier.path, constants.O_RDWR | constants.O_NOFOLLOW | exclusiveOnDarwin)
    closeSync(carrier.file)
    return hold({ ...carrier, file }, 'flock', async () => {})
  } catch (cause) {
    return codeOf(cause) === 'EAGAIN' ? 'held' : 'unavailable'
  }
}

type Bound = Server | 'held' | 'unavailable'
const bindSocket = (path: string): Promise<Bound> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (cause) => resolve(codeOf(cause) === 'EADDRINUSE' ? 'held' : 'unavailable'))
    server.listen({ path, exclusive: true }, () => resolve(server))
  })

const takeSocket = async (root: string, carrier: Carrier): Promise<Attempt> => {
  if (process.platform !== 'linux') return 'unavailable'
  const { dev, ino } = lstatSync(root)
  const bound = await askAgain(
    () => bindSocket(`\0holdfast:${dev}:${ino}`),
    (answer) => answer === 'held',
  )
  if (bound === 'held' || bound === 'unavailable') return bound
  bound.unref()
  return hold(carrier, 'socket', () => new Promise((resolve) => bound.close(() => resolve())))
}

const withoutGuard = (carrier: Carrier): Attempt => hold(carrier, 'lockfile', async () => {})

/** Who held this file by its flock; undefined if it was signed under another inode: a copy proves nothing. */
const signerOf = (file: number): ProcessMark | undefined => {
  const bytes = Buffer.alloc(256)
  const [pid, mechanism, inode, start_ticks] = bytes.toString('latin1', 0, readSync(file, bytes, 0, 256, 0)).split('\n')
  if (start_ticks === undefined || mechanism !== 'flock' || inode !== String(fstatSync(file).ino)) return undefined
  return { pid: Number(pid), start_ticks }
}

/** The file is never unlinked: a second one under its name could be locked as well. */
const hold = ({ file, path }: Carrier, mechanism: Mechanism, free: () => Promise<void>): Guard => {
  const freed = mechanism === 'flock' ? signerOf(file) : undefined
  const sign = (): void => {
    const { pid, start_ticks } = ownMark()
    const text = `${pid}\n${mechanism}\n${fstatSync(file).ino}\n${start_ticks}\n`
    ftruncateSync(file, writeSync(file, text, 0))
  }
  const intact = (): boolean => {
    try {
      const [ours, theirs] = [fstatSync(file), lstatSync(path)]
      return ours.nlink > 0 && ours.ino === theirs.ino && ours.dev === theirs.dev
    } catch {
      return false
    }
  }
  const release = async (): Promise<void> => {
    await free()
    closeSync(file)
  }
  return { mechanism, intact, freed, sign, release }
}
