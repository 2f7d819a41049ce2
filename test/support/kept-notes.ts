/** A small state that is kept in partitions: notes lead, their marks and a journal for each owner follow. */
import { createIds, type IdSource } from '../../core/base/ids.js'
import { createClock } from '../../core/base/clock.js'
import type { Collection, Fall, Stream } from '../../core/state/contract.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import type { Disk } from '../../core/state/disk/disk.js'
import { verifyRoot, type VerifyReport } from '../../core/state/inspect/verify.js'
import type { Declarations } from '../../core/state/inspect/verify-records.js'
import { openRootDocument } from '../../core/state/root/root-document.js'
import { openState, type OpenState, type RecoveryReport } from '../../core/state/store/root.js'
import type { Tuning } from '../../core/state/tuning.js'
import { createManualClock, type ManualClock } from '../faults/stillness.js'

export interface KeptNote {
  readonly id: string
  readonly owner: string
  readonly at: number
  readonly done: boolean
  readonly text: string
}
/** What a note leaves. */
export interface Mark {
  readonly id: string
  readonly note: string
}

export const kind = 'notes'
export const day = 24 * 60 * 60 * 1000

const notesSpec = {
  name: 'kept_notes',
  version: 1,
  id: (note: KeptNote) => note.id,
  settled: (note: KeptNote) => note.done,
  kept: { kind, since: (note: KeptNote) => note.at },
  indexes: {
    all: { group: () => 'all' },
    by_owner: { group: (note: KeptNote) => note.owner, sort: (note: KeptNote) => String(note.at) },
    text: { group: (note: KeptNote) => note.text },
  },
}
const marksSpec = {
  name: 'kept_marks',
  version: 1,
  id: (mark: Mark) => mark.id,
  settled: () => true,
  kept: { kind },
  indexes: { all: { group: () => 'all' } },
  references: (mark: Mark) => [{ collection: 'kept_notes', id: mark.note }],
}
const journalSpec = { name: 'kept_journal', version: 1, kept: { kind } }
const plainSpec = { ...marksSpec, name: 'plain_marks', kept: undefined }

export interface KeptNotes extends OpenState {
  readonly root: string
  readonly clock: ManualClock
  readonly ids: IdSource
  readonly report: RecoveryReport
  readonly notes: Collection<KeptNote>
  readonly marks: Collection<Mark>
  /** Names notes and is not kept in partitions. */
  readonly plain: Collection<Mark>
  readonly journal: Stream<string>
  /** Writes a note with a mark, and an entry of its owner. */
  write(more?: Partial<KeptNote>): Promise<KeptNote>
  change(note: KeptNote, more: Partial<KeptNote>): Promise<KeptNote>
  /** Lets time pass, so that the next checkpoint begins a partition. */
  pass(days?: number): void
  fall(upto: number): Promise<Fall>
}

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** The time of a root goes on where its last life ended. */
const times = new Map<string, number>()

/** The store that is tested: the daemon's own, or a mutant of it. */
export interface KeptEngine {
  readonly openState: typeof openState
  readonly openRootDocument: typeof openRootDocument
}

export interface KeptOptions {
  readonly disk?: Disk
  readonly engine?: KeptEngine
  /** Unix ms; where the last life of the root ended when absent. */
  readonly startedAt?: number
  readonly tuning?: Partial<Tuning>
  /** False: as a version without partitions declares them. */
  readonly kept?: boolean
  /** Not declared now. */
  readonly without?: 'marks'
}

const unkept = <S extends { kept?: unknown }>(spec: S, kept: boolean): Omit<S, 'kept'> => {
  const { kept: told, ...rest } = spec
  return kept && told !== undefined ? spec : rest
}

export const openKept = async (
  root: string,
  {
    disk = createDisk(),
    engine = { openState, openRootDocument },
    startedAt,
    tuning,
    kept = true,
    without,
  }: KeptOptions = {},
): Promise<KeptNotes> => {
  const clock = createManualClock(startedAt ?? times.get(root) ?? Date.UTC(2026, 0, 1))
  const ids = createIds(clock)
  const { generation } = await engine.openRootDocument({ root, disk, clock, ids })
  const parts = { root, disk, clock, ids, log: quiet, publish: () => undefined, generation }
  const opened = await engine.openState({ ...parts, tuning: { ballastBytes: 0, freeBytes: 0, ...tuning } })
  const { state } = opened
  const notes = state.collection<KeptNote>(unkept(notesSpec, kept))
  const marks = state.collection<Mark>(unkept(without === 'marks' ? { ...marksSpec, name: 'others' } : marksSpec, kept))
  const plain = state.collection<Mark>(unkept(plainSpec, false))
  const journal = state.stream<string>(unkept(journalSpec, kept))
  state.retention.closeAt(kind, { age: day, records: Infinity, bytes: Infinity })
  const report = await opened.load()
  const write = async (more: Partial<KeptNote> = {}): Promise<KeptNote> => {
    const note = { id: ids.make('note'), owner: 'ann', at: clock.now(), done: true, text: 'new', ...more }
    await state.commit((tx) => {
      tx.insert(notes, note)
      tx.insert(marks, { id: ids.make('mark'), note: note.id })
      tx.insert(plain, { id: ids.make('plain'), note: note.id })
      tx.append(journal, note.owner, `wrote ${note.id}`)
    })
    return note
  }
  const change = async (note: KeptNote, more: Partial<KeptNote>): Promise<KeptNote> => {
    const changed = { ...note, ...more }
    await state.commit((tx) => {
      tx.put(notes, changed)
      tx.append(journal, changed.owner, `changed ${note.id}`)
    })
    return changed
  }
  const pass = (days = 2): void => {
    clock.advance(days * day)
    times.set(root, clock.now())
  }
  const fall = async (upto: number): Promise<Fall> => {
    const newest = state.retention.kinds()[0]?.partitions.at(-1)?.no
    if (upto === newest) await state.retention.checkpoint(new Set([kind]))
    return state.retention.fall(state.retention.preview(kind, upto))
  }
  return { ...opened, root, clock, ids, report, notes, marks, plain, journal, write, change, pass, fall }
}

export const declared: Declarations = {
  collections: new Map<string, never>(
    Object.entries({ kept_notes: notesSpec, kept_marks: marksSpec, plain_marks: plainSpec }) as never,
  ),
  streams: new Map<string, never>(Object.entries({ kept_journal: journalSpec }) as never),
}

export const verifyKept = (root: string, disk: Disk = createDisk()): Promise<VerifyReport> =>
  verifyRoot({ root, disk, clock: createClock(), declared, live: false })

/** Everything a reader can see. */
export const viewKept = ({ notes, marks, journal }: KeptNotes) => ({
  notes: notes.list({ index: 'all', group: 'all', limit: 10_000 }),
  counts: ['all', 'by_owner', 'text'].map((index) =>
    notes
      .groups(index)
      .toSorted()
      .map((group) => [group, notes.count(index, group), notes.ids(index, group)]),
  ),
  marks: marks.ids('all', 'all'),
  journal: [...journal.owners()]
    .toSorted()
    .map((owner) => [
      owner,
      journal.first(owner),
      journal.length(owner),
      journal.read(owner, { after: 0, limit: 10_000 }),
    ]),
})
