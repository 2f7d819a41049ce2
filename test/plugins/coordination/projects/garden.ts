/** A project with two agents, a person and a channel, for tests. */
import type { ExecutionContext } from 'ava'
import type { AnyPlugin, JsonObject } from '../../../../core/plugin.js'
import { done, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { startTestDaemon, type Answer, type Reachable, type TestDaemonOptions } from '../../../support/daemon.js'
import { openSession } from '../../../support/runs.js'

export const ada = { member_id: 'ada', member_kind: 'session', display_name: 'Ada', session_id: 's1', role: 'digger' }
export const bob = { member_id: 'bob', member_kind: 'session', display_name: 'Bob', session_id: 's2' }
export const cleo = { member_id: 'cleo', member_kind: 'human_actor', display_name: 'Cleo' }
export const path = '/v1/projects/garden'

export interface Garden extends Reachable {
  readonly asked: readonly any[]
  readonly stop: () => Promise<void>
  /** A request that must succeed. */
  make(method: 'POST' | 'PUT' | 'DELETE' | 'GET', at: string, body?: object): Promise<any>
  task(id: string): Promise<any>
}

const succeeded = ({ status, body }: Answer): any => {
  if (status >= 300) throw new RangeError(`${status} ${JSON.stringify(body)}`)
  return body
}

export interface GardenOptions extends Omit<TestDaemonOptions, 'plugins' | 'config'> {
  readonly play?: Play
  /** Plugins beside the model. */
  readonly beside?: readonly AnyPlugin[]
  readonly config?: Readonly<Record<string, JsonObject>>
  /** Of the request that makes the project; nothing is made if it is null. */
  readonly project?: object | null
}

/** A daemon with the project `garden`, its sessions `s1` and `s2`, and the channel `beds`. */
export const startGarden = async (
  t: ExecutionContext<any>,
  { play, config, beside = [], project = {}, ...more }: GardenOptions = {},
): Promise<Garden> => {
  const model = scriptedProvider(play ?? (() => [text('done'), done()]))
  const daemon = await startTestDaemon(t, {
    ...more,
    plugins: [model.plugin, ...beside],
    config: { ...model.config, ...config },
  })
  const make: Garden['make'] = async (method, at, body) => succeeded(await daemon.request(method, at, body))
  if (project !== null) {
    for (const id of ['s1', 's2', 's3']) await openSession(daemon, id)
    await make('POST', '/v1/channels', { channel_id: 'beds', title: 'Beds' })
    await make('POST', '/v1/projects', {
      project_id: 'garden',
      display_name: 'The garden',
      members: [ada, bob, cleo],
      ...project,
    })
  }
  return Object.assign(daemon, {
    asked: model.requests,
    make,
    task: (id: string) => make('GET', `/v1/projects/garden/tasks/${id}`),
  })
}

/** Members of a channel by id. */
export const membersOf = async (garden: Garden, channel_id = 'beds'): Promise<any[]> =>
  garden.make('GET', `/v1/channels/${channel_id}/members`)

/** A play that does not end before it is let go. */
export const held = () => {
  let open: () => void = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const play: Play = async function* (_, __, signal) {
    await Promise.race([gate, new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))])
    yield text('done')
    yield done()
  }
  return { play, open: () => open() }
}

/** Reads a task until it is so. */
export const untilTask = async (garden: Garden, id: string, holds: (task: any) => boolean): Promise<any> => {
  for (let n = 0; n < 4_000; n += 1) {
    const task = await garden.task(id)
    if (holds(task)) return task
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new RangeError(`the task is ${JSON.stringify(await garden.task(id))}`)
}
