/** The records and journal of runs on a disk, without a daemon around them. */
import type { ExecutionContext } from 'ava'
import { rm } from 'node:fs/promises'
import { createClock, type Clock } from '../../core/clock.js'
import { createIds } from '../../core/ids.js'
import { trusted } from '../../core/schema.js'
import { createDisk } from '../../core/state/real-disk.js'
import { openState } from '../../core/state/root.js'
import { editRun, type EditParts, type RunEdit } from '../../plugins/execution/runs/edit.js'
import type { JournalEntry, RunRecord, RunStatus } from '../../plugins/execution/runs/contract.js'
import { declareStore } from '../../plugins/execution/runs/store.js'
import { freshRoot } from './daemon.js'

/** A clock whose wall time stands still until a test moves it. */
export const stillClock = (): Clock & { at: number } => {
  const clock = { ...createClock(), at: 1_800_000_000_000, now: () => clock.at }
  return clock
}

export interface RunStoreOptions {
  readonly clock?: Clock
  readonly ledger?: EditParts['ledger']
  readonly sessions?: object
}

export const openRunStore = async (
  t: ExecutionContext<any>,
  { clock = createClock(), ledger = () => undefined, sessions = {} }: RunStoreOptions = {},
): Promise<EditParts> => {
  const quiet = (): void => {}
  const root = await freshRoot()
  const opened = await openState({
    root,
    disk: createDisk(),
    clock,
    ids: createIds(clock),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    publish: quiet,
    generation: 5,
  })
  const store = declareStore(opened.state)
  await opened.load()
  t.teardown(async () => {
    await opened.close()
    await rm(root, { recursive: true, force: true })
  })
  return { store, sessions: trusted({ announce: quiet, find: quiet, ...sessions }), ledger, rested: quiet }
}

/** A record as an earlier life of the daemon may have left it. */
export const runRecord = (run_id: string, session_id: string, status: RunStatus, more: object = {}): RunRecord =>
  trusted({
    run_id,
    session_id,
    agent_id: 'a',
    kind: 'input',
    submitted_at_ms: 1,
    updated_at_ms: 1,
    source_plugin: 'http',
    source_kind: 'api',
    actor_id: 'o',
    text_preview: '',
    provider: 'demo',
    model: 'demo',
    first: 1,
    last: 1,
    owner: 4,
    status,
    ...(status !== 'queued' && { started_at_ms: 1 }),
    ...(status.startsWith('waiting') && { waiting: 1, pending: ['r'] }),
    ...more,
  })

/** Accepts a run and changes it, each step in a commit of its own. */
export const playRun = async (
  parts: EditParts,
  before: RunRecord,
  ...steps: readonly ((edit: RunEdit) => unknown)[]
): Promise<RunRecord> => {
  const { store } = parts
  let run: RunRecord = {
    ...before,
    submitted_at_ms: 0,
    first: store.journal.length(before.session_id) + 1,
  }
  for (const step of [accept, ...steps])
    run = await store.state.commit((tx) => {
      const now = run.submitted_at_ms === 0 ? { ...run, submitted_at_ms: tx.now, updated_at_ms: tx.now } : run
      const edit = editRun(parts, tx, now)
      step(edit)
      return edit.save()
    })
  return run
}

const accept = (edit: RunEdit): void => {
  edit.event({ type: 'accepted', content: 'do it' })
  edit.enqueue(1)
}

export const start = (edit: RunEdit): void => edit.step({ to: 'running' }, { type: 'started' })
export const say = (content: string) => (edit: RunEdit) => edit.output({ content, source_kind: 'assistant_text' })
export const complete = (edit: RunEdit): void => edit.step({ to: 'completed' }, { type: 'completed' })
export const fail =
  (error: string) =>
  (edit: RunEdit): void =>
    edit.step({ to: 'failed', error }, { type: 'failed', error })

/** The journal of a session, whole. */
export const journalOf = ({ store }: EditParts, session_id: string): JournalEntry[] =>
  store.journal.read(session_id, { after: 0, limit: 1_000_000 }).map(({ entry }) => entry)
