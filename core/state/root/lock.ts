/**
 * Who owns a state root. Three layers, the first that can tell decides: a
 * guard that the kernel frees at death, proper-lockfile for platforms and
 * containers that the guard does not reach, and the owner's record beside.
 */
import { realpathSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createIds } from '../../base/ids.js'
import type { Clock } from '../../base/clock.js'
import type { Problem } from '../../base/errors.js'
import type { Log } from '../../base/text/log.js'
import { shellWord } from '../../base/text/command-text.js'
import type { Disk } from '../disk/disk.js'
import { codeOf, errors } from '../errors.js'
import { takeLockFolder } from './lock-folder.js'
import { guardHolder, pause, takeGuard, type Guard } from './guard.js'
import { createLoss, type Loss, type LossReason } from './loss.js'
import {
  describeOwner,
  isRunning,
  isSameOwner,
  judgeOwner,
  mechanisms,
  readOwner,
  type Mechanism,
  type OwnerRecord,
} from './owner.js'
import { gateDisk } from '../disk/gate.js'
import { createDisk } from '../disk/real-disk.js'
import { makeRoom } from '../disk/ballast.js'
import { checkRoot } from './root-check.js'
import { layout } from '../format/layout.js'
import { makeFolders } from './make-folders.js'
import { openRootDocument, readRoot, refusable, resealRoot, type RootFacts } from './root-document.js'
import { watchDocument } from './root-watch.js'
import { createSideWrites, type SideWrites } from './side-writes.js'
import { sweepTemps } from '../disk/temps.js'

export type { OwnerRecord } from './owner.js'

export interface LockOptions {
  readonly root: string
  readonly clock: Clock
  readonly log: Log
  readonly disk?: Disk
  /** Accept a network file system. */
  readonly allowNetwork?: boolean
  /** Guards to try, best first. */
  readonly guards?: readonly Mechanism[]
}

export interface Lock {
  /** The root without links in its path: use this one from here on. */
  readonly root: string
  /** Rises with each opening of the root. */
  readonly generation: number
  readonly owner: OwnerRecord
  readonly facts: RootFacts
  /** As `/v1/status` shows it. */
  readonly status: () => { readonly path: string; readonly held: boolean; readonly mechanism: Mechanism }
  /** Asks the disk, in microseconds, whether the root is still ours: by the file of the guard and by `root.json`. */
  held(): boolean
  /**
   * Called once when the root is no longer ours, with the reason: stop every write and drain. At once if it is lost
   * already.
   */
  onLost(callback: (reason: LossReason) => void): void
  /** Writes into the owner's record where the daemon listens. Nothing waits for it but the release. */
  listensAt(bind: string): void
  release(): Promise<void>
}

/**
 * Takes a root, or throws what keeps it from being taken: `state_root_locked`, or one of the refusals of `checkRoot`.
 */
export const acquireLock = async (options: LockOptions): Promise<Lock> => {
  const disk = options.disk ?? createDisk()
  const root = await prepareRoot(options, disk)
  const guard = await refusable(root, () => takeGuard(root, options.guards ?? mechanisms))
  if (guard === undefined || !guard.intact()) {
    await guard?.release()
    throw locked(root)
  }
  try {
    return await refusable(root, () => holdRoot({ ...options, root, disk, guard }))
  } catch (cause) {
    await guard.release()
    throw cause
  }
}

const prepareRoot = async ({ root: path, allowNetwork = false }: LockOptions, disk: Disk): Promise<string> => {
  const made = await makeFolders(path)
  const root = realpathSync(path)
  for (let folder = root; made !== undefined && folder.length >= made.length; folder = dirname(folder))
    await disk.syncFolder(dirname(folder))
  checkRoot({ root, disk, allowNetwork })
  readRoot({ root, disk })
  return root
}

interface Holding extends LockOptions {
  readonly disk: Disk
  readonly guard: Guard
}

const holdRoot = async (holding: Holding): Promise<Lock> => {
  const { root, clock, guard, log } = holding
  const verdict = judgeOwner(root, readOwner(join(root, 'owner.json')), guard.freed)
  if (verdict === 'alive') throw locked(root)
  const loss = createLoss(holding, () => (guard.intact() ? undefined : 'guard_removed'))
  const isLost = (): boolean => loss.look() !== undefined
  const disk = gateDisk(holding.disk, { wasHalted: isLost, isHalted: isLost })
  const unlock = await takeFolder(holding, loss, verdict === 'dead').catch((cause) => {
    loss.stop()
    throw cause
  })
  try {
    guard.sign()
    await sweepTemps(disk, root)
    await makeRoom(disk, root, layout(root).ballast)
    const facts = await openRootDocument({ root, disk, clock, ids: createIds(clock) })
    const writes = createSideWrites(log)
    const onRewritten = (read: RootFacts): void => {
      tellRewritten(log, root)
      writes.add(() => resealRoot({ root, disk }, facts, read), 'root.json was not written again')
    }
    loss.also(watchDocument({ root, disk, facts, onRewritten }))
    const owner = describeOwner({ root, generation: facts.generation, now: clock.now(), mechanism: guard.mechanism })
    await writeOwner({ root, disk }, owner)
    return lockOf({ ...holding, disk, facts, owner, loss, unlock, writes })
  } catch (cause) {
    loss.stop()
    await unlock()
    throw cause
  }
}

const tellRewritten = (log: Log, root: string): void => {
  const repair = `holdfast state repair --state-root ${shellWord(root)} --apply`
  log.warn('root.json was written by somebody else: it says the same, and the daemon writes it again', {
    root,
    action: `Leave root.json to the daemon: a start refuses one that was edited until ${repair}`,
  })
}

const takeFolder = async ({ root, guard }: Holding, loss: Loss, ownerIsDead: boolean): Promise<() => Promise<void>> => {
  try {
    return await takeLockFolder({
      root,
      isLeftover: ownerIsDead && guard.mechanism !== 'lockfile',
      isOurs: () => loss.look() === undefined,
      onTaken: () => loss.lose('lock_taken'),
    })
  } catch (cause) {
    if (codeOf(cause) === 'ELOCKED') throw locked(root)
    throw cause
  }
}

/** The holder writes its number a little after it has the guard: until then the file names nobody, or a dead one. */
const locked = (root: string): Problem => {
  let pid: number | undefined
  for (let look = 0; look < 10 && (pid === undefined || !isRunning(pid)); look += 1) {
    if (look > 0) pause(20)
    pid = guardHolder(root) ?? readOwner(join(root, 'owner.json'))?.pid
  }
  const owner = readOwner(join(root, 'owner.json'))
  const host = owner !== undefined && owner.pid === pid ? owner.host : 'this machine'
  return errors.state_root_locked({ details: { path: root, pid: pid ?? 'unknown', host }, members: { pid: pid ?? 0 } })
}

const writeOwner = ({ root, disk }: Pick<Holding, 'root' | 'disk'>, owner: OwnerRecord): Promise<void> =>
  disk.replace(join(root, 'owner.json'), Buffer.from(`${JSON.stringify(owner, undefined, 2)}\n`))

interface Held extends Holding {
  readonly facts: RootFacts
  readonly owner: OwnerRecord
  readonly loss: Loss
  readonly unlock: () => Promise<void>
  readonly writes: SideWrites
}

const lockOf = (holding: Held): Lock => {
  const { root, guard, facts, owner, loss, unlock, writes } = holding
  let released: Promise<void> | undefined
  const held = (): boolean => released === undefined && loss.look() === undefined
  const free = async (): Promise<void> => {
    loss.stop()
    loss.look()
    await writes.done()
    if (loss.look() === undefined) forgetOwner(join(root, 'owner.json'), owner)
    await unlock()
    await guard.release()
  }
  return {
    root,
    generation: facts.generation,
    owner,
    facts,
    held,
    status: () => ({ path: join(root, 'daemon.lock'), held: held(), mechanism: guard.mechanism }),
    onLost: loss.onLost,
    listensAt(bind) {
      const write = (): Promise<void> => writeOwner(holding, { ...owner, bind })
      writes.add(write, 'the address of the daemon is not in owner.json')
    },
    release: () => (released ??= free()),
  }
}

const forgetOwner = (path: string, owner: OwnerRecord): void => {
  const written = readOwner(path)
  if (written !== undefined && isSameOwner(written, owner)) unlinkSync(path)
}
