/** Whether `root.json` still says what it said when this daemon opened the root. */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Disk } from '../disk/disk.js'
import { codeOf } from '../errors.js'
import { pause } from './guard.js'
import { readRoot, readUnsealed, type RootFacts } from './root-document.js'

export type DocumentLoss = 'generation_raised' | 'root_json_removed' | 'root_json_damaged'

export interface WatchedDocument {
  readonly root: string
  readonly disk: Disk
  readonly facts: RootFacts
  /** Somebody else wrote the file anew, as an editor does: it says the same of the root, and has no valid digest. */
  readonly onRewritten: (read: RootFacts) => void
}

/** What speaks of the file; any other error, such as one of the disk or of too many open files, says nothing of it. */
const ofTheFile: ReadonlySet<string | undefined> = new Set([
  'state_root_damaged',
  'state_root_incompatible',
  'state_root_not_regular',
])

/** Milliseconds for somebody who writes the file anew in its place, which a reader may catch half done. */
const settleMs = 20

/**
 * The file of the guard may be back in its place after another daemon had the root by a second one: that daemon raised
 * the generation. The file is read only when it is another than before.
 */
export const watchDocument = ({
  root,
  disk,
  facts,
  onRewritten,
}: WatchedDocument): (() => DocumentLoss | undefined) => {
  const path = join(root, 'root.json')
  const identify = (): string | undefined => {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found && `${found.ino}:${found.mtimeMs}:${found.size}`
  }
  let known = identify()
  const isSame = ({ root_id, generation }: RootFacts): boolean =>
    root_id === facts.root_id && generation === facts.generation
  const acceptRewritten = (): boolean => {
    const now = identify()
    const read = readUnsealed({ root, disk })
    if (read === undefined || !isSame(read)) return false
    known = now
    onRewritten(read)
    return true
  }
  const judge = (): DocumentLoss | undefined => {
    const now = identify()
    if (now === known) return undefined
    const read = readRoot({ root, disk })
    if (read === undefined) return 'root_json_removed'
    if (!isSame(read)) return 'generation_raised'
    known = now
    return undefined
  }
  const look = (): DocumentLoss | undefined => {
    try {
      return judge()
    } catch (cause) {
      const code = codeOf(cause)
      if (!ofTheFile.has(code) || (code === 'state_root_damaged' && acceptRewritten())) return undefined
      return 'root_json_damaged'
    }
  }
  return () => {
    if (look() === undefined) return undefined
    pause(settleMs)
    return look()
  }
}
