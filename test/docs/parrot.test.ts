/** The example of the guide for model providers and reply plugins. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import * as kit from '../../core/plugin.js'
import { assertPassed, checkPlugin, createTestDaemon } from '../../core/testing/contract.js'
import makeDice from '../../docs/examples/dice/plugin.js'
import makeParrot from '../../docs/examples/parrot/plugin.js'
import { freshRoot, startTestDaemon } from '../support/daemon.js'
import { blocksFor } from '../support/docs.js'
import { codeOf, openSession, until } from '../support/runs.js'
import { openStream } from '../support/sse.js'

test.serial('parrot: it keeps what a plugin must keep', async (t) => {
  assertPassed(await checkPlugin(makeParrot))
  t.pass()
})

test.serial('parrot: what it is told comes back, as an output and as a file in a box', async (t) => {
  const boxes = await freshRoot()
  const config = { models: { provider: 'parrot' }, parrot: { boxes } }
  const daemon = await createTestDaemon({ plugins: [makeParrot], config })
  t.teardown(() => daemon.close())
  await openSession(daemon)
  const say = (box: string) =>
    daemon.request('POST', '/v1/sessions/s1/input', {
      content: 'Polly wants a cracker',
      reply_targets: [{ type: 'raw', plugin: 'postbox', address: box }],
    })
  t.deepEqual(codeOf(await say('No Box')), [400, 'reply_target_invalid'])
  t.is((await say('kitchen')).body.outputs[0].content, 'Polly wants a cracker')
  await daemon.until('the letter', async () => (await daemon.request('GET', '/v1/deliveries?status=delivered')).body[0])
  const [file = ''] = readdirSync(path.join(boxes, 'kitchen'))
  t.is(readFileSync(path.join(boxes, 'kitchen', file), 'utf8'), 'Polly wants a cracker')
})

test.serial('parrot: one that calls tools calls what it is told to, and tells what came of it', async (t) => {
  const daemon = await createTestDaemon({ plugins: [makeParrot, makeDice], config: { models: { provider: 'raven' } } })
  t.teardown(() => daemon.close())
  await openSession(daemon)
  const say = async (content: string): Promise<string> =>
    (await daemon.request('POST', '/v1/sessions/s1/input', { content })).body.outputs.at(-1).content
  t.regex(await say('roll_dice {"sides": 6}'), /^roll_dice: \{"result":[1-6]\}$/u)
  t.regex(await say('roll_dice {"sides'), /^roll_dice failed: .*JSON/u)
  t.regex(await say('fly'), /^I know .*roll_dice/u)
  const journal = (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.journal
  t.deepEqual(journal.flatMap(({ type, entry }: any) => (type === 'message' ? entry.message.content : []))[0], {
    type: 'reasoning',
    text: 'That is for roll_dice.',
    metadata: { signature: 'of the server' },
  })
})

test.serial('parrot: a limit of what runs may use ends a run before its next call, with its words', async (t) => {
  const config = { models: { provider: 'raven' }, parrot: { calls_per_run: 1 } }
  const daemon = await createTestDaemon({ plugins: [makeParrot, makeDice], config })
  t.teardown(() => daemon.close())
  await openSession(daemon)
  const say = async (content: string) => (await daemon.request('POST', '/v1/sessions/s1/runs', { content })).body.run_id
  t.regex((await until(daemon, await say('fly'), 'completed')).outputs[0].content, /^I know/u)
  const { error } = await until(daemon, await say('roll_dice {"sides": 6}'), 'failed')
  t.is(error, 'parrot_hoarse: More than 1 calls in a run are too many.')
})

test.serial('parrot: the table of the guide makes a route of it, which a run names', async (t) => {
  const [text = ''] = blocksFor('docs/plugin-guide.md', 'author-route')
  const root = await freshRoot()
  mkdirSync(path.join(root, 'config'), { recursive: true, mode: 0o700 })
  writeFileSync(path.join(root, 'config/routes.toml'), text, { mode: 0o600 })
  const daemon = await startTestDaemon(t, { root, plugins: [makeParrot(kit)] })
  await openSession(daemon)
  const run = async (provider: string) =>
    (await daemon.request('POST', '/v1/sessions/s1/input', { content: 'hi', provider })).body
  t.is((await run('parrot')).outputs[0].content, 'hi')
  t.regex((await run('myna')).detail, /no model route myna/u)
})

test.serial(
  'parrot: one that streams is heard word by word, and a cancelled run ends in the middle of its words',
  async (t) => {
    const daemon = await startTestDaemon(t, { plugins: [makeParrot(kit)], config: { models: { provider: 'myna' } } })
    await openSession(daemon)
    const path = '/v1/sessions/s1/stream?include=deltas'
    const heard = openStream({ port: Number(new URL(daemon.url).port), path })
    t.teardown(() => heard.close())
    while (heard.head() === '') await new Promise((resolve) => setTimeout(resolve, 20))
    const say = async (content: string): Promise<string> =>
      (await daemon.request('POST', '/v1/sessions/s1/runs', { content })).body.run_id
    const deltas = (): string[] =>
      heard.frames.flatMap(({ data: { trace } }) => (trace?.kind.type === 'model_text_delta' ? [trace.kind.text] : []))
    const first = await say('Polly wants a cracker')
    t.is((await until(daemon, first, 'completed')).outputs[0].content, 'Polly wants a cracker')
    t.deepEqual(deltas(), ['Polly ', 'wants ', 'a ', 'cracker'])
    const told = deltas().length
    const second = await say('word '.repeat(10_000))
    while (deltas().length === told) await new Promise((resolve) => setTimeout(resolve, 20))
    await daemon.request('POST', `/v1/runs/${second}/cancel`, {})
    t.is((await until(daemon, second, 'cancelled')).outputs, undefined)
  },
)
