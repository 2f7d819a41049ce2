/** A kill anywhere neither forgets a turn nor doubles it: what a life left is found in records by the next. */
import { rmSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { readExplanation } from '../../../support/explanations.js'
import { freshRoot } from '../../../support/folders.js'
import { createLatch } from '../../../support/latch.js'
import { ann, bot, channel, eventually, handsOf, quiet, said, scripted, type Told } from './bots.js'
import { openInside } from './inside.js'

type Script = (told: Told) => string | undefined | Promise<string | undefined>

const lives = async (t: ExecutionContext) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const { inside, shipped } = await openInside()
  const open = async (script: Script, flags = {}) => {
    const model = scripted({ script })
    const daemon = await startTestDaemon(t, { root, shipped, plugins: [model.plugin], config: model.config, flags })
    return { ...daemon, ...handsOf(daemon), inside }
  }
  return { open, inside }
}

const fill = async ({ request }: Awaited<ReturnType<Awaited<ReturnType<typeof lives>>['open']>>): Promise<void> => {
  for (const session_id of ['A', 'B']) await request('POST', '/v1/sessions', { session_id })
  const autonomy_policy = { max_agent_replies_per_human_message: 2 }
  const members = [ann, bot('A'), bot('B')]
  await request('POST', '/v1/channels', { channel_id: 'garden', title: 'The garden', members, autonomy_policy })
}

test('floor-16: a message that was posted while nobody acted is answered once somebody does', async (t) => {
  const { open } = await lives(t)
  const held = await open(({ bot: name }) => name, { hold: 'true' })
  await fill(held)
  await held.post('Hello')
  t.is(held.inside.calls.count('all', 'all'), 1)
  t.deepEqual(await held.leases(), [])
  await held.stop()
  const daemon = await open(({ bot: name }) => name)
  await daemon.request('POST', '/v1/release')
  await eventually(
    () => said(daemon),
    (all) => all.length >= 3,
  )
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Hello', 'A: A', 'B: B'])
  t.is(daemon.inside.calls.count('all', 'all'), 0)
})

test('floor-16: a turn goes on in the next life, and one that ended between the lives is settled', async (t) => {
  const { open } = await lives(t)
  const gate = createLatch()
  const first = await open(async ({ signal }) => {
    void gate.wait()
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    return undefined
  })
  await fill(first)
  await first.post('Hello')
  await gate.reached
  const [lease] = await first.leases()
  await first.stop()
  // Held, runs do not go on: the run is ended before anybody could hear of it.
  const held = await open(({ bot: name }) => name, { hold: 'true' })
  t.is((await held.leases())[0].turn_id, lease.turn_id)
  await held.request('POST', `/v1/runs/${lease.active_run_id}/cancel`, {})
  t.is((await held.leases())[0].turn_id, lease.turn_id)
  await held.stop()
  const daemon = await open(({ bot: name }) => name)
  await daemon.request('POST', '/v1/release')
  await eventually(
    () => said(daemon),
    (all) => all.length >= 2,
  )
  await quiet(daemon)
  t.deepEqual((await said(daemon)).slice(0, 2), ['ann: Hello', 'B: B'])
})

test('floor-16: a run that nobody waits for any more is ended by the next life', async (t) => {
  const { open } = await lives(t)
  const held = await open(({ bot: name }) => name, { hold: 'true' })
  await fill(held)
  const { runs, state, leases } = held.inside
  const orphan = await state.commit((tx) =>
    runs.admit({ session_id: 'A', kind: 'channel_delivery', input: { content: 'x' }, targets: 'none' })(tx),
  )
  t.is(leases.count('all', 'all'), 0)
  await held.stop()
  const daemon = await open(() => new Promise<undefined>(() => {}))
  await daemon.request('POST', '/v1/release')
  const [run] = await eventually(daemon.turns, ([one]) => one.status === 'cancelled')
  t.is(run.run_id, orphan.run_id)
  t.is((await daemon.request('GET', channel)).body.moderation_metrics.active_turn_lease_count, 0)
})

test('floor-16: what could not be decided is tried again soon', async (t) => {
  const { open } = await lives(t)
  const daemon = await open(({ bot: name }) => name)
  await fill(daemon)
  daemon.inside.fails = 3
  await daemon.post('Hello')
  await eventually(
    () => said(daemon),
    (all) => all.length >= 3,
  )
  await quiet(daemon)
  t.is(daemon.inside.fails, 0)
  t.true(daemon.log.some(({ fact }) => fact === 'a turn could not be decided'))
})

test('floor-21, floor-22: deciding that fails is told once, is tried again later each time, and is explained', async (t) => {
  const { open } = await lives(t)
  const daemon = await open(({ bot: name }) => (name === 'A' ? 'I am here.' : undefined))
  await fill(daemon)
  daemon.inside.fails = 3
  const from = performance.now()
  await daemon.post('Hello')
  const reasons = async (): Promise<any[]> => (await readExplanation(daemon, 'garden')).subjects[0].reasons
  const [reason] = await eventually(reasons, ([{ text }]) => text.includes('2 times'))
  t.like(reason, {
    code: 'call_failed',
    text: 'Deciding who is asked has failed 2 times and is tried again: by a fault that the log tells.',
  })
  t.true(reason.until_ms > Date.now())
  await eventually(
    () => said(daemon),
    (all) => all.includes('A: I am here.'),
  )
  t.true(performance.now() - from > 3_000, 'half a second, one, and two')
  t.is(daemon.log.filter(({ fact }) => fact === 'a turn could not be decided').length, 1)
  await quiet(daemon)
  t.false((await reasons()).some(({ code }) => code === 'call_failed'))
})
