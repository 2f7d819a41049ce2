/** A folder that nobody but the daemon's user can reach, for what is no state: it is in the system's folder for that. */
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
