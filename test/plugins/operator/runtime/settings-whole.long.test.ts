/** Many change settings at once, while runs are submitted: what a run keeps was in force as a whole. */
import test from 'ava'
import { fault } from '../../../../core/base/assert.js'
import { Runs } from '../../../../plugins/execution/runs/contract.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { openSession } from '../../../support/runs.js'

interface Change {
  readonly revision: number
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}
interface Whole {
  readonly mode: string
  readonly model: string
  readonly parallel: number
}

const writers = 8
const mutations = 500
const modes = ['default', 'acceptEdits', 'plan', 'dontAsk']

const wanted = (n: number): Omit<Change, 'revision'> => {
  if (n % 3 === 0) return { path: 'permission-mode', body: { mode: modes[n % modes.length] } }
  if (n % 3 === 1) return { path: 'model', body: { model: `m${n}` } }
  return { path: 'tool-limits', body: { limits: { max_parallel_tools: n } } }
}

/** Changes until all mutations are made, each only where nobody else was faster. */
const write = async ({ request }: TestDaemon, next: () => number | undefined, made: Change[]): Promise<number> => {
  let refused = 0
  for (let n = next(); n !== undefined; n = next()) {
    const { path, body } = wanted(n)
    for (let status = 409; status === 409;) {
      const { revision } = (await request('GET', '/v1/runtime')).body.config
      const answer = await request('POST', `/v1/runtime/${path}`, { ...body, expected_revision: revision })
      status = answer.status
      if (status === 200) made.push({ revision: revision + 1, path, body })
      else refused += 1
    }
  }
  return refused
}

const after = (whole: Whole, { path, body }: Change): Whole => {
  if (path === 'permission-mode') return { ...whole, mode: String(body['mode']) }
  if (path === 'model') return { ...whole, model: String(body['model']) }
  const limits: any = body['limits']
  return { ...whole, parallel: limits.max_parallel_tools }
}

test('runtime-30: of 500 changes by eight writers each that was acknowledged is a revision, and runs keep whole ones', async (t) => {
  const lent = lender({ runs: Runs })
  const daemon = await startTestDaemon(t, { plugins: [lent.plugin] })
  const initial = (await daemon.request('GET', '/v1/runtime')).body
  let left = mutations
  const next = (): number | undefined => (left === 0 ? undefined : (left -= 1))
  const made: Change[] = []
  const work = Promise.all(Array.from({ length: writers }, () => write(daemon, next, made)))
  let working = true
  const ended = work.finally(() => {
    working = false
  })
  const run_ids: string[] = []
  for (let n = 0; working || n < 20; n += 1) {
    const session_id = await openSession(daemon, `s${n % 16}`)
    run_ids.push((await daemon.request('POST', `/v1/sessions/${session_id}/runs`, { content: 'hello' })).body.run_id)
  }
  const refused = (await ended).reduce((sum, one) => sum + one, 0)
  t.true(refused > 0)
  made.sort((a, b) => a.revision - b.revision)
  t.deepEqual(
    made.map(({ revision }) => revision),
    Array.from({ length: mutations }, (_, at) => at + 1),
  )
  const first = { mode: 'default', model: 'demo', parallel: initial.tool_runtime_limits.max_parallel_tools }
  const all: Whole[] = [first]
  for (const change of made) all.push(after(all.at(-1) ?? first, change))
  const revisions = new Set<number>()
  for (const run_id of run_ids) {
    const run = lent.services().runs.find(run_id)
    if (run?.pinned === undefined) throw fault(`${run_id} keeps nothing`)
    const { revision, permission_mode: mode, limits } = run.pinned
    revisions.add(revision)
    t.deepEqual({ mode, model: run.model, parallel: limits?.max_parallel_tools ?? first.parallel }, all[revision])
  }
  t.true(revisions.size > 5)
  const last = all.at(-1) ?? first
  const { body } = await daemon.request('GET', '/v1/runtime')
  t.like(body, { permission_mode: last.mode, model: last.model, config: { revision: mutations } })
})
