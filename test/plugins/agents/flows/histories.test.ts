/** Random flows against a second derivation, from what the other routes say: at every moment both are the same. */
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { publish, startFlow } from '../../../support/flows.js'
import { openSession } from '../../../support/runs.js'
import { volume } from '../../../support/volume.js'

const clock = createClock()

/** Numbers below 1, the same for the same seed. */
const numbers = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
type Random = () => number
const pick = <T>(random: Random, all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)]

const script = (random: Random, depth: number): string => {
  const steps: (() => string)[] = [
    () => '/say ok',
    () => `/sleep ${Math.floor(random() * 150)}`,
    () => '/tool task_create {"title":"T","description":"d"}',
    () => '/tool todo_write {"todos":[]}',
    () => (random() < 0.4 ? '/fail fatal no' : '/say fine'),
    () => (random() < 0.8 ? '/ask Which? | A | B' : '/say sure'),
  ]
  const spawn = (): string => {
    const input = { name: 'w', description: 'w', prompt: script(random, depth - 1), run_in_background: true }
    return `/tool spawn_agent ${JSON.stringify(input)}`
  }
  const all = depth > 0 ? [...steps, spawn, spawn] : steps
  const lines = Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(random, all)?.() ?? '/say x')
  return [...lines, '---', '/say end'].join('\n')
}

interface Facts {
  readonly runs: readonly { readonly run_id: string; readonly session_id: string; readonly status: string }[]
  readonly tasks: readonly { readonly id: string; readonly status: string }[]
}

/** What belongs to a flow whose session is its own, from other routes. */
const factsOf = async ({ request }: Reachable, session_id: string): Promise<Facts> => {
  const agents: any[] = (await request('GET', '/v1/agents/summaries')).body
  const all: any[] = []
  for (let cursor = ''; ;) {
    const { items, pagination } = (await request('GET', `/v1/runs?limit=100&page=true${cursor}`)).body
    all.push(...items)
    if (!pagination.has_more) break
    cursor = `&cursor=${pagination.next_cursor}`
  }
  const sessions = new Set([session_id])
  for (let size = 0; size !== sessions.size;) {
    size = sessions.size
    const ours = new Set(all.flatMap((run) => (sessions.has(run.session_id) ? [run.run_id] : [])))
    for (const agent of agents) if (ours.has(agent.spawned_by_run_id)) sessions.add(agent.session_id)
  }
  const tasks: any[] = []
  for (const one of sessions) tasks.push(...(await request('GET', `/v1/sessions/${one}/tasks`)).body)
  return {
    runs: all
      .filter((run) => sessions.has(run.session_id))
      .map(({ run_id, session_id: of, status }) => ({ run_id, session_id: of, status })),
    tasks: tasks.map(({ id, status }) => ({ id, status })),
  }
}

const derived = ({ runs, tasks }: Facts): string => {
  const has = (...words: string[]) => [...runs, ...tasks].some(({ status }) => words.includes(status))
  if (has('failed')) return 'failed'
  if (has('cancelled')) return 'cancelled'
  if (has('waiting_for_approval', 'waiting_for_user_question', 'blocked')) return 'waiting'
  if (has('queued', 'running', 'pending', 'in_progress')) return 'running'
  return has('interrupted') ? 'interrupted' : 'succeeded'
}

/** One thing that people do with what is there. */
const disturb = async ({ request }: Reachable, random: Random, { runs, tasks }: Facts): Promise<void> => {
  const open = runs.filter(({ status }) => !['completed', 'failed', 'interrupted', 'cancelled'].includes(status))
  const run = pick(random, open)
  const what = random()
  if (run !== undefined && what < 0.15) await request('POST', `/v1/runs/${run.run_id}/cancel`, {})
  else if (run !== undefined && what < 0.3) await request('POST', `/v1/sessions/${run.session_id}/interrupt`, {})
  else if (run !== undefined && run.status === 'waiting_for_user_question') {
    const { body } = await request('GET', `/v1/runs/${run.run_id}`)
    const resolution = { request_id: body.pending_question_ids?.[0] ?? 'gone', answers: [], declined: true }
    await request('POST', `/v1/runs/${run.run_id}/questions`, { resolution })
  }
  const task = pick(random, tasks)
  const session_id = pick(random, runs)?.session_id
  if (task === undefined || session_id === undefined || what < 0.5) return
  const status = pick(random, ['completed', 'completed', 'blocked', 'in_progress', 'failed'])
  const content = `/tool task_update {"task_id":"${task.id}","status":"${status}"}`
  await request('POST', `/v1/sessions/${session_id}/runs`, { content })
}

const settled = ['succeeded', 'failed', 'cancelled', 'interrupted']

test('flows-7, flows-8, flows-9: at every moment a flow is what a second derivation says, and then stays so', async (t) => {
  const daemon = await startTestDaemon(t)
  const playbook_ref = await publish(daemon)
  const seen = new Map<string, number>()
  let compared = 0
  for (let seed = 1; seed <= volume(6, 30); seed += 1) {
    const random = numbers(seed)
    const session_id = await openSession(daemon, `h${seed}`)
    const flow_id = `f${seed}`
    await startFlow(daemon, { playbook_ref, flow_id, session_id, content: script(random, 2) })
    let end: any
    for (let look = 0; look < 12; look += 1) {
      const before = await factsOf(daemon, session_id)
      const { body: flow } = await daemon.request('GET', `/v1/flows/${flow_id}`)
      const after = await factsOf(daemon, session_id)
      if (end === undefined && JSON.stringify(before) === JSON.stringify(after)) {
        // Runs that people submit beside the flow in its own session are none of it.
        const [root] = flow.primitive_refs.run_ids
        const own = after.runs.filter((run) => run.session_id !== session_id || run.run_id === root)
        t.is(flow.status, derived({ ...after, runs: own }), `seed ${seed}, ${JSON.stringify({ after, flow })}`)
        t.deepEqual([...flow.primitive_refs.run_ids].toSorted(), own.map(({ run_id }) => run_id).toSorted())
        compared += 1
      }
      if (end !== undefined) t.like(flow, { status: end.status, completed_at_ms: end.completed_at_ms })
      else if (settled.includes(flow.status)) end = flow
      await disturb(daemon, random, after)
      await clock.sleep(random() * 30)
    }
    const { status } = (await daemon.request('GET', `/v1/flows/${flow_id}`)).body
    seen.set(status, (seen.get(status) ?? 0) + 1)
  }
  t.log(`${compared} moments`, Object.fromEntries(seen))
  t.true(compared >= volume(6, 30))
  t.true(seen.size >= volume(2, 4))
})
