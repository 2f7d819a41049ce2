/** Writes several files so that what can fail has failed before the first of them is changed. */
import { promises as fs } from 'node:fs'
import { basename } from 'node:path'
import { patchErrors } from './patch/errors.js'
import { remove, stage } from './replace.js'
import { parentOf, withFolder, type Folder, type Place } from './workspace.js'

/** What becomes of one path; `mode` is that of the file that was there. */
export type FileStep =
  | { readonly type: 'write'; readonly place: Place; readonly bytes: Buffer; readonly mode: number | undefined }
  | { readonly type: 'remove'; readonly place: Place }

export interface OpenStep {
  readonly step: FileStep
  readonly folder: Folder
}

/** Holds the folders of all steps open; those that a file is written to are made. */
const withFolders = <T>(
  steps: readonly FileStep[],
  use: (open: readonly OpenStep[]) => Promise<T>,
  open: readonly OpenStep[] = [],
): Promise<T> => {
  const step = steps[open.length]
  if (step === undefined) return use(open)
  return withFolder(parentOf(step.place), {
    make: step.type === 'write',
    use: (folder) => withFolders(steps, use, [...open, { step, folder }]),
  })
}

/** The new files beside the places that they are for, on the disk; none if one of them cannot be written. */
const stageAll = async (open: readonly OpenStep[], key: string): Promise<readonly string[]> => {
  const staged: string[] = []
  try {
    for (const { step, folder } of open)
      staged.push(step.type === 'write' ? await stage(folder, basename(step.place.real), { ...step, key }) : '')
    return staged
  } catch (error) {
    await removeAll(staged)
    throw error
  }
}

const removeAll = async (staged: readonly string[]): Promise<void> => {
  for (const path of staged) if (path !== '') await remove(path)
}

const shownOf = (open: readonly OpenStep[]): string => open.map(({ step }) => step.place.shown).join(', ') || 'none'

/** Throws `patch_incomplete` if the system fails after the first step, and what the system said if at the first. */
export const takeSteps = async (open: readonly OpenStep[], staged: readonly string[]): Promise<void> => {
  let done = 0
  try {
    for (const { step, folder } of open) {
      const path = folder.at(basename(step.place.real))
      await (step.type === 'write' ? fs.rename(staged[done] ?? '', path) : fs.unlink(path))
      done += 1
    }
  } catch (error) {
    await removeAll(staged.slice(done))
    if (done === 0) throw error
    const details = { done: shownOf(open.slice(0, done)), left: shownOf(open.slice(done)) }
    throw patchErrors.patch_incomplete({ details, cause: error })
  }
}

/** Changes all files, or none unless the system fails between two of them. On the disk when it resolves. */
export const writeFiles = (steps: readonly FileStep[], key: string): Promise<void> =>
  withFolders(steps, async (open) => {
    await takeSteps(open, await stageAll(open, key))
    for (const { folder } of open) await folder.handle.sync()
  })
