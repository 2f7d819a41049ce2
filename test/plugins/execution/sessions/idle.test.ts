/** Sessions at rest are on disk: a start reads none of them, and whatever touches one finds it as it was. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { submit, until } from '../../../support/runs.js'

/** Collections of which a start reads records, with how many. */
const readAtStart = (root: string): Record<string, number> => {
  const found: Record<string, number> = {}
  for (const name of readdirSync(join(root, 'data')))
    for (const file of readdirSync(join(root, 'data', name)).filter((one) => one.startsWith('index-'))) {
      const footer = JSON.parse(
        readFileSync(join(root, 'data', name, file), 'utf8')
          .trimEnd()
          .split('\n')
          .at(-1) ?? '',
      )
      if (footer.sections.open?.net > 0) found[name] = (found[name] ?? 0) + footer.sections.open.net
    }
  return found
}

const count = 120
const idOf = (n: number): string => `s${String(n).padStart(3, '0')}`

/** Sessions that used everything of which there is one record for each of them, and a run that waits in one. */
const useSessions = async (daemon: TestDaemon): Promise<void> => {
  await daemon.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'P', soul: 'You are brief.' })
  for (let n = 0; n < count; n += 1)
    await daemon.request('POST', '/v1/sessions', { session_id: idOf(n), ...(n % 2 === 0 && { persona_id: 'p' }) })
  const todos = { todos: [{ id: '1', content: 'Look', completed: false }] }
  for (const content of [
    `/tool todo_write ${JSON.stringify(todos)}\n/say Planned.`,
    '/tool enter_plan_mode {}\n/say On.',
  ])
    await until(daemon, (await submit(daemon, idOf(7), content)).run_id, 'completed')
  const fires = await daemon.request('POST', '/v1/schedules', {
    name: 'once',
    target_session_id: idOf(8),
    cadence: { type: 'once', fire_at_ms: 1 },
    request: { content: 'Hello' },
  })
  for (let status = ''; status !== 'completed';)
    ({ status } = (await daemon.request('GET', `/v1/schedules/${fires.body.schedule_id}`)).body)
  await until(daemon, (await submit(daemon, idOf(9), '/ask What? | A | B')).run_id, 'waiting_for_user_question')
}

test('a start reads no session at rest, and what is asked of one answers as before', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await useSessions(first)
  const asked = [
    '/v1/sessions',
    '/v1/sessions?persona_id=p',
    '/v1/personas',
    `/v1/sessions/${idOf(7)}`,
    '/v1/schedules',
  ]
  const before: unknown[] = []
  for (const path of asked) before.push((await first.request('GET', path)).body)
  await first.stop()
  t.deepEqual(readAtStart(root), { run_memory_marks: 1, runs: 1, session_control_states: 1 })

  const again = await startTestDaemon(t, { root })
  for (const [at, path] of asked.entries()) t.deepEqual((await again.request('GET', path)).body, before[at], path)
  t.is((await again.request('GET', '/v1/status')).body.sessions.total, count)
  const pages: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { items, pagination }: any = (await again.request('GET', `/v1/sessions?page=true&limit=50&cursor=${cursor}`))
      .body
    pages.push(...items.map(({ session_id }: any) => session_id))
    t.is(pagination.total_count, count)
    cursor = pagination.next_cursor
  }
  t.deepEqual(
    pages,
    Array.from({ length: count }, (_, n) => idOf(n)),
  )
})

test('a session that was at rest runs, takes settings, ends and is opened again', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await useSessions(first)
  await first.stop()
  const again = await startTestDaemon(t, { root })
  const path = `/v1/sessions/${idOf(2)}`
  t.is((await until(again, (await submit(again, idOf(2), 'Hello')).run_id, 'completed')).outputs.length, 1)
  t.is((await again.request('DELETE', `${path}/persona`)).body.persona, undefined)
  const ids = async (): Promise<string[]> =>
    (await again.request('GET', '/v1/sessions?persona_id=p')).body.map(({ session_id }: any) => session_id)
  t.false((await ids()).includes(idOf(2)))
  t.is((await ids()).length, count / 2 - 1)
  await again.request('POST', `${path}/end`, { reason: 'over' })
  t.truthy((await again.request('GET', path)).body.ended_at_ms)
  await again.stop()

  const last = await startTestDaemon(t, { root })
  t.truthy((await last.request('GET', path)).body.ended_at_ms)
  t.is((await last.request('POST', '/v1/sessions', { session_id: idOf(2) })).body.ended_at_ms, undefined)
  t.is((await last.request('GET', '/v1/sessions')).body.length, count)
})
