/** The text of a persona is kept once, under its digest, for as long as a persona or a session names it. */
import { hash } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createIds } from '../../../../core/base/ids.js'
import type { CollectionSpec } from '../../../../core/plugin.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { openState } from '../../../../core/state/store/root.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { recordsOf } from '../../../support/page-records.js'
import { startOpenAiServer, saying } from '../../../support/openai-server.js'
import { submit, until } from '../../../support/runs.js'

const digest = (text: string): string => hash('sha256', text)

/** Souls that are there, by digest. */
const soulsOf = (root: string): Record<string, string> =>
  Object.fromEntries(
    Object.values(recordsOf(root, 'souls')).flatMap((soul) => (soul === null ? [] : [[soul.sha256, soul.text]])),
  )

/** A daemon on a root whose model says what it was told. */
const startAsked = async (t: ExecutionContext<any>, root: string) => {
  const server = await startOpenAiServer(() => saying('Hello'))
  t.teardown(() => server.close())
  const flags = { provider: 'openai_compatible', 'provider-base-url': server.url, model: 'm', 'api-key': 'k' }
  const daemon = await startTestDaemon(t, { root, flags })
  const told = async (session_id: string): Promise<string> => {
    await until(daemon, (await submit(daemon, session_id, 'Hi')).run_id, 'completed')
    const messages: any = server.asked.at(-1)?.body['messages']
    return JSON.stringify(messages[0].content)
  }
  return { ...daemon, told }
}
const put = (daemon: TestDaemon, persona_id: string, body: object) =>
  daemon.request('PUT', `/v1/personas/${persona_id}`, body)

test('personas-11: a soul is kept once, whoever names it, and no session or persona holds its text', async (t) => {
  const daemon = await startTestDaemon(t, { root: await freshRoot() })
  const soul = 'You count the waves and say so.'
  for (const persona_id of ['a', 'b'])
    await daemon.request('POST', '/v1/personas', { persona_id, display_name: persona_id, soul })
  for (const [session_id, persona_id] of [
    ['s1', 'a'],
    ['s2', 'a'],
    ['s3', 'b'],
  ])
    await daemon.request('POST', '/v1/sessions', { session_id, persona_id })
  const persona = await daemon.request('GET', '/v1/personas/a')
  t.is(persona.body.soul, soul)
  t.deepEqual(Object.keys(persona.body).slice(0, 3), ['persona_id', 'display_name', 'soul'])
  await daemon.stop()
  t.deepEqual(soulsOf(daemon.root), { [digest(soul)]: soul })
  for (const collection of ['sessions', 'personas'])
    t.false(JSON.stringify(recordsOf(daemon.root, collection)).includes('waves'), collection)
  t.is(recordsOf(daemon.root, 'sessions')['s3'].persona.soul_sha256, digest(soul))
})

test('personas-11: a soul stays while a session names it that nobody else does, goes then, and can come again', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await first.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'P', soul: 'one' })
  await first.request('POST', '/v1/personas', { persona_id: 'q', display_name: 'Q', soul: 'never bound' })
  for (const session_id of ['s1', 's2']) await first.request('POST', '/v1/sessions', { session_id, persona_id: 'p' })
  await put(first, 'p', { soul: 'two' })
  await put(first, 'q', { soul: 'other' })
  await first.request('DELETE', '/v1/sessions/s1/persona')
  await first.stop()
  const texts = (...all: string[]): Record<string, string> =>
    Object.fromEntries(all.map((text): [string, string] => [digest(text), text]).toSorted())
  t.deepEqual(soulsOf(root), texts('one', 'two', 'other'))

  const again = await startAsked(t, root)
  t.true((await again.told('s2')).includes('<persona>\\none\\n</persona>'))
  await again.request('PUT', '/v1/sessions/s2/persona', { persona_id: 'p' })
  t.true((await again.told('s2')).includes('<persona>\\ntwo\\n</persona>'))
  await again.stop()
  t.deepEqual(soulsOf(root), texts('two', 'other'))

  const last = await startAsked(t, root)
  await put(last, 'q', { soul: 'one' })
  await last.request('PUT', '/v1/sessions/s2/persona', { persona_id: 'q' })
  t.true((await last.told('s2')).includes('<persona>\\none\\n</persona>'))
  t.is((await last.request('GET', '/v1/personas/q')).body.soul, 'one')
  await last.stop()
  t.deepEqual(soulsOf(root), texts('one', 'two'))
})

/** Personas and sessions as earlier versions kept them. */
const earlierRoot = async (t: ExecutionContext<any>, soul: string): Promise<string> => {
  const root = await freshRoot()
  await (await startTestDaemon(t, { root })).stop()
  const clock = createClock()
  const quiet = (): void => {}
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const opened = await openState({
    root,
    disk: createDisk(),
    clock,
    ids: createIds(clock),
    log,
    publish: quiet,
    generation: 1,
  })
  const spec = (name: string, id: string): CollectionSpec<any> => ({
    name,
    version: 1,
    id: (record) => record[id],
    indexes: { all: { group: () => 'all' } },
  })
  const personas = opened.state.collection(spec('personas', 'persona_id'))
  const sessions = opened.state.collection(spec('sessions', 'session_id'))
  await opened.load()
  const stamps = { version: 1, created_at_ms: 5, updated_at_ms: 5 }
  const persona = {
    persona_id: 'p',
    persona_version: 1,
    display_name: 'P',
    soul,
    soul_sha256: digest(soul),
    bound_at_ms: 6,
  }
  await opened.state.commit((tx) => {
    tx.insert(personas, { persona_id: 'p', display_name: 'P', soul, metadata: { a: 1 }, ...stamps })
    for (const session_id of ['s1', 's2'])
      tx.insert(sessions, { session_id, agent_id: `agent_${session_id}`, created_at_ms: 6, persona })
  })
  await opened.close()
  return root
}

test('a root of an earlier version answers as it did, and what is written again names its soul by digest', async (t) => {
  const soul = 'You are older than this version.'
  const root = await earlierRoot(t, soul)
  const first = await startAsked(t, root)
  t.deepEqual((await first.request('GET', '/v1/personas/p')).body, {
    persona_id: 'p',
    display_name: 'P',
    soul,
    metadata: { a: 1 },
    version: 1,
    created_at_ms: 5,
    updated_at_ms: 5,
  })
  t.true((await first.told('s1')).includes(soul))
  const bound = (await first.request('GET', '/v1/sessions/s1')).body.persona
  t.deepEqual(bound, { persona_id: 'p', persona_version: 1, display_name: 'P', bound_at_ms: 6 })
  await first.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: { skill_allow: ['a'] } })
  await first.stop()
  t.is(recordsOf(root, 'sessions')['s1'].persona.soul, undefined)
  t.is(recordsOf(root, 'sessions')['s2'].persona.soul, soul)
  t.deepEqual(soulsOf(root), { [digest(soul)]: soul })

  const again = await startAsked(t, root)
  for (const session_id of ['s1', 's2']) t.true((await again.told(session_id)).includes(soul), session_id)
  const same = await again.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })
  t.deepEqual(same.body.persona, bound, 'the same snapshot is not bound again')
  await put(again, 'p', { soul: 'new' })
  await again.request('DELETE', '/v1/sessions/s1/persona')
  t.true((await again.told('s2')).includes(soul))
  await again.request('POST', '/v1/sessions/s2/end', {})
  await again.stop()
  t.deepEqual(Object.values(soulsOf(root)).toSorted(), [soul, 'new'].toSorted())
  t.is(recordsOf(root, 'sessions')['s2'].persona.soul, undefined)
})
