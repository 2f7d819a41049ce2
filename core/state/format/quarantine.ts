/** What recovery sets aside, each with a reason. Nothing here is ever read back or deleted by the daemon. */
import { join } from 'node:path'
import { seal } from './sealed.js'
import type { Disk } from '../disk/disk.js'
import { copyPieces, type ByteSource } from '../disk/pieces.js'
import type { Fault } from './line.js'

export interface SetAside {
  readonly folder: string
  readonly name: string
  readonly source: ByteSource
  readonly fault: Fault
}

/** Under another name until all of it is on the disk. */
const copyAside = async (disk: Disk, path: string, source: ByteSource): Promise<void> => {
  const temporary = `${path}.0`
  if (disk.stat(temporary) !== undefined) await disk.unlink(temporary)
  const file = await disk.open(temporary, 'create')
  try {
    await copyPieces(file, source)
    await file.sync()
  } finally {
    await file.close()
  }
  await disk.rename(temporary, path)
}

/** Copies bytes into the quarantine; the same bytes of the same place go to the same file. Returns its path. */
export const setAside = async (disk: Disk, { folder, name, source, fault }: SetAside): Promise<string> => {
  const path = join(folder, name)
  await copyAside(disk, path, source)
  await disk.replace(
    `${path}.json`,
    seal({ file: fault.file, offset: fault.offset, rule: fault.rule, bytes: source.length }),
  )
  return path
}
