/**
 * The life of a worktree: each step is on the disk before git takes the next one, so that a start knows what a crash
 * cut off. What a run left is never removed but by a person.
 */
import {
  codeOf,
  Problem,
  type Clock,
  type Collection,
  type Ids,
  type Log,
  type State,
  thrownText,
} from '../../../core/plugin.js'
import type { Interception } from '../../execution/interception/contract.js'
import type { RunFolder, RunWorktree, RunWorkspaces, Runs } from '../../execution/runs/contract.js'
import type { Tasks } from '../../execution/tasks/contract.js'
import type { Worktree } from './contract.js'
import { worktreeErrors } from './errors.js'
import { allOf, everything, type WorktreeRecord } from './store.js'
import {
  besideOf,
  discard,
  folderOf,
  isWhole,
  leftIn,
  lookAt,
  lossOf,
  make,
  unavailable,
  type Ground,
} from './worktree.js'

export interface KeeperParts extends Ground {
  readonly state: State
  readonly worktrees: Collection<WorktreeRecord>
  readonly runs: Pick<Runs, 'find' | 'get'>
  readonly tasks: () => Pick<Tasks, 'listOpen'> | undefined
  /** Is told of worktrees; absent while no plugin listens. */
  readonly interception: () => Interception | undefined
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly most: number
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal
}

export interface Keeper extends RunWorkspaces {
  view(record: WorktreeRecord): Worktree
  /** A run has ended: its worktree is removed, or kept with what is in it. Never rejects. */
  close(run_id: string): Promise<void>
  /** What a removal would take. Throws as `remove`. */
  plan(run_id: string): Promise<Worktree>
  /**
   * Removes a kept one. Throws `worktree_not_found`, `worktree_in_use`, `worktree_not_removed` and what `Runs.get`
   * throws.
   */
  remove(run_id: string): Promise<Worktree>
  /** Goes on with what an earlier life of the daemon left. Never rejects. */
  sweep(): Promise<void>
}

export const createKeeper = (parts: KeeperParts): Keeper => {
  const { worktrees, signal } = parts
  return {
    async check(session_id) {
      checkRoom(parts, session_id)
      await lookAt(parts, session_id, signal)
    },
    open: (run, stop) => open(parts, run, AbortSignal.any([signal, stop])),
    find: (run_id) => {
      const record = worktrees.find(run_id)
      return record === undefined ? undefined : shown(parts, record)
    },
    view: (record) => viewOf(parts, record),
    close: (run_id) => quietly(parts, run_id, close),
    plan: (run_id) => plan(parts, run_id),
    remove: (run_id) => remove(parts, run_id),
    async sweep() {
      for (const { run_id } of allOf(worktrees)) await quietly(parts, run_id, settle)
    },
  }
}

const shown = (parts: Ground, record: WorktreeRecord): RunWorktree => ({
  path: folderOf(parts, record),
  base_commit: record.base_commit,
  state: record.state,
})

const viewOf = (parts: Ground, record: WorktreeRecord): Worktree => {
  const { run_id, session_id, name, repository, git_dir, created_at_ms, kept_for } = record
  return {
    run_id,
    session_id,
    ...shown(parts, record),
    repository,
    work_tree: parts.folders.path(name),
    ...(git_dir !== undefined && { git_dir }),
    created_at_ms,
    ...(kept_for !== undefined && { kept_for }),
  }
}

const checkRoom = ({ worktrees, most }: KeeperParts, session_id: string): void => {
  if (worktrees.count('all', everything) >= most)
    throw unavailable(
      session_id,
      `there are ${most} worktrees, and worktrees.most allows no more: holdfast worktrees list`,
    )
}

const put = ({ state, worktrees }: KeeperParts, record: WorktreeRecord): Promise<void> =>
  state.commit((tx) => {
    tx.put(worktrees, record)
  })

const open = async (
  parts: KeeperParts,
  run: { readonly run_id: string; readonly session_id: string },
  signal: AbortSignal,
): Promise<RunFolder> => {
  const known = parts.worktrees.find(run.run_id)
  if (known?.state === 'in_use') {
    if (isWhole(parts, known)) return { path: folderOf(parts, known), beside: besideOf(known) }
    throw unavailable(run.session_id, `its folder ${folderOf(parts, known)} is gone`)
  }
  if (known !== undefined) await drop(parts, known, signal)
  checkRoom(parts, run.session_id)
  const record: WorktreeRecord = {
    run_id: run.run_id,
    session_id: run.session_id,
    name: parts.ids.make('worktree'),
    state: 'making',
    created_at_ms: parts.clock.now(),
    ...(await lookAt(parts, run.session_id, signal)),
  }
  await put(parts, record)
  const made: WorktreeRecord = { ...record, state: 'in_use', git_dir: await make(parts, record, signal) }
  await put(parts, made)
  tell(parts, 'worktree_create', made)
  return { path: folderOf(parts, made), beside: besideOf(made) }
}

/** Removes it from the disk, from git and from the state. */
const drop = async (parts: KeeperParts, record: WorktreeRecord, signal: AbortSignal): Promise<void> => {
  await discard(parts, record, signal)
  const { state, worktrees } = parts
  await state.commit((tx) => {
    // One that was never finished was never told of.
    if (record.git_dir !== undefined) tx.after(() => tell(parts, 'worktree_remove', record))
    if (worktrees.find(record.run_id) !== undefined) tx.remove(worktrees, record.run_id, 'removed')
  })
}

const tell = (parts: KeeperParts, event: 'worktree_create' | 'worktree_remove', record: WorktreeRecord): void => {
  const { run_id, session_id, base_commit } = record
  const path = folderOf(parts, record)
  parts.interception()?.tell({ event, subject: path, session_id, run_id, payload: { path, base_commit } })
}

const worksOn = ({ tasks }: KeeperParts, { run_id, session_id }: WorktreeRecord): boolean =>
  tasks()
    ?.listOpen({ session_id })
    .some(({ runner, metadata }) => runner !== undefined && metadata?.['created_by_run_id'] === run_id) === true

const keptFor = async (parts: KeeperParts, record: WorktreeRecord): Promise<Worktree['kept_for']> => {
  if (worksOn(parts, record)) return 'background_command'
  const left = await leftIn(parts, record, parts.signal)
  return left === 'nothing' ? undefined : left
}

const close = async (parts: KeeperParts, run_id: string): Promise<void> => {
  const record = parts.worktrees.find(run_id)
  if (record === undefined || record.state === 'kept') return
  if (record.state === 'in_use') {
    const kept_for = await keptFor(parts, record)
    if (parts.signal.aborted) return
    if (kept_for !== undefined) return put(parts, { ...record, state: 'kept', kept_for })
    await put(parts, { ...record, state: 'closing' })
  }
  await dropOrKeep(parts, record)
}

/** One that cannot be removed is kept with what is left of it. Throws `worktree_not_removed`. */
const dropOrKeep = async (parts: KeeperParts, record: WorktreeRecord): Promise<void> => {
  try {
    await drop(parts, record, parts.signal)
  } catch (error) {
    if (parts.signal.aborted || error instanceof Problem) throw error
    await put(parts, { ...record, state: 'kept', kept_for: 'removal_failed' })
    const reason = codeOf(error) ?? 'the system does not say why'
    throw worktreeErrors.worktree_not_removed({ details: { run_id: record.run_id, reason }, cause: error })
  }
}

/** What a start makes of one that it finds. */
const settle = async (parts: KeeperParts, run_id: string): Promise<void> => {
  const { worktrees, runs, folders, signal } = parts
  const record = worktrees.find(run_id)
  const run = runs.find(run_id)
  if (record === undefined || (run !== undefined && !('finished_at_ms' in run))) return
  if (record.state !== 'kept') return close(parts, run_id)
  if (!isWhole({ folders }, record)) return drop(parts, record, signal)
  // No command goes on over a start.
  if (record.kept_for !== 'background_command') return
  const { kept_for: _, ...rest } = record
  await put(parts, { ...rest, state: 'in_use' })
  await close(parts, run_id)
}

/** A kept worktree outlives its run: only where there is none does it matter whether there is such a run. */
const absentWorktree = ({ runs }: KeeperParts, run_id: string): Problem => {
  runs.get(run_id)
  return worktreeErrors.worktree_not_found({ details: { run_id } })
}

/** One that may be removed. */
const removable = (parts: KeeperParts, run_id: string): WorktreeRecord => {
  const record = parts.worktrees.find(run_id)
  if (record === undefined) throw absentWorktree(parts, run_id)
  if (record.state !== 'kept') throw worktreeErrors.worktree_in_use({ details: { run_id } })
  return record
}

const plan = async (parts: KeeperParts, run_id: string): Promise<Worktree> => {
  const record = removable(parts, run_id)
  const loss = await lossOf(parts, record, parts.signal)
  return { ...viewOf(parts, record), ...(loss !== undefined && { loss }) }
}

const remove = async (parts: KeeperParts, run_id: string): Promise<Worktree> => {
  const record = removable(parts, run_id)
  await put(parts, { ...record, state: 'closing' })
  await dropOrKeep(parts, record)
  return viewOf(parts, { ...record, state: 'closing' })
}

/** What cannot be done now is done by the next start. */
const quietly = async (
  parts: KeeperParts,
  run_id: string,
  act: (parts: KeeperParts, run_id: string) => Promise<void>,
): Promise<void> => {
  try {
    await act(parts, run_id)
  } catch (error) {
    parts.log.warn('a worktree could not be closed', { run_id, error: thrownText(error) })
  }
}
