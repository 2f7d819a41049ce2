/** What recovery sets aside, each with a reason. Nothing here is ever read back or deleted by the daemon. */
import { join } from 'node:path'
import { seal } from './sealed.js'
import type { Disk } from '../disk/disk.js'
import type { Fault } from './line.js'

export interface SetAside {
  readonly folder: string
  readonly name: string
  readonly bytes: Uint8Array
  readonly fault: Fault
}

/** Copies bytes into the quarantine; the same bytes of the same place go to the same file. Returns its path. */
export const setAside = async (disk: Disk, { folder, name, bytes, fault }: SetAside): Promise<string> => {
  const path = join(folder, name)
  await disk.replace(path, bytes)
  await disk.replace(
    `${path}.json`,
    seal({ file: fault.file, offset: fault.offset, rule: fault.rule, bytes: bytes.length }),
  )
  return path
}
