/** Files that messages name, over HTTP. */
import test, { type ExecutionContext } from 'ava'
import { rm } from 'node:fs/promises'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'
import { callTool, done, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { freshRoot, startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { createLatch, type Latch } from '../../../support/latch.js'
import { rewriteRecord } from '../../../support/rewrite.js'
import { codeOf, submit, until } from '../../../support/runs.js'

const says = (said = 'done'): ModelEvent[] => [text(said), done()]

/** Answers when the test lets it. */
async function* behind(gate: Latch): AsyncGenerator<ModelEvent> {
  await gate.wait()
  yield* says()
}

const start = async (t: ExecutionContext, play: Play, more = {}) => {
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config, ...more })
  const [from, to] = [await agentOf(daemon, 's1'), await agentOf(daemon, 's2')]
  const post = (payload: object, message_id = 'm1') =>
    daemon.request('POST', '/v1/mailboxes', {
      from_agent_id: from,
      to_agent_id: to,
      subject: 'look',
      message_id,
      payload: { ...payload },
    })
  return Object.assign(daemon, { asked: model.requests, from, to, post })
}

const agentOf = async ({ request }: Reachable, session_id: string): Promise<string> =>
  (await request('POST', '/v1/sessions', { session_id })).body.agent_id

const store = async ({ request }: Reachable, words: string): Promise<string> => {
  const content_base64 = Buffer.from(words).toString('base64')
  const body = { file_name: 'words.txt', media_type: 'text/plain', content_base64 }
  return (await request('POST', '/v1/assets', body)).body.asset_id
}

const remove = async ({ request }: Reachable, asset_id: string) =>
  codeOf(await request('DELETE', `/v1/assets/${asset_id}`))

const namedBy = async ({ request }: Reachable, asset_id: string): Promise<any[]> =>
  (await request('GET', `/v1/assets/${asset_id}/references`)).body.references

const boxOf = async ({ request }: Reachable, agent_id: string, dead = ''): Promise<any[]> =>
  (await request('GET', `/v1/agents/${agent_id}/mailbox${dead}`)).body

const deliveries = async ({ request }: Reachable): Promise<any[]> =>
  (await request('GET', '/v1/runs?session_id=s2')).body.filter(({ kind }: any) => kind === 'mailbox_delivery')

const eventually = async <T>(look: () => Promise<T>, holds: (found: T) => boolean): Promise<T> => {
  for (let n = 0; n < 2_000; n += 1) {
    const found = await look()
    if (holds(found)) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`it is ${JSON.stringify(await look())}`)
}

const isBusy = ({ asked }: { asked: readonly unknown[] }) =>
  eventually(
    async () => asked.length,
    (n) => n === 1,
  )

test('mailboxes-11: a file that is not there refuses the message, with its place', async (t) => {
  const daemon = await start(t, () => says())
  const there = await store(daemon, 'ferns')
  const places = [
    [{ asset_ids: [there, 'asset_nope'] }, 'body.payload.asset_ids.1'],
    [
      {
        input_items: [
          { type: 'text', text: 'x' },
          { type: 'asset_reference', asset_id: 'asset_nope' },
        ],
      },
      'body.payload.input_items.1',
    ],
  ] as const
  for (const [payload, path] of places) {
    const refused = await daemon.post(payload)
    t.deepEqual(codeOf(refused), [404, 'asset_not_found'])
    t.is(refused.body.errors[0].path, path)
  }
  t.deepEqual(await boxOf(daemon, daemon.to), [])
  t.deepEqual(await namedBy(daemon, there), [])
})

test('mailboxes-11: a model is told at once of a file that is not there', async (t) => {
  const letter = { agent_id: '', subject: 'look', asset_ids: ['asset_nope'] }
  const daemon = await start(t, (_, count) =>
    count === 1 ? [callTool('a', 'message_agent', letter), done('tool_calls')] : says(),
  )
  letter.agent_id = (await daemon.request('POST', `/v1/agents/${daemon.from}/sidechains`, {})).body.agent_id
  const { run_id } = await submit(daemon, 's1', 'go')
  await until(daemon, run_id, 'completed')
  const told = JSON.stringify(daemon.asked.at(-1)?.messages)
  t.true(told.includes('asset_not_found'), told)
  t.true(told.includes('asset_ids.0'), told)
  t.deepEqual(await boxOf(daemon, letter.agent_id), [])
})

test('mailboxes-11: a message keeps its files until it was read, is taken away or is a dead letter', async (t) => {
  const gate = createLatch()
  const daemon = await start(t, (_, count) => (count === 1 ? behind(gate) : says()))
  const { run_id } = await submit(daemon, 's2', 'work')
  await isBusy(daemon)
  const [read, taken, late] = [await store(daemon, 'a'), await store(daemon, 'b'), await store(daemon, 'c')]
  await daemon.post({ asset_ids: [read, read] }, 'read')
  await daemon.post({ input_items: [{ type: 'asset_reference', asset_id: taken }] }, 'taken')
  await daemon.request('POST', '/v1/mailboxes', {
    from_agent_id: daemon.from,
    to_agent_id: daemon.to,
    subject: 'look',
    payload: { asset_ids: [late] },
    message_id: 'late',
    ttl_ms: 1,
  })
  for (const asset_id of [read, taken]) t.deepEqual(await remove(daemon, asset_id), [409, 'asset_delete_blocked'])
  t.deepEqual(await namedBy(daemon, read), [
    { domain: 'mailboxes', owner_id: 'read', role: 'message_file', hard: true, parent_id: daemon.to },
  ])
  await daemon.request('POST', `/v1/agents/${daemon.to}/mailbox/taken/ack`)
  t.is((await remove(daemon, taken))[0], 200)
  await eventually(
    () => boxOf(daemon, daemon.to, '/dead-letter'),
    (all) => all.length === 1,
  )
  t.is((await remove(daemon, late))[0], 200)
  gate.open()
  await until(daemon, run_id, 'completed')
  const [run] = await eventually(
    () => deliveries(daemon),
    (all) => all[0]?.status === 'completed',
  )
  t.is(run.input_attachments[0].id, read)
  await eventually(
    () => namedBy(daemon, read),
    (all) => all.every(({ domain }) => domain === 'runs'),
  )
})

test('mailboxes-6: a message that cannot be told waits by itself, and the others are read', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const gate = createLatch()
  const first = await start(t, () => behind(gate), { root })
  await submit(first, 's2', 'work')
  await isBusy(first)
  await first.post({ text: 'one' }, 'good1')
  await first.post({ text: 'bad' }, 'bad')
  await first.post({ text: 'two' }, 'good2')
  await first.stop()
  gate.open()
  // As an earlier version took it.
  rewriteRecord(root, { collection: 'mailbox_messages', id: 'bad' }, (message) => ({
    ...message,
    payload: { asset_ids: ['asset_nope'] },
  }))
  const daemon = await start(t, () => says(), { root })
  const [read] = await eventually(
    () => deliveries(daemon),
    (all) => all[0]?.status === 'completed',
  )
  t.deepEqual(read.input_metadata.mailbox_message_ids, ['good1', 'good2'])
  const [bad] = await boxOf(daemon, daemon.to)
  t.is(bad.id, 'bad')
  t.true(bad.delivery_attempts >= 1, 'it is tried again while the others are read')
  t.regex(bad.last_error, /asset_nope/u)
})
