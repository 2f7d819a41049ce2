/** A real process, killed at each step of a start: the run, the task and its message are there together, or not. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { rootForKills } from '../../../support/folders.js'
import { createPause } from '../../../support/pause.js'
import { partOf } from '../../../support/volume.js'
import { ada } from './garden.js'

const preload = pathToFileURL(join(import.meta.dirname, '../../../support/kill-step.js')).href

const prepare = async ({ request }: SpawnedDaemon, count: number): Promise<void> => {
  await request('POST', '/v1/sessions', { session_id: 's1' })
  await request('POST', '/v1/channels', { channel_id: 'beds', title: 'Beds' })
  await request('POST', '/v1/projects', {
    project_id: 'garden',
    display_name: 'The garden',
    members: [ada],
    channel_links: [{ channel_id: 'beds', mirror_members: true }],
  })
  for (let n = 0; n < count; n += 1)
    await request('POST', '/v1/projects/garden/tasks', {
      project_task_id: `t${n}`,
      title: `t${n}`,
      assignee_member_id: 'ada',
    })
}

/** Every task is started, or as it was: of each started one there is a run and a message. */
const check = async ({ request }: SpawnedDaemon): Promise<{ readonly started: number; readonly faults: string[] }> => {
  const tasks: any[] = (await request('GET', '/v1/projects/garden/tasks')).body
  const messages: any[] = (await request('GET', '/v1/channels/beds/messages')).body
  const runs: any[] = (await request('GET', '/v1/runs?limit=100')).body
  const faults: string[] = []
  const started = tasks.filter(({ latest_run_id }) => latest_run_id !== undefined)
  for (const task of started) {
    const { project_task_id, latest_run_id, discussion, status } = task
    const own = runs.filter(({ input_metadata }) => input_metadata?.project_task_id === project_task_id)
    if (own.length !== 1 || own[0].run_id !== latest_run_id) faults.push(`${project_task_id} has ${own.length} runs`)
    if (status === 'failed') faults.push(`${project_task_id} failed: ${task.output}`)
    const said = messages.filter(({ metadata }) => metadata.project_task_id === project_task_id)
    if (said.length !== 1 || said[0].message_id !== discussion?.thread_root_message_id)
      faults.push(`${project_task_id} has ${said.length} messages`)
  }
  if (runs.length !== started.length) faults.push(`${runs.length} runs of ${started.length} tasks`)
  if (messages.length !== started.length) faults.push(`${messages.length} messages of ${started.length} tasks`)
  return { started: started.length, faults }
}

/** Under a key, so that whoever was not answered may ask again. */
const start = ({ request }: SpawnedDaemon, n: number) =>
  request('POST', `/v1/projects/garden/tasks/t${n}/start`, {}, { 'idempotency-key': `k${n}` })

const allDone = async ({ request }: SpawnedDaemon): Promise<any[]> => {
  for (const pause = createPause(); ; await pause()) {
    const tasks: any[] = (await request('GET', '/v1/projects/garden/tasks')).body
    if (tasks.every(({ status }) => status === 'completed')) return tasks
  }
}

test('projects-19, projects-22: through kills a start is whole or nothing, and every task comes to its end', async (t) => {
  const root = rootForKills()
  const armed = join(root, '..', `armed-${process.pid}`)
  t.teardown(() => {
    rmSync(root, { recursive: true, force: true })
    rmSync(armed, { force: true })
  })
  const count = partOf(8, 12)
  const first = await spawnDaemon({ root })
  await prepare(first, count)
  await first.kill('SIGKILL')
  let [kills, whole] = [0, 0]
  for (let n = 0; n < count; n += 1) {
    rmSync(armed, { force: true })
    // Counted from the start on: each life dies one step later, in front of, within or behind the commit.
    const env = { NODE_OPTIONS: `--import ${preload}`, KILL_AT: String(1 + (n % 4)), KILL_WHEN: armed }
    const daemon = await spawnDaemon({ root, env })
    writeFileSync(armed, '')
    const answer = await start(daemon, n).catch(() => undefined)
    if (answer?.status === 202) whole += 1
    else kills += 1
    await daemon.kill('SIGKILL')
    rmSync(armed, { force: true })
    const after = await spawnDaemon({ root })
    t.deepEqual((await check(after)).faults, [], `start ${n}`)
    const before: string | undefined = (await after.request('GET', `/v1/projects/garden/tasks/t${n}`)).body
      .latest_run_id
    const again = await start(after, n)
    t.is(again.status, 202, 'the key names the run that is there, or makes one')
    if (before !== undefined) t.is(again.body.run_id, before)
    t.deepEqual((await check(after)).faults, [], `start ${n} again`)
    await after.kill('SIGKILL')
  }
  t.log(`${kills} starts were killed, ${whole} were answered`)
  t.true(kills > 3)
  const last = await spawnDaemon({ root })
  await allDone(last)
  t.deepEqual(await check(last), { started: count, faults: [] })
  await last.kill('SIGKILL')
})
