/** A small state with one collection and one stream, for tests of the store. */
import type { ExecutionContext } from 'ava'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClock } from '../../core/base/clock.js'
import { createIds } from '../../core/base/ids.js'
import type { Collection, CollectionSpec, Stream } from '../../core/state/contract.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { openState, type OpenState, type OpenStateOptions, type RecoveryReport } from '../../core/state/store/root.js'

export interface Note {
  id: string
  owner: string
  at: string
  text: string
  done: boolean
}

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const clock = createClock()
let generation = 0

export const tempRoot = (t: ExecutionContext): string => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-state-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  return root
}

export const notesSpec: CollectionSpec<Note> = {
  name: 'notes',
  version: 1,
  id: (one) => one.id,
  settled: (one) => one.done,
  indexes: {
    by_owner: { group: (one) => one.owner, sort: (one) => one.at },
    open: { group: (one) => (one.done ? undefined : 'open') },
  },
}

export interface OpenNotes extends OpenState {
  readonly notes: Collection<Note>
  readonly journal: Stream<string>
  readonly report: RecoveryReport
}

/** Opens a root and loads it. The ballast is small and there is no floor of free space unless `more` says so. */
export const openNotes = async (
  root: string,
  more: Partial<OpenStateOptions> & { readonly spec?: Partial<CollectionSpec<Note>> } = {},
): Promise<OpenNotes> => {
  generation += 1
  const opened = await openState({
    root,
    disk: createDisk(),
    clock,
    ids: createIds(clock),
    log: quiet,
    publish: () => undefined,
    generation,
    ...more,
    tuning: { ballastBytes: 4096, freeBytes: 0, ...more.tuning },
  })
  const notes = opened.state.collection<Note>({ ...notesSpec, ...more.spec })
  const journal = opened.state.stream<string>({ name: 'journal', version: 1 })
  const report = await opened.load()
  return { ...opened, notes, journal, report }
}

export const note = (n: number, more: Partial<Note> = {}): Note => ({
  id: `n${n}`,
  owner: 'ann',
  at: String(n).padStart(5, '0'),
  text: `text ${n} é`,
  done: false,
  ...more,
})
