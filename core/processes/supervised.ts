/** Programs with all that they start: marked for later lives, and ended whole. */
import type { Clock } from '../base/clock.js'
import type { Ids } from '../base/ids.js'
import { within } from '../base/within.js'
import type { Processes, Supervised, SupervisedProgram, SupervisedWish } from './contract.js'
import { drainMs, launch, type Launched } from './launch.js'
import { markerName, readProcesses } from '../state/root/process-table.js'
import { markerOf, rootTag } from './marker.js'
import { belongsTo, isHolder, signalGroup, stopProcesses, wantedIn, type Group, type Wanted } from './process-tree.js'

export interface SupervisedParts {
  readonly processes: Processes
  readonly clock: Clock
  readonly ids: Ids
  readonly stateRoot: string
  readonly generation: () => number
}

export interface OwnSupervised extends Supervised {
  /** Ends at once whatever nobody has ended. For the end of the daemon: what it has asked to end would outlive it. */
  close(): Promise<void>
}

const programOf = (
  { program, group, exited }: Launched,
  stop: SupervisedProgram['stop'],
  clock: Clock,
): SupervisedProgram => ({
  pid: program.pid,
  started: program.started,
  isThere: group !== undefined,
  input: program.input,
  stdout: program.stdout,
  stderr: program.stderr,
  exited,
  stop,
  // Whoever waits for the first process keeps the number of the group from being given to anyone else.
  kill: () => group !== undefined && signalGroup(group, 'SIGKILL'),
  async letGo() {
    await within(clock, drainMs, program.closed)
    program.letGo()
  },
})

interface Held {
  readonly group: Group
  /** What was found of it while its first process was there. */
  readonly known: Set<string>
}

const wantedOf = (held: readonly Held[], known: Set<string>): Wanted => ({
  known,
  of: (rows) => {
    const belong = held.map(({ group }) => belongsTo(group, rows))
    return (row) => belong.some((belongs) => belongs(row))
  },
})

export const createSupervised = ({ processes, clock, ids, stateRoot, generation }: SupervisedParts): OwnSupervised => {
  const tag = rootTag(stateRoot)
  const groups = new WeakMap<SupervisedProgram, Held>()
  /** Those of which something may be left. */
  const open = new Set<SupervisedProgram>()
  const held = (programs: readonly SupervisedProgram[]): Held[] =>
    programs.flatMap((program) => groups.get(program) ?? [])
  const stopAll: Supervised['stop'] = async (programs, grace_ms) => {
    const all = held(programs)
    const stopped = await stopProcesses({
      clock,
      grace_ms,
      spares: (row) => all.some(({ group }) => isHolder(group, row)),
      ...wantedOf(all, new Set(all.flatMap(({ known }) => [...known]))),
    })
    if (stopped.remaining.length === 0) for (const program of programs) open.delete(program)
    return stopped
  }
  return {
    async start({ name = ids.random(8), environment, holds = false, ...wish }: SupervisedWish) {
      const marker = markerOf(tag, generation(), name)
      const launched = await launch(processes, {
        ...wish,
        marker,
        environment: { ...environment, [markerName]: marker },
      })
      const program = programOf(launched, (grace_ms) => stopAll([program], grace_ms), clock)
      if (launched.group !== undefined) {
        groups.set(program, { group: { ...launched.group, holds }, known: new Set() })
        open.add(program)
      }
      return program
    },
    async remember(programs) {
      const rows = await readProcesses()
      for (const one of held(programs)) wantedIn(rows, wantedOf([one], one.known))
    },
    stop: stopAll,
    async close() {
      for (const program of open) program.kill()
      if (open.size > 0) await stopAll([...open], 0)
    },
  }
}
