/** Takes a root and opens its state, with what stands upon it before there are plugins. */
import type { Clock } from './base/clock.js'
import type { IdSource } from './base/ids.js'
import type { Settings } from './base/settings.js'
import type { Log } from './base/text/log.js'
import { nextEpoch } from './epoch.js'
import { createBus, type Bus } from './events/bus.js'
import type { Boot } from './host/lifecycle/boot.js'
import { createFindings, type Findings } from './records/findings.js'
import { damageFound } from './start-findings.js'
import type { Disk } from './state/disk/disk.js'
import { acquireLock, type Lock } from './state/root/lock.js'
import type { Mechanism } from './state/root/owner.js'
import { behindLoss, storageErrors } from './state/storage-errors.js'
import { openState, type OpenState } from './state/store/root.js'

export interface RootParts {
  readonly settings: Settings
  readonly boot: Boot
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
  readonly disk: Disk
  /** Guards of the root to try, best first; all that there are when absent. */
  readonly guards?: readonly Mechanism[] | undefined
}

export const takeRoot = ({ settings, boot, clock, log, disk, guards }: RootParts): Promise<Lock> =>
  boot.step('lock', async () => {
    const lock = await acquireLock({
      root: settings.stateRoot,
      clock,
      log,
      disk,
      ...(guards !== undefined && { guards }),
    })
    boot.own('lock', lock.release)
    return lock
  })

const lastAnswersMs = 200
/** Nobody asked for the end of a daemon that lost its root: who calls at that moment is told, and not cut off. */
export const giveLastAnswers = async (lock: Lock, clock: Clock): Promise<void> => {
  if (!lock.held()) await clock.sleep(lastAnswersMs)
}

export interface OpenedRoot {
  readonly opened: OpenState
  readonly bus: Bus
  readonly findings: Findings
  readonly keepEpoch: () => Promise<void>
}

/** Nothing is published before the state is loaded, so the bus may come after the state whose epoch it needs. */
export const openRoot = async (context: RootParts, lock: Lock): Promise<OpenedRoot> => {
  const { boot, clock, ids, log, disk, settings } = context
  const { root, generation } = lock
  const opened = await boot.step('open', () =>
    openState({
      root,
      disk,
      clock,
      ids,
      log,
      generation,
      owned: lock.held,
      publish: (event) => bus.post(event),
      onDamage: (fault) => findings.note([damageFound(root, fault)]),
    }),
  )
  boot.own('state', async () => {
    if (!(await opened.close())) throw lock.held() ? storageErrors.storage_not_clean() : behindLoss()
  })
  lock.onLost(() => opened.halt('lock_lost'))
  const findings = createFindings({ state: opened.state, clock, ids, log })
  const epoch = nextEpoch(opened.state, clock, log)
  const bus = createBus({
    clock,
    epoch: epoch.value,
    capacity: settings.eventHistoryCapacity,
    bytes: settings.eventHistoryBytes,
    onFault: ({ owner, event, error }) => log.error('an event listener failed', { owner, event, error }),
  })
  return { opened, bus, findings, keepEpoch: epoch.save }
}
