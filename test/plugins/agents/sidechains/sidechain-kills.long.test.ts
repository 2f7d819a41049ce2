/** A real process, killed again and again while runs start agents and wait for them: each has exactly one. */
import { rmSync } from 'node:fs'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { mainFile, spawnDaemon } from '../../../support/daemon.js'
import { sh } from '../../../support/docs.js'
import { rootForKills } from '../../../support/folders.js'
import { partOf } from '../../../support/volume.js'

const clock = createClock()
/** Each life starts one more, and is killed. */
const parents = partOf(10, 40)
const task = '/tool spawn_agent {"name":"part","prompt":"/sleep 1500\\n/say Done.","wait":true}\n/say All done.'

test('agents-1, agents-14, agents-15: through kills each run starts one agent, waits for it, and reads its answer', async (t) => {
  const root = rootForKills()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  let daemon = await spawnDaemon({ root })
  const runs: string[] = []
  for (let n = 0; n < parents; n += 1) {
    await daemon.request('POST', '/v1/sessions', { session_id: `p${n}` })
    runs.push((await daemon.request('POST', `/v1/sessions/p${n}/runs`, { content: task })).body.run_id)
    await clock.sleep((n * 11) % 60)
    await daemon.kill('SIGKILL')
    daemon = await spawnDaemon({ root })
  }
  const isOver = async (): Promise<boolean> => {
    const all = await Promise.all(runs.map(async (run_id) => (await daemon.request('GET', `/v1/runs/${run_id}`)).body))
    return all.every(({ finished_at_ms }) => finished_at_ms !== undefined)
  }
  while (!(await isOver())) await clock.sleep(50)
  for (const [n, run_id] of runs.entries()) {
    const run = (await daemon.request('GET', `/v1/runs/${run_id}`)).body
    t.is(run.status, 'completed', run.error)
    const { agent_id } = (await daemon.request('GET', `/v1/sessions/p${n}`)).body
    const [, ...children]: any[] = (await daemon.request('GET', `/v1/agents/summaries?root=${agent_id}`)).body
    t.is(children.length, 1)
    t.like(children[0], { spawned_by_run_id: run_id, status: 'completed', last_output_preview: 'Done.' })
    const journal = JSON.stringify((await daemon.request('GET', `/v1/sessions/p${n}/events`)).body)
    t.true(journal.includes('"final_output":"Done."'))
  }
  await daemon.stop()
  const verified = await sh(`'${process.execPath}' '${mainFile}' state verify --state-root '${root}'`, root)
  t.is(verified.code, 0, verified.out + verified.err)
})
