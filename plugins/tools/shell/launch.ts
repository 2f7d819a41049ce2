/** Starts a command in a process group of its own, which goes with the daemon. */
import type { Processes, Program } from '../../../core/plugin.js'
import type { Group } from './process-tree.js'

export interface Launch {
  readonly command: string
  /** Absolute path. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly marker: string
  /** True to have both outputs in standard output, in the order in which they came. */
  readonly merged?: boolean
}

export interface Exit {
  readonly started: boolean
  /** Nobody could wait for its end, so it was killed. */
  readonly lost: boolean
  readonly code: number | null
  readonly signal: string | null
}

export interface Launched {
  readonly program: Program
  /** Undefined if nothing was started. */
  readonly group: Group | undefined
  /** The first process has ended. Never rejects. */
  readonly exited: Promise<Exit>
}

/**
 * Runs the command in bash, or sh where there is none, without startup files.
 * Beside it waits a process for the end of descriptor 3: should the daemon be
 * killed, or who waits for the command, the whole group goes with it.
 */
const launcher = `
( exec >/dev/null 2>&1; read -r _ <&3; kill -KILL 0 ) &
exec 3<&-
[ "$2" != merged ] || exec 2>&1
if command -v bash >/dev/null 2>&1; then exec bash --norc --noprofile -c "$1"; fi
exec sh -c "$1"
`

const nothing = { code: null, signal: null }

const exitOf = async ({ ended }: Program): Promise<Exit> => {
  const end = await ended
  if (end.type === 'ended') return { started: true, lost: false, code: end.code, signal: end.signal }
  return { ...nothing, started: end.type === 'lost', lost: end.type === 'lost' }
}

/** Of a command that is lost before its number is known, its marker finds what there may be. */
const groupOf = async ({ pid, started, ended }: Program, marker: string): Promise<Group | undefined> =>
  pid === undefined && (await ended).type === 'refused' ? undefined : { pid, started, marker }

export const launch = async (processes: Processes, wish: Launch): Promise<Launched> => {
  const { command, folder, environment, marker, merged = false } = wish
  const args = ['-c', launcher, 'sh', command, merged ? 'merged' : 'apart']
  const program = await processes.start({ file: '/bin/sh', args, folder, environment })
  return { program, group: await groupOf(program, marker), exited: exitOf(program) }
}

/** Longest wait for output after the last process is gone, milliseconds. */
export const drainMs = 1_000
