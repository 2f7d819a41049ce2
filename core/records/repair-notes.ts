/** What a repair took away is a finding as those of a start are: kept in their document until it is acknowledged. */
import { join, relative } from 'node:path'
import type { Clock } from '../base/clock.js'
import type { Ids } from '../base/ids.js'
import { unsafeCast, type Json } from '../base/schema.js'
import type { Disk } from '../state/disk/disk.js'
import { layout } from '../state/format/layout.js'
import type { RepairAction } from '../state/inspect/repair-plan.js'
import { createDocuments } from '../state/side/document.js'
import { keptIn, merged, nameOfFindings, type Found } from './findings.js'

export interface NoteParts {
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: Ids
}

const takenFound = (root: string, { file, offset, reason, consequence }: RepairAction): Found => ({
  code: 'repair_took',
  severity: 'warning',
  about: `${relative(root, file)} ${offset}`,
  file: relative(root, file),
  byte: offset,
  message: `A repair took data away, as an operator allowed: ${reason}; ${consequence}.`,
  action: 'Look at what is in quarantine/, and restore from a backup what is missed.',
})

/** Only the holder of the lock may call this. A document that cannot be read was set aside by the same repair. */
export const noteTaken = async (
  { disk, clock, ids }: NoteParts,
  root: string,
  taken: readonly RepairAction[],
): Promise<void> => {
  const { documents } = layout(root)
  const setAside = (): Promise<void> => Promise.resolve()
  const document = createDocuments({ folder: documents, disk, setAside }).document(nameOfFindings)
  const kept = disk.stat(join(documents, `${nameOfFindings}.json`)) === undefined ? [] : keptIn(document.read())
  const added = taken.map((action) => merged(takenFound(root, action), undefined, { clock, ids }))
  await document.write({ findings: unsafeCast<Json>([...(kept ?? []), ...added]) })
}
