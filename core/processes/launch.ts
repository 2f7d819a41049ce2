/** Starts a program in a process group of its own, which goes with the daemon. */
import type { Exit, Processes, Program, ProgramWish } from './contract.js'
import type { Group } from './process-tree.js'

export interface Launch extends Omit<ProgramWish, 'file' | 'args'> {
  /** A command for the shell, or a program and its arguments. */
  readonly run: string | readonly string[]
  readonly marker: string
  /** True to have both outputs in standard output, in the order in which they came. */
  readonly merged?: boolean
}

export interface Launched {
  readonly program: Program
  /** Undefined if nothing was started. */
  readonly group: Group | undefined
  /** The first process has ended. Never rejects. */
  readonly exited: Promise<Exit>
}

/**
 * A command runs in bash, or sh where there is none, without startup files.
 * Beside it waits a process for the end of descriptor 3: should the daemon be
 * killed, or who waits for the program, the whole group goes with it. It is one
 * line: a shell counts them where it says what it cannot do.
 */
const launcher = [
  '( exec >/dev/null 2>&1; read -r _ <&3; kill -KILL 0 ) & exec 3<&-',
  '[ "$1" != merged ] || exec 2>&1',
  'if [ "$2" = program ]; then shift 2; exec "$@"; fi',
  'if command -v bash >/dev/null 2>&1; then exec bash --norc --noprofile -c "$3"; fi',
  'exec sh -c "$3"',
].join('; ')

const nothing = { code: null, signal: null }

const exitOf = async ({ ended }: Program): Promise<Exit> => {
  const end = await ended
  if (end.type === 'ended') return { started: true, lost: false, code: end.code, signal: end.signal }
  return { ...nothing, started: end.type === 'lost', lost: end.type === 'lost' }
}

/** Of a program that is lost before its number is known, its marker finds what there may be. */
const groupOf = async ({ pid, started, ended }: Program, marker: string): Promise<Group | undefined> =>
  pid === undefined && (await ended).type === 'refused' ? undefined : { pid, started, marker }

const startOf = (run: Launch['run'], merged: boolean): Pick<ProgramWish, 'file' | 'args'> => {
  // There the machines that capture may be, and no daemon: it has no groups of processes.
  if (process.platform === 'win32' && typeof run === 'string') return { file: 'cmd.exe', args: ['/d', '/s', '/c', run] }
  const what = typeof run === 'string' ? ['command', run] : ['program', ...run]
  return { file: '/bin/sh', args: ['-c', launcher, 'sh', merged ? 'merged' : 'apart', ...what] }
}

export const launch = async (processes: Processes, wish: Launch): Promise<Launched> => {
  const { run, marker, merged = false, folder, environment, input } = wish
  const program = await processes.start({
    ...startOf(run, merged),
    folder,
    environment,
    ...(input !== undefined && { input }),
  })
  return { program, group: await groupOf(program, marker), exited: exitOf(program) }
}

/** Longest wait for output after the last process is gone, milliseconds. */
export const drainMs = 1_000
