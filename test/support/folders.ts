/** Folders of a test file, gone when the file has ended. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const made: string[] = []
const remove = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  } catch {
    // What a dying process still writes to is left.
  }
}
process.on('exit', () => made.forEach(remove))

/** An empty folder that only this user may enter. */
export const freshFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-'))
  made.push(folder)
  return folder
}

export const freshRoot = (): Promise<string> => Promise.resolve(freshFolder())

/** A root for lives that are so short that a run may see any number of them end (runs-42). */
export const rootForKills = (): string => {
  const root = freshFolder()
  mkdirSync(path.join(root, 'config'), { mode: 0o700 })
  writeFileSync(path.join(root, 'config', 'runs.toml'), 'max_unclean_boots = 1000000\n')
  return root
}
