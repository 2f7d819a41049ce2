/** What is beside the log: documents, blobs and spools, under the same rules of when storage may be written. */
import { dirname } from 'node:path'
import { createBlobs, type BlobAreas } from './blobs.js'
import { createDocuments, type Documents } from './document.js'
import type { Disk } from '../disk/disk.js'
import { rangeOf, reading } from '../disk/pieces.js'
import type { Layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { setAside } from '../format/quarantine.js'
import { createSpools, type SpoolAreas } from './spool.js'
import { sweepSpools } from './spool-sweep.js'
import { reasonOf, storageErrors, unwritten, type ReadOnlyReason } from '../storage-errors.js'
import type { StorageMode } from '../disk/storage-mode.js'

export interface SideFilesOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly mode: StorageMode
  /** Called when a write failed. */
  readonly refuse: (reason: ReadOnlyReason) => void
  /** Free bytes that stay for the state itself. */
  readonly freeBytes: number
}

export interface SideFilesReport {
  readonly swept: readonly string[]
  readonly quarantined: readonly string[]
  readonly spools: readonly Fault[]
}

export interface SideFiles {
  readonly documents: Documents
  readonly blobs: BlobAreas
  readonly spools: SpoolAreas
  /** Sweeps what an interrupted write left, and sets aside documents that are damaged and spools that were cut off. */
  load(): Promise<SideFilesReport>
}

export const createSideFiles = ({ disk, paths, mode, refuse, freeBytes }: SideFilesOptions): SideFiles => {
  const write = async (change: () => Promise<void>): Promise<void> => {
    if (!mode.takesChanges) throw mode.problem()
    try {
      await change()
    } catch (cause) {
      mode.count()
      refuse(reasonOf(cause))
      throw unwritten(cause)
    }
  }
  const quarantine = async (path: string, rule: string): Promise<void> => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    await reading(disk, path, (file) =>
      setAside(disk, { folder: paths.quarantine, name, source: rangeOf(file), fault: { file: path, offset: 0, rule } }),
    )
    await disk.unlink(path)
    await disk.syncFolder(dirname(path))
  }
  const documents = createDocuments({ folder: paths.documents, disk, setAside: quarantine, write })
  const blobs = createBlobs({ folder: paths.blobs, disk, write })
  const spools = createSpools({
    folder: paths.spools,
    disk,
    mayWrite: () => mode.takesChanges && disk.space(paths.root).free >= freeBytes,
    refuse: () => {
      throw mode.takesChanges
        ? storageErrors.storage_read_only({ details: { reason: 'disk_full' }, retryAfter: 5 })
        : mode.problem()
    },
  })
  const load = async (): Promise<SideFilesReport> => {
    const { swept, damaged } = await documents.load()
    const found = await sweepSpools({ folder: paths.spools, disk, setAside: quarantine })
    return { swept: [...swept, ...(await blobs.sweep()), ...found.swept], quarantined: damaged, spools: found.cut }
  }
  return { documents, blobs, spools, load }
}
