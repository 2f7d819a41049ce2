/** Programs with all that they start: marked for later lives, and ended whole. */
import type { Clock } from '../base/clock.js'
import type { Ids } from '../base/ids.js'
import { within } from '../base/within.js'
import type { Processes, Supervised, SupervisedProgram, SupervisedWish } from './contract.js'
import { drainMs, launch, type Launched } from './launch.js'
import { markerName } from '../state/root/process-table.js'
import { markerOf, rootTag } from './marker.js'
import { belongsTo, signalGroup, stopProcesses, type Group } from './process-tree.js'

export interface SupervisedParts {
  readonly processes: Processes
  readonly clock: Clock
  readonly ids: Ids
  readonly stateRoot: string
  readonly generation: () => number
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

export const createSupervised = ({ processes, clock, ids, stateRoot, generation }: SupervisedParts): Supervised => {
  const tag = rootTag(stateRoot)
  const groups = new WeakMap<SupervisedProgram, Group>()
  const stopAll: Supervised['stop'] = (programs, grace_ms) => {
    const found = programs.flatMap((program) => groups.get(program) ?? [])
    return stopProcesses({
      clock,
      grace_ms,
      of: (rows) => {
        const belong = found.map((group) => belongsTo(group, rows))
        return (row) => belong.some((belongs) => belongs(row))
      },
    })
  }
  return {
    async start({ name = ids.random(8), environment, ...wish }: SupervisedWish) {
      const marker = markerOf(tag, generation(), name)
      const launched = await launch(processes, {
        ...wish,
        marker,
        environment: { ...environment, [markerName]: marker },
      })
      const program = programOf(launched, (grace_ms) => stopAll([program], grace_ms), clock)
      if (launched.group !== undefined) groups.set(program, launched.group)
      return program
    },
    stop: stopAll,
  }
}
