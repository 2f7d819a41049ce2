/** Folders of a test file, gone when the file has ended. */
import { mkdtempSync, rmSync } from 'node:fs'
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
