/** Tasks and commands in the background of a real process, for tests that look at them from outside. */
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestFn } from 'ava'
import { fault } from '../../core/base/assert.js'
import { createClock } from '../../core/base/clock.js'
import { rootTag } from '../../core/processes/marker.js'
import { readProcesses } from '../../core/state/root/process-table.js'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from './daemon.js'
import { openSession, submit, until } from './runs.js'

const clock = createClock()

/** Processes that carry the marker of commands of this root. */
export const markedBy = async (root: string): Promise<number[]> =>
  (await readProcesses()).filter(({ marker }) => marker?.startsWith(`${rootTag(root)}.`) === true).map(({ pid }) => pid)

export interface TaskedDaemon extends SpawnedDaemon {
  readonly workspace: string
  readonly session: string
  /** The path of the session. */
  readonly at: string
  /** Makes one call in a run of the session; answers with what the tool said. */
  call(tool: string, input?: object): Promise<any>
  /** Starts a command in the background; answers with its task as it began. */
  background(command: string): Promise<any>
  /** Waits for a file in the workspace. */
  file(name: string): Promise<void>
  task(id: string): Promise<any>
  output(id: string, query?: string): Promise<any>
  /** Waits for the end of a task; answers with its whole output. */
  ended(id: string): Promise<any>
  /** The same root in another process. */
  again(): Promise<TaskedDaemon>
}

interface Owner {
  teardown(undo: () => unknown): void
}
interface Place {
  readonly owner: Owner
  readonly workspace: string
  readonly session: string
}

const spawnTasked = async (owner: Owner, root: string, workspace: string): Promise<SpawnedDaemon> => {
  const daemon = await spawnDaemon({
    root,
    flags: ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions'],
  })
  owner.teardown(() => daemon.kill('SIGKILL'))
  return daemon
}

const dress = (daemon: SpawnedDaemon, place: Place): TaskedDaemon => {
  const { owner, workspace, session } = place
  const at = `/v1/sessions/${session}`
  const lastOutcome = async (run_id: string): Promise<any> =>
    (await daemon.request('GET', `${at}/events`)).body.session.journal.findLast(
      (entry: any) => entry.run_id === run_id && entry.type === 'outcome',
    )?.entry.output
  const call = async (tool: string, input: object = {}): Promise<any> => {
    const { run_id } = await submit(daemon, session, `/tool ${tool} ${JSON.stringify(input)}`)
    await until(daemon, run_id, 'completed', 'failed')
    return lastOutcome(run_id)
  }
  const output = async (id: string, query = ''): Promise<any> =>
    (await daemon.request('GET', `${at}/tasks/${id}/output${query}`)).body
  return {
    ...daemon,
    workspace,
    session,
    at,
    call,
    output,
    background: async (command) => (await call('bash', { command, workdir: session, run_in_background: true })).task,
    async file(name) {
      while (!existsSync(join(workspace, session, name))) await clock.sleep(10)
    },
    task: async (id) => (await daemon.request('GET', `${at}/tasks/${id}`)).body,
    ended: (id) => output(id, '?wait=true&timeout_ms=60000&full=true'),
    again: async () => dress(await spawnTasked(owner, daemon.root, workspace), place),
  }
}

/** A session of its own in a daemon, with a folder of its name in the workspace. */
const enter = async (daemon: SpawnedDaemon, place: Place): Promise<TaskedDaemon> => {
  await mkdir(join(place.workspace, place.session))
  await openSession(daemon, place.session)
  return dress(daemon, place)
}

const prepare = async (owner: Owner): Promise<{ daemon: SpawnedDaemon; workspace: string }> => {
  const root = await freshRoot()
  const workspace = `${root}-workspace`
  owner.teardown(() => Promise.all([root, workspace].map((folder) => rm(folder, { recursive: true, force: true }))))
  await mkdir(workspace)
  const daemon = await spawnTasked(owner, root, workspace)
  return { daemon, workspace }
}

/** A daemon of its own that allows every tool, with one session. */
export const startTasked = async (owner: Owner): Promise<TaskedDaemon> => {
  const { daemon, workspace } = await prepare(owner)
  return enter(daemon, { owner, workspace, session: 's1' })
}

/** One daemon for a file of tests that leave it running; every call gives a session of its own. */
export const shareTasked = (test: TestFn<any>): (() => Promise<TaskedDaemon>) => {
  let shared: Awaited<ReturnType<typeof prepare>> | undefined
  let sessions = 0
  const undos: (() => unknown)[] = []
  const owner: Owner = { teardown: (undo) => void undos.push(undo) }
  test.before(async () => {
    shared = await prepare(owner)
  })
  test.after.always(async () => {
    for (const undo of undos.toReversed()) await undo()
  })
  return () => {
    if (shared === undefined) throw fault('the shared daemon is not up')
    sessions += 1
    return enter(shared.daemon, { owner, workspace: shared.workspace, session: `s${sessions}` })
  }
}
