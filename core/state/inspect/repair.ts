/**
 * Mends a stopped root: says what it would do and why, does it when told to,
 * and takes acknowledged data away only with the operator's word. What it
 * takes away goes to the quarantine.
 */
import { basename, join } from 'node:path'
import type { Clock } from '../../base/clock.js'
import type { Ids } from '../../base/ids.js'
import { noInterrupts, type Interrupts } from '../../base/interrupts.js'
import { noProgress, type Progress } from '../../base/text/progress.js'
import type { Log } from '../../base/text/log.js'
import type { Disk } from '../disk/disk.js'
import { errors } from '../errors.js'
import { findRootId } from './is-root.js'
import { takeGuard } from '../root/guard.js'
import { layout, numberOf, segmentName } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { acquireLock } from '../root/lock.js'
import { hasFallen, readManifest, type Manifest, type PagesRef } from '../format/manifest.js'
import { mayLive, mechanisms, readOwner } from '../root/owner.js'
import { copyTail, cutFile, linkAside, moveAside } from './repair-aside.js'
import { brokenOff, countDone, type Done } from './repair-done.js'
import { planRepair, type RepairAction, type RepairPlan } from './repair-plan.js'
import { salvage } from './repair-salvage.js'
import { replayLog } from '../log/replay.js'
import { createRootFacts, readUnsealed, type RootFacts, type RootForm } from '../root/root-document.js'
import { seal } from '../format/sealed.js'
import { verifyRoot, type Declarations, type VerifyReport } from './verify.js'
import { readWatermark, writeWatermark } from '../format/watermark.js'

export type { RepairAction, RepairPlan } from './repair-plan.js'

export interface RepairOptions {
  readonly root: string
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly declared?: Declarations
  readonly progress?: Progress
  readonly interrupts?: Interrupts
  /** Do it; otherwise only the plan is made. */
  readonly apply?: boolean
  /** Acknowledged data may go to the quarantine. */
  readonly acceptLoss?: boolean
  /** Told under the lock what was taken away that had been acknowledged. */
  readonly onTaken?: (root: string, taken: readonly RepairAction[]) => Promise<void>
}

export interface RepairReport extends RepairPlan {
  readonly root: string
  readonly applied: boolean
  /** The check after the repair, or the one that the plan was made from. */
  readonly after: VerifyReport
}

interface Work {
  readonly options: RepairOptions
  readonly root: string
  readonly generation: number
  readonly rootId: string
  readonly done: Done
}

const manifestIn = (disk: Disk, root: string): Manifest | undefined => {
  const read = readManifest(disk, layout(root).manifest)
  return read.ok ? read.manifest : undefined
}

const look = (options: RepairOptions): Promise<VerifyReport> => {
  const { root, disk, clock, declared, progress = noProgress, interrupts = noInterrupts } = options
  return verifyRoot({
    root,
    disk,
    clock,
    live: false,
    progress,
    interrupts,
    ...(declared !== undefined && { declared }),
  })
}

const replaceManifest = (disk: Disk, root: string, manifest: Manifest): Promise<void> =>
  disk.replace(layout(root).manifest, seal(manifest))

const lastOf = (disk: Disk, root: string, manifest: Manifest): number =>
  replayLog({ disk, folder: layout(root).log, manifest, watermark: undefined, visit: () => {} }).sequence

/** The log ends before the fault. */
const cutLog = async ({ options: { disk }, root, rootId }: Work, fault: Fault): Promise<void> => {
  const paths = layout(root)
  const manifest = manifestIn(disk, root)
  if (manifest === undefined) return
  const at = manifest.segments.findIndex(({ no }) => no === numberOf(basename(fault.file)))
  const known = at === -1 ? manifest.segments.length : at
  const damaged = manifest.segments[at]
  const keepsPart = damaged !== undefined && fault.offset > 0
  const segments = [...manifest.segments.slice(0, known), ...(keepsPart ? [{ ...damaged, length: fault.offset }] : [])]
  const sequence = lastOf(disk, root, { ...manifest, segments })
  const gone = manifest.segments
    .slice(segments.length)
    .map(({ no }) => join(paths.log, segmentName(no)))
    .filter((file) => disk.stat(file) !== undefined)
  if (keepsPart) await copyTail({ disk, paths }, fault)
  const drops = []
  for (const file of gone) drops.push(await linkAside({ disk, paths }, { ...fault, file, offset: 0 }))
  await writeWatermark(disk, paths.watermark, { root: rootId, generation: manifest.generation, sequence, clean: false })
  await replaceManifest(disk, root, { ...manifest, segments })
  if (keepsPart) await cutFile({ disk, paths }, fault)
  for (const drop of drops) await drop()
}

const withoutIndex = (stores: Readonly<Record<string, PagesRef>>, name: string): Record<string, PagesRef> =>
  Object.fromEntries(Object.entries(stores).map(([of, ref]) => [of, of === name ? { ...ref, tables: [] } : ref]))

const dropIndex = async ({ options: { disk }, root }: Work, fault: Fault): Promise<void> => {
  const paths = layout(root)
  const manifest = manifestIn(disk, root)
  const [name = '', file] = [basename(join(fault.file, '..')), fault.file]
  if (manifest === undefined) return
  const drop =
    disk.stat(file) === undefined || !basename(file).startsWith('index-')
      ? undefined
      : await linkAside({ disk, paths }, fault)
  const inData = file.startsWith(`${paths.data}/`)
  await replaceManifest(
    disk,
    root,
    inData
      ? { ...manifest, collections: withoutIndex(manifest.collections, name) }
      : { ...manifest, streams: withoutIndex(manifest.streams, name) },
  )
  await drop?.()
}

const mendWatermark = async ({ options: { disk }, root, rootId }: Work, fault: Fault): Promise<void> => {
  const paths = layout(root)
  const manifest = manifestIn(disk, root)
  if (manifest === undefined) return
  if (disk.stat(fault.file) !== undefined) await moveAside({ disk, paths }, fault)
  await writeWatermark(disk, paths.watermark, {
    root: rootId,
    generation: manifest.generation,
    sequence: lastOf(disk, root, manifest),
    clean: false,
  })
}

const perform = async (work: Work, { kind, file, offset, reason }: RepairAction): Promise<void> => {
  const { disk, ids } = work.options
  const aside = { disk, paths: layout(work.root) }
  const fault: Fault = { file, offset, rule: reason }
  if (kind === 'restrict') return disk.restrict(file)
  if (kind === 'log') return cutLog(work, fault)
  if (kind === 'index') return dropIndex(work, fault)
  if (kind === 'watermark') return mendWatermark(work, fault)
  if (kind === 'salvage') return salvage({ ...aside, ids, rootId: work.rootId, generation: work.generation, fault })
  if (kind === 'cut') {
    await copyTail(aside, fault)
    return cutFile(aside, fault)
  }
  if (kind === 'set_aside' && disk.stat(file)?.kind === 'file') await moveAside(aside, fault)
}

/** Whether something was forgotten is told by nothing but pages and log: it may have been. */
const formsIn = (manifest: Manifest | undefined): RootForm[] => [
  ...(manifest !== undefined && hasFallen(manifest) ? (['partitions'] as const) : []),
  'forgotten-records',
]

/**
 * What can still be read of a damaged `root.json` and does not contradict the others. The time of its creation is 0
 * where nobody knows it: ids may be older than any moment that could stand there.
 */
const keptFacts = (
  { root, disk, clock }: RepairOptions,
  others: Pick<RootFacts, 'root_id' | 'generation'>,
): Pick<RootFacts, 'created_at_ms' | 'generation' | 'compat' | 'incompat'> => {
  const read = readUnsealed({ root, disk })
  const agrees =
    read !== undefined &&
    read.root_id === others.root_id &&
    read.generation >= others.generation &&
    read.created_at_ms <= clock.now()
  return agrees ? read : { created_at_ms: 0, generation: others.generation, compat: [], incompat: [] }
}

/** The lock needs a root that is private and has its `root.json`. */
const makeLockable = async (options: RepairOptions, actions: readonly RepairAction[], done: Done): Promise<void> => {
  const { root, disk } = options
  const wanted = actions.find(({ kind }) => kind === 'root')
  const id = wanted === undefined ? undefined : findRootId(disk, root)
  if (wanted !== undefined && id === undefined) throw errors.state_root_lost({ details: { path: root } })
  for (const { kind, file } of actions)
    if (kind === 'restrict') {
      await disk.restrict(file)
      countDone(done)
    }
  if (wanted === undefined || id === undefined) return
  const paths = layout(root)
  const guard = await takeGuard(root, mechanisms)
  if (guard === undefined) throw lockedBy(root)
  try {
    const [manifest, { watermark }] = [manifestIn(disk, root), readWatermark(disk, paths.watermark)]
    const others = { root_id: id, generation: Math.max(manifest?.generation ?? 0, watermark?.generation ?? 0) }
    const { created_at_ms, generation, compat, incompat } = keptFacts(options, others)
    if (disk.stat(wanted.file) !== undefined)
      await moveAside({ disk, paths }, { file: wanted.file, offset: 0, rule: wanted.reason })
    const known = { root_id: id, created_at_ms, compat, generation: generation + 1 }
    await disk.replace(wanted.file, seal(createRootFacts(known, [...incompat, ...formsIn(manifest)])))
    countDone(done)
  } finally {
    await guard.release()
  }
}

const lockedBy = (root: string) => {
  const owner = readOwner(join(root, 'owner.json'))
  return errors.state_root_locked({
    details: { path: root, pid: owner?.pid ?? 'unknown', host: owner?.host ?? 'this machine' },
    members: { pid: owner?.pid ?? 0 },
  })
}

/** What may be done at all: without the operator's word nothing that loses data. */
const refusal = ({ actions }: RepairPlan, acceptLoss: boolean) => {
  const loss = actions.find((action) => action.loss)
  return loss === undefined || acceptLoss
    ? undefined
    : errors.repair_loses({ details: { path: loss.file, offset: loss.offset } })
}

const applyAll = async (options: RepairOptions, done: Done): Promise<void> => {
  const { disk, clock, log } = options
  const lock = await acquireLock({ root: options.root, clock, log, disk })
  try {
    const { root, facts, generation } = lock
    // Under the lock the root is looked at again: what is done is what is true now. A salvage may leave leftovers for
    // the second look.
    for (let looks = 0; looks < 3; looks += 1) {
      const { actions } = planRepair(await look({ ...options, root }))
      done.left = actions.length
      if (actions.length === 0) return
      await performAll({ options, root, generation, rootId: facts.root_id, done }, actions)
    }
  } finally {
    await lock.release()
  }
}

/** What was taken away is told, also where not all of it was done. */
const performAll = async (work: Work, actions: readonly RepairAction[]): Promise<void> => {
  const { interrupts = noInterrupts, onTaken } = work.options
  const taken: RepairAction[] = []
  try {
    for (const action of actions) {
      interrupts.signal.throwIfAborted()
      await perform(work, action)
      countDone(work.done)
      if (action.loss) taken.push(action)
    }
  } finally {
    if (taken.length > 0) await onTaken?.(work.root, taken)
  }
}

/**
 * Plans, and with `apply` does it. Throws `state_root_locked` while a daemon
 * holds the root, `repair_loses` where data would be lost without the word for
 * it, `state_root_lost` where nothing tells the root's id any more.
 */
export const repairRoot = async (options: RepairOptions): Promise<RepairReport> => {
  const { root, disk, apply = false, acceptLoss = false } = options
  if (mayLive(root)) throw lockedBy(root)
  const before = await look(options)
  const plan = planRepair(before)
  if (!apply || plan.actions.length === 0) return { ...plan, root, applied: false, after: before }
  const refused = refusal(plan, acceptLoss)
  if (refused !== undefined) throw refused
  const done: Done = { actions: 0, left: plan.actions.length }
  try {
    await makeLockable({ ...options, disk }, plan.actions, done)
    await applyAll(options, done)
    return { ...plan, root, applied: true, after: await look(options) }
  } catch (error) {
    throw brokenOff(error, done)
  }
}
