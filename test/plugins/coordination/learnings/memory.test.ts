/** What memory shows of learnings that were published. */
import test from 'ava'
import { done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { createClock } from '../../../../core/base/clock.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { bring, learningsLender, publish } from '../../../support/learnings.js'
import { openSession, submit, until } from '../../../support/runs.js'

const contextOf = async ({ request }: TestDaemon, query = ''): Promise<any> =>
  (await request('GET', `/v1/sessions/s1/memory-context${query}`)).body
const foundBy = async ({ request }: TestDaemon, query: string): Promise<string[]> =>
  (await request('GET', `/v1/sessions/s1/memory-search?query=${query}`)).body.results
    .filter(({ kind }: any) => kind === 'learning')
    .map(({ source_id }: any) => source_id)

test('memory-1, memory-2, memory-3, memory-4, memory-7: which learnings a session is shown, and which it finds', async (t) => {
  let now = 1_800_000_000_000
  const clock = { ...createClock(), now: () => (now += 1) }
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, clock })
  await openSession(daemon)
  const { request } = daemon
  let n = 0
  const names = new Map<string, string>()
  const learn = async (name: string, more: object = {}, wish: object = {}): Promise<string> => {
    const { learning_id } = await publish(daemon, { content: `The harbour ${(n += 1)} is deep.`, ...more }, wish)
    names.set(learning_id, name)
    return learning_id
  }
  const byDaemon = async (name: string, tier: 'active' | 'provisional', kind = 'fact'): Promise<void> => {
    const candidate = await bring(daemon, { content: `The harbour ${(n += 1)} is deep.`, kind })
    const { learning_id } = await lent.commit((tx) => lent.learnings().publish(tx, candidate, { tier }))
    names.set(learning_id, name)
  }
  await learn('fact')
  await learn('preference', { kind: 'preference' })
  await learn('decision', { kind: 'decision' })
  await learn('own', { scope: { kind: 'session', id: 's1' } })
  await learn('procedure', { kind: 'procedure' })
  await learn('foreign', { scope: { kind: 'session', id: 's2' } })
  await learn('persona', { scope: { kind: 'persona', id: 'p' } })
  await learn('sensitive', { sensitivity: 'sensitive' })
  await learn('provisional', {}, { publish_tier: 'provisional' })
  await learn('over', { expires_at_ms: now + 1_000 })
  now += 1_000
  await byDaemon('verified', 'active')
  await byDaemon('unverified', 'provisional')
  await byDaemon('learnt procedure', 'active', 'procedure')
  await request('POST', `/v1/learnings/${await learn('revoked')}/revoke`)
  const replaced = await learn('replaced')
  const { body } = await request('POST', `/v1/learnings/${replaced}/supersede`, { content: 'The harbour is open.' })
  names.set(body.learning_id, 'replacement')
  const named = (ids: readonly string[]) => ids.map((id) => names.get(id)).toSorted()

  const { learned_context, learning_scopes } = await contextOf(daemon)
  t.deepEqual(learning_scopes, [
    { kind: 'session', id: 's1' },
    { kind: 'workspace', id: 'default' },
  ])
  const shown = learned_context.entries.map(({ learning_id }: any) => learning_id)
  const expected = ['own', 'replacement', 'verified', 'decision', 'preference', 'fact']
  t.deepEqual(
    shown.map((id: string) => names.get(id)),
    expected,
    'nearest first, then newest',
  )
  t.deepEqual(Object.keys(learned_context.entries[0]).toSorted(), ['content', 'kind', 'learning_id', 'published_at_ms'])
  t.deepEqual(
    named(await foundBy(daemon, 'harbour')),
    [...expected, 'procedure', 'provisional', 'learnt procedure'].toSorted(),
  )
  await request('POST', `/v1/learnings/${shown[0]}/revoke`)
  t.false((await foundBy(daemon, 'harbour')).includes(shown[0]))
})

test('memory-5, memory-8: a run is told what answers it, all if it asks for memory, else nothing', async (t) => {
  const model = scriptedProvider(() => [text('Yes.'), done()])
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await openSession(daemon)
  await publish(daemon, { content: 'The harbour is deep.' })
  await publish(daemon, { content: 'Cranes: red', kind: 'preference' })
  const harbour = '- fact: The harbour is deep.'
  const cranes = '- preference: Cranes: red'
  const told = async (input: string): Promise<string[]> => {
    await until(daemon, (await submit(daemon, 's1', input)).run_id, 'completed')
    const { system = '' } = model.requests.at(-1) ?? {}
    return (/<learned_context>\n[^\n]*\n([^]*)\n<\/learned_context>/u.exec(system)?.[1]?.split('\n') ?? []).toSorted()
  }
  const cases: readonly (readonly [input: string, lines: readonly string[]])[] = [
    ['How deep is the harbour?', [harbour]],
    ['Which colour have cranes?', [cranes]],
    ['What do you remember of the harbour?', [harbour]],
    ['Sing a song.', []],
    ...[
      'What is in your memory?',
      'Show all memories',
      'Do you remember',
      'What have you remembered?',
      'Try to recall',
      'List your learnings',
      'Use every learning',
      'Use the learned context',
      'Use durable learning',
      'As-tu de la mémoire ?',
      'Tu te souviens ?',
    ].map((input) => [input, [harbour, cranes]] as const),
  ]
  for (const [input, lines] of cases) t.deepEqual(await told(input), lines, input)
  t.like(await contextOf(daemon, '?query=cranes'), { learned_context: { entries: [{ content: 'Cranes: red' }] } })
})
