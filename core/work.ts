/** The beginning of all work: what an earlier life left is repaired, then the plugins start. */
import type { Clock } from './base/clock.js'
import type { Findings } from './records/findings.js'
import type { Hold } from './records/hold.js'
import type { Boot } from './host/lifecycle/boot.js'
import { isStartEnded } from './host/errors.js'
import type { PluginHost } from './host/lifecycle/host.js'
import type { Log } from './base/text/log.js'
import { repairFound } from './start-findings.js'
import { endLeftovers } from './processes/leftovers.js'
import type { State } from './state/contract.js'
import { mayPass } from './state/disk/storage-mode.js'

export interface WorkParts {
  readonly boot: Boot
  readonly clock: Clock
  readonly log: Log
  readonly root: string
  readonly state: State
  readonly host: PluginHost
  readonly findings: Findings
  readonly hold: Pick<Hold, 'started'>
}

/** How often storage is looked at that takes no changes for now. */
const lookMs = 250

const waits = ({ health }: State): boolean => health.mode === 'read_only' && mayPass(health.reason)

const begin = async (parts: WorkParts): Promise<void> => {
  const { boot, log, state, host, findings, hold } = parts
  const outcomes = await boot.step(
    'repair',
    () => host.repair(state.health.mode === 'ok'),
    (found) => ({ steps: found.length, found: found.reduce((sum, step) => sum + step.found, 0) }),
  )
  for (const { step, plugin, expected } of outcomes)
    if (expected > 0) log.info('went on with what the last stop left', { plugin, step, count: expected })
  findings.note(repairFound(outcomes))
  await findings.keep()
  await endLeftovers({ ...parts, generation: state.health.generation })
  await boot.step('start', host.start)
  hold.started()
}

/**
 * Work that began without the repair would go on from what a kill left. So where storage takes no changes for now, such
 * as below the floor of free space, both wait until it does; reads are served meanwhile.
 */
export const beginWork = async (parts: WorkParts): Promise<void> => {
  const { boot, clock, log, state } = parts
  if (!waits(state)) return begin(parts)
  log.warn('work begins when storage takes changes', { reason: state.health.reason })
  const ended = new AbortController()
  const late = async (): Promise<void> => {
    while (waits(state)) if (!(await clock.sleep(lookMs, ended.signal))) return
    if (!ended.signal.aborted) await begin(parts)
  }
  const begun = late().catch((error: unknown) => {
    if (!isStartEnded(error)) log.error('the work could not begin', { error })
  })
  boot.own('work', () => {
    ended.abort()
    return begun
  })
}
