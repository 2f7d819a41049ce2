/** Whoever names a run that fell is told so (retention-3). */
import test, { type ExecutionContext } from 'ava'
import { jsonSchema } from '../../../../core/base/schema.js'
import { Tools } from '../../../../plugins/execution/tools/contract.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { lender } from '../../../support/plugins.js'
import { day, retain, weekOfRuns } from '../../../support/retention.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { scheduleBody } from '../../../support/schedules.js'

interface Stand extends TestDaemon {
  readonly lent: ReturnType<typeof lender>
  /** Lets everything fall that has ended. */
  readonly fall: () => Promise<void>
}
const start = async (t: ExecutionContext): Promise<Stand> => {
  const [clock, lent] = [createLeapingClock(), lender({})]
  const daemon = await startTestDaemon(t, { clock, config: { retention: weekOfRuns }, plugins: [lent.plugin] })
  await openSession(daemon)
  const fall = async (): Promise<void> => {
    await retain(daemon, true)
    clock.leap(20 * day)
    await retain(daemon, false)
  }
  return { ...daemon, lent, fall }
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

/** Every operation that takes the id of a run in its path or query, with an example of its body. */
const operationsOf = async ({ request }: TestDaemon, run_id: string): Promise<Operation[]> => {
  const { paths } = (await request('GET', '/v1/openapi.json')).body
  return Object.entries(paths).flatMap(([template, operations]: [string, any]) =>
    Object.entries(operations).flatMap(([method, { parameters = [], requestBody }]: [string, any]): Operation[] => {
      const named = parameters.filter(({ name }: any) => name === 'run_id')
      if (named.length === 0) return []
      const path = template
        .replace('{run_id}', run_id)
        .replace('{session_id}', 's1')
        .replaceAll(/\{\w+\}/gu, 'x')
      const query = named[0].in === 'query' ? `?run_id=${run_id}` : ''
      const body = requestBody?.content['application/json'].example
      return [{ method: method.toUpperCase(), path: `${path}${query}`, body }]
    }),
  )
}

/** A list is filtered by the run: nothing of it is there any more. */
const lists = new Set(['/v1/deliveries', '/v1/deliveries/dead-letter'])

test('retention-3: every route that takes the id of a run says that it fell', async (t) => {
  const daemon = await start(t)
  const { run_id } = await submit(daemon, 's1', 'one')
  await until(daemon, run_id, 'completed')
  await daemon.fall()
  const operations = await operationsOf(daemon, run_id)
  const answers = await Promise.all(
    operations.map(async ({ method, path, body }) => ({
      what: `${method} ${path.replace(run_id, 'RUN')}`,
      answer: await daemon.request(method, path, body),
    })),
  )
  const listing = answers.filter(({ what }) => lists.has(what.replace(/^GET |\?.*$/gu, '')))
  for (const { what, answer } of listing) t.deepEqual([answer.status, answer.body], [200, []], what)
  const others = answers.filter((one) => !listing.includes(one))
  t.true(others.length >= 14, JSON.stringify(others.map(({ what }) => what)))
  for (const { what, answer } of others) t.deepEqual(codeOf(answer), [404, 'run_expired'], what)
  const planned = await daemon.request('POST', '/v1/schedules', scheduleBody({ created_by_run_id: run_id }))
  t.deepEqual(codeOf(planned), [404, 'run_expired'])
})

test('retention-3: a key of an answer whose run fell says so too', async (t) => {
  const daemon = await start(t)
  const { run_id } = await submit(daemon, 's1', '/ask Well? | A | B')
  const [asked] = (await until(daemon, run_id, 'waiting_for_user_question')).pending_questions
  const answers = [{ question_id: 'q1', selected_option_ids: ['o1'] }]
  const answer = () =>
    daemon.request('POST', '/v1/sessions/s1/questions', {
      idempotency_key: 'k1',
      resolution: { request_id: asked.id, answers },
    })
  t.is((await answer()).status, 200)
  await until(daemon, run_id, 'completed')
  await daemon.fall()
  t.deepEqual(codeOf(await answer()), [404, 'run_expired'])
})

test('retention-3: no tool takes the id of a run; one that does must say that it fell', async (t) => {
  const { lent } = await start(t)
  const tools = lent.context().view(Tools)()
  t.true(tools.length > 20)
  const taking = tools.filter(({ input }) => /"(?:\w+_)?run_ids?":/u.test(JSON.stringify(jsonSchema(input))))
  t.deepEqual(
    taking.map(({ name }) => name),
    [],
    'call it with the id of a run that fell, in this test',
  )
})
