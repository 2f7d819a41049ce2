/** A folder that only the daemon's user can reach, among the temporary files of the system: for what is no state. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PrivateFolder {
  readonly path: string
  /** Removes it and what is in it; no effect if it is gone. */
  remove(): void
}

/** Throws the system's error where no folder can be made. */
export const makePrivateFolder = (): PrivateFolder => {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
