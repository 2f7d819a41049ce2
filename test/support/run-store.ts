/** The records and journal of runs on a disk, without a daemon around them. */
import type { ExecutionContext } from 'ava'
import { rm } from 'node:fs/promises'
import { fault } from '../../core/base/assert.js'
import { createClock, type Clock } from '../../core/base/clock.js'
import { createIds } from '../../core/base/ids.js'
import { unsafeCast } from '../../core/base/schema.js'
import type { Collection } from '../../core/plugin.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { openState } from '../../core/state/store/root.js'
import { editRun, type RunEdit } from '../../plugins/execution/runs/lifecycle/run-changes.js'
import type { ChangeContext } from '../../plugins/execution/runs/lifecycle/run-engine.js'
import type { RunRecord, RunStatus } from '../../plugins/execution/runs/contract.js'
import { createActivity } from '../../plugins/execution/runs/views/session-status.js'
import { createSessions } from '../../plugins/execution/sessions/directory.js'
import { sessionJournal } from '../../plugins/execution/sessions/record/journal.js'
import { sessionCollection } from '../../plugins/execution/sessions/record/store.js'
import type { JournalEntry, PersonaSource, Sessions } from '../../plugins/execution/sessions/contract.js'
import { threadStarts, type ThreadStart } from '../../plugins/execution/engine/thread/threads.js'
import { declareStore } from '../../plugins/execution/runs/record/store.js'
import { freshRoot } from './daemon.js'

/** A clock whose wall time stands still until a test moves it. */
export const stillClock = (): Clock & { at: number } => {
  const clock = { ...createClock(), at: 1_800_000_000_000, now: () => clock.at }
  return clock
}

export interface RunStoreOptions {
  readonly clock?: Clock
  readonly ledger?: ChangeContext['ledger']
  readonly sessions?: object
  /** Ids of sessions that are there with their own service, in place of one that knows none. */
  readonly known?: readonly string[]
}

export interface OpenRunStore extends ChangeContext {
  /** What was published, each event as it would be sent. */
  readonly published: any[]
  readonly service: Sessions
  readonly starts: Collection<ThreadStart>
}

const noPersonas: PersonaSource = {
  freeze: () => {
    throw fault('there are no personas here')
  },
  require: () => {},
  soul: () => '',
  keepSoul: () => {},
  letGo: () => {},
}

export const openRunStore = async (
  t: ExecutionContext<any>,
  { clock = createClock(), ledger = () => undefined, sessions = {}, known = [] }: RunStoreOptions = {},
): Promise<OpenRunStore> => {
  const quiet = (): void => {}
  const root = await freshRoot()
  const published: any[] = []
  const ids = createIds(clock)
  const opened = await openState({
    root,
    disk: createDisk(),
    clock,
    ids,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    publish: ({ name, data }) => void published.push({ type: name, ...data() }),
    generation: 5,
  })
  const journal = opened.state.stream(sessionJournal)
  const store = declareStore(opened.state, { journal })
  const starts = opened.state.collection(threadStarts)
  const service = createSessions({
    state: opened.state,
    ids,
    interception: () => undefined,
    collection: opened.state.collection(sessionCollection),
    personas: noPersonas,
    journal,
    activity: () => createActivity(store, service),
    holds: () => [],
    guards: () => [],
    observers: { tell: quiet },
    members: () => [],
    goals: () => undefined,
    agents: () => undefined,
  })
  await opened.load()
  await opened.state.commit((tx) => {
    for (const session_id of known)
      tx.insert(service.collection, { session_id, agent_id: `agent of ${session_id}`, created_at_ms: 1 })
  })
  t.teardown(async () => {
    await opened.close()
    await rm(root, { recursive: true, force: true })
  })
  const stub = unsafeCast<Sessions>({ announce: quiet, find: quiet, rest: quiet, ...sessions })
  return {
    store,
    sessions: known.length > 0 ? service : stub,
    service,
    starts,
    published,
    ledger,
    books: () => undefined,
    assets: () => undefined,
    halted: quiet,
  }
}

/** A record as an earlier life of the daemon may have left it. */
export const runRecord = (run_id: string, session_id: string, status: RunStatus, more: object = {}): RunRecord =>
  unsafeCast({
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

type Steps = readonly ((edit: RunEdit) => unknown)[]

/** Changes a run, each step in a commit of its own. */
export const changeRun = async (context: ChangeContext, before: RunRecord, ...steps: Steps): Promise<RunRecord> => {
  let run = before
  for (const step of steps)
    run = await context.store.state.commit((tx) => {
      const edit = editRun(context, tx, run)
      step(edit)
      return edit.save()
    })
  return run
}

/** Accepts a run and changes it. */
export const playRun = async (context: ChangeContext, before: RunRecord, ...steps: Steps): Promise<RunRecord> => {
  const { store } = context
  const now = await store.state.commit(({ now: at }) => at)
  const first = store.journal.length(before.session_id) + 1
  return changeRun(context, { ...before, submitted_at_ms: now, updated_at_ms: now, first }, accept, ...steps)
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
export const journalOf = ({ store }: ChangeContext, session_id: string): JournalEntry[] =>
  store.journal.read(session_id, { after: 0, limit: 1_000_000 }).map(({ entry }) => entry)
