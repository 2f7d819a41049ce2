/** Checks a backup, and makes a root of it. */
import { join, resolve } from 'node:path'
import type { Clock } from '../../base/clock.js'
import { noInterrupts, type Interrupts } from '../../base/interrupts.js'
import { noProgress, type Progress } from '../../base/text/progress.js'
import { copyWhole, createCopy, inTarget } from './backup.js'
import { commitFolders } from '../format/layout.js'
import { copyFolder, readBackupFile, type BackupFile } from './backup-file.js'
import type { Disk } from '../disk/disk.js'
import { digestFile, sourceOf } from '../disk/pieces.js'
import { errors } from '../errors.js'
import { holdDocument, type StoredHold } from '../root/hold-document.js'
import type { Fault } from '../format/line.js'
import { readRoot, type RootFacts } from '../root/root-document.js'
import { seal } from '../format/sealed.js'
import { verifyRoot, type Declarations, type VerifyReport } from './verify.js'

export interface BackupPlace {
  readonly folder: string
  readonly disk: Disk
  readonly clock: Clock
  readonly declared?: Declarations
  readonly progress?: Progress
  readonly interrupts?: Interrupts
}

export interface BackupCheck {
  readonly backup: BackupFile
  /** Files that are not what `backup.json` says. */
  readonly faults: readonly Fault[]
  /** The root inside, checked like any other. */
  readonly root: VerifyReport
  readonly clean: boolean
}

const filesBelow = (disk: Disk, folder: string): string[] =>
  disk.list(folder).flatMap((name) => {
    const path = join(folder, name)
    return disk.stat(path)?.kind === 'folder' ? filesBelow(disk, path) : [path]
  })

interface Digest {
  readonly bytes: number
  readonly sha256: string
}

const firstDifference = (found: Digest | undefined, wanted: Digest): string | undefined => {
  if (found === undefined) return 'the file is missing'
  if (found.bytes !== wanted.bytes) return `it has ${found.bytes} bytes instead of ${wanted.bytes}`
  return found.sha256 === wanted.sha256 ? undefined : 'its bytes do not match their digest'
}

const bytesIn = ({ files }: BackupFile): number => files.reduce((sum, { bytes }) => sum + bytes, 0)

interface Compared {
  readonly disk: Disk
  readonly copy: string
  readonly backup: BackupFile
  readonly progress: Progress
}

const compare = ({ disk, copy, backup, progress }: Compared): Fault[] => {
  const faults: Fault[] = []
  const named = new Set(backup.files.map(({ path }) => join(copy, path)))
  for (const wanted of backup.files) {
    const file = join(copy, wanted.path)
    const rule = firstDifference(digestFile(disk, file, progress.advance), wanted)
    if (rule !== undefined) faults.push({ file, offset: 0, rule })
  }
  for (const file of filesBelow(disk, copy))
    if (!named.has(file)) faults.push({ file, offset: 0, rule: 'backup.json does not name it' })
  return faults
}

/** Compares every file with `backup.json`, then checks the root inside. Throws where there is no whole backup. */
export const verifyBackup = async (place: BackupPlace): Promise<BackupCheck> => {
  const { folder, disk, clock, declared, progress = noProgress, interrupts = noInterrupts } = place
  const backup = readBackupFile(disk, folder)
  const copy = join(resolve(folder), copyFolder)
  progress.begin('compare', bytesIn(backup))
  const faults = await interrupts.inOneGo(() => compare({ disk, copy, backup, progress }))
  const options = { root: copy, disk, clock, live: false, progress, interrupts }
  const root = await verifyRoot({ ...options, ...(declared !== undefined && { declared }) })
  return { backup, faults, root, clean: faults.length === 0 && root.clean }
}

export interface RestoreReport {
  readonly root: string
  readonly root_id: string
  readonly sequence: number
  readonly generation: number
  readonly files: number
}

/**
 * Makes a root in an absent or empty folder. `root.json` comes last, with a higher generation: without it there is no
 * root. Where it fails or is interrupted, nothing of it stays.
 */
export const restoreBackup = async (place: BackupPlace, to: string): Promise<RestoreReport> => {
  const { declared: _, ...without } = place
  const { disk } = place
  const { backup, faults, root } = await verifyBackup(without)
  const [first] = [...faults, ...root.findings.filter(({ severity }) => severity === 'damage')]
  if (first !== undefined) throw errors.backup_damaged({ details: { path: first.file, rule: first.rule } })
  const target = resolve(to)
  const facts = await inTarget({ disk, to: target, needed: bytesIn(backup) }, () => copyRoot(place, backup, target))
  const { root_id, generation } = facts
  return { root: target, root_id, sequence: backup.sequence, generation, files: backup.files.length }
}

const copyRoot = async (place: BackupPlace, backup: BackupFile, to: string): Promise<RootFacts> => {
  const { folder, disk, clock, progress = noProgress } = place
  const copy = createCopy({ disk, to }, place)
  progress.begin('copy', bytesIn(backup))
  const from = join(resolve(folder), copyFolder)
  for (const name of commitFolders) await copy.makeFolder(name)
  for (const { path } of backup.files)
    if (path !== 'root.json' && path !== join('documents', `${holdDocument}.json`))
      await copyWhole(disk, copy, { from, path })
  const hold: StoredHold = { held: true, reason: 'restored', since_ms: clock.now() }
  await copy.write(join('documents', `${holdDocument}.json`), sourceOf(seal(hold)))
  await copy.finish()
  const facts = readRoot({ root: from, disk })
  if (facts === undefined) throw errors.backup_incomplete({ details: { path: folder } })
  const raised = { ...facts, generation: facts.generation + 1 }
  await disk.restrict(to)
  await disk.replace(join(to, 'root.json'), seal(raised))
  return raised
}
