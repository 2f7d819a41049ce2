/** Reads a root, then takes changes; one that is damaged stays as it is. */
import { createCheckpointer } from './checkpoint.js'
import { createLogKeeper, type LogKeeper } from '../log/log-keeper.js'
import { createMerger } from './merger.js'
import { isHalted, refuse, type Root, type Running } from './open-root.js'
import { recoverLog, type LogRecovery, type RecoveryReport } from './recovery.js'
import type { SideFilesReport } from '../side/side-files.js'
import { sweep } from '../pages/sweep.js'

export const load = async (root: Root): Promise<RecoveryReport> => {
  const { clock } = root.options
  const started = clock.elapsed()
  const found = await recover(root)
  const cleared = found.damage === undefined ? await takeUp(root, found) : leaveAlone(root, found)
  return { ...reportOf(root, found), ...cleared, milliseconds: clock.elapsed() - started }
}

/** Reads everything that counts; what is damaged is told, and nothing is removed. */
const recover = async (root: Root): Promise<LogRecovery> => {
  const { options, pins, paths, manifest, store, pageStores, broken } = root
  const { collections, streams } = manifest.current
  await store.load({ collections: Object.keys(collections), streams: Object.keys(streams) })
  const known = broken ?? pageStores.damage
  const found = await recoverLog({ disk: pins.disk, paths, manifest, store, damage: known })
  for (const collection of store.collections.values()) options.ids.goOnBehind(collection.latestIds())
  const damage = found.damage ?? pageStores.damage
  root.isLoaded = damage === undefined || (broken === undefined && pageStores.whole && found.whole)
  return { ...found, damage }
}

const takeUp = async (root: Root, found: LogRecovery): Promise<SideFilesReport> => {
  const beside = await root.sideFiles.load()
  return { ...beside, swept: [...(await begin(root, found)), ...beside.swept] }
}

/** What is damaged stays as it is, for whoever repairs it. */
const leaveAlone = (root: Root, { replay }: LogRecovery): SideFilesReport => {
  run(root, replay.sequence)
  root.access.mode.refuse('damaged')
  return { swept: [], quarantined: [], spools: [] }
}

/**
 * From here on commits are taken. What was read is on the disk for certain before anything is removed on the strength
 * of it.
 */
const begin = async (root: Root, { sealed, replay, latest }: LogRecovery): Promise<string[]> => {
  const {
    options: { log },
    tuning,
    paths,
    access,
    pins,
    ballast,
    manifest,
    pageStores,
    transactions,
  } = root
  transactions.resumeAt(replay.t, Math.max(replay.t, latest))
  const { keeper, checkpointer } = run(root, replay.sequence)
  await keeper.start(sealed)
  const swept = await sweep(pins.disk, paths, { manifest: manifest.current, inUse: pageStores.tableFiles() })
  if (keeper.hasRoom())
    await ballast.place().catch((error: unknown) => log.warn('the ballast could not be written', { error }))
  if (!keeper.hasRoom()) refuse(access, 'disk_full')
  else access.mode.begin()
  if (replay.bytes >= tuning.segmentBytes || pageStores.rebuilt.length > 0) void checkpointer.run()
  return swept
}

const run = (root: Root, sequence: number): Running => {
  const { options, tuning, paths, access, pins, manifest, forms, store, pageStores, transactions } = root
  const { clock, ids, log, generation } = options
  const parts = { disk: pins.disk, paths, manifest, mode: access.mode, ids, log }
  const keeper: LogKeeper = createLogKeeper({
    ...parts,
    clock,
    tuning,
    generation,
    sequence,
    isHalted: () => isHalted(access),
    beforeForgetting: () => forms.name('forgotten-records'),
    advanced: () => checkpointer.consider(),
  })
  const merger = createMerger({ ...parts, clock, pageStores, refuse: (reason) => keeper.refuse(reason) })
  const checkpointer = createCheckpointer({
    ...parts,
    done: () => merger.consider(),
    store,
    pageStores,
    keeper,
    forms,
    segmentBytes: tuning.segmentBytes,
    transactions,
    limits: root.limits,
  })
  access.running = { keeper, checkpointer, merger }
  return access.running
}

const reportOf = (
  { pageStores }: Root,
  { replay, torn, damage, unclean, rebuilt }: LogRecovery,
): Omit<RecoveryReport, keyof SideFilesReport | 'milliseconds'> => ({
  sequence: replay.sequence,
  replayed: replay.lines,
  segments: replay.sound.length,
  torn,
  damage,
  unclean,
  rebuilt: [...rebuilt, ...pageStores.rebuilt],
})
