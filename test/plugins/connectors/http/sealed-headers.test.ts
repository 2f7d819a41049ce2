/** Headers of reply targets hold secrets: on disk they are sealed, and at the receiver they are as they were given. */
import { readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { shipped } from '../../../../plugins/index.js'
import { formsOf } from '../../../support/canaries.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'
import { startReceiver, type Receiver } from '../../../support/receiver.js'
import { codeOf, openSession, until } from '../../../support/runs.js'

const canary = 'canary-of-a-reply-header/+=1'
const headers = { 'x-own-token': canary }

const holds = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => formsOf(canary).some((form) => readFileSync(file).includes(form)))

const run = async (daemon: TestDaemon, body: object): Promise<any> => {
  const submitted = await daemon.request('POST', '/v1/sessions/s1/runs', { content: '/say hello', ...body })
  return until(daemon, submitted.body.run_id, 'completed', 'failed')
}

const came = (receiver: Receiver, path: string): unknown[] =>
  receiver.at(path).map(({ headers: given }) => given['x-own-token'])

const raw = (receiver: Receiver, path: string) => ({ plugin: 'http', address: receiver.address(path, headers) })

const deadLetters = async (daemon: TestDaemon, receiver: Receiver): Promise<any[]> => {
  let letters: any[] = []
  await receiver.until(async () => {
    letters = (await daemon.request('GET', '/v1/deliveries/dead-letter')).body
    return letters.length > 0
  }, 'a dead letter')
  return letters
}

test('deliveries-32: headers of reply targets are sealed in sessions, runs, schedules and deliveries, and arrive as given', async (t) => {
  const [root, receiver] = [await freshRoot(), await startReceiver(t)]
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  const set = await first.request('PUT', '/v1/sessions/s1/reply-targets', {
    reply_targets: [{ type: 'raw', ...raw(receiver, '/session') }],
  })
  t.is(set.status, 200, set.text)
  await run(first, {})
  await run(first, { reply_targets: [raw(receiver, '/run'), raw(receiver, '/run')] })
  await run(first, { reply_plugin: 'http', reply_address: receiver.address('/pair', headers) })
  const made = await first.request('POST', '/v1/schedules', {
    name: 'later',
    target_session_id: 's1',
    cadence: { type: 'once', fire_at_ms: Date.now() + 300_000 },
    request: { content: '/say later', reply_targets: [raw(receiver, '/schedule')] },
  })
  t.true(made.status < 300, made.text)
  await receiver.until(() => receiver.received.length === 3, 'all')
  const seen = await Promise.all(
    ['/v1/sessions/s1', '/v1/sessions/s1/reply-targets', '/v1/schedules', '/v1/deliveries', '/v1/events'].map(
      async (path) => (await first.request('GET', path)).text,
    ),
  )
  t.false(seen.some((text) => text.includes(canary)))
  // What an admin reads can be given again, for the same URL alone.
  const [{ address }] = set.body.reply_targets
  const again = await first.request('PUT', '/v1/sessions/s1/reply-targets', {
    reply_targets: [{ type: 'raw', plugin: 'http', address }],
  })
  t.deepEqual(again.body, set.body)
  const asItIs = await first.request('PUT', '/v1/sessions/s1/reply-targets', set.body)
  t.deepEqual(asItIs.body, set.body, asItIs.text)
  const elsewhere = address.replace('/session', '/elsewhere')
  await run(first, { reply_targets: [{ plugin: 'http', address: elsewhere }] })
  t.is((await deadLetters(first, receiver))[0].terminal_error, 'reply_headers_locked')
  await first.stop()
  t.deepEqual(holds(root), [])
  const second = await startTestDaemon(t, { root })
  await run(second, {})
  await receiver.until(() => receiver.at('/session').length === 2, 'the second of the session')
  for (const path of ['/session', '/run', '/pair']) t.deepEqual([...new Set(came(receiver, path))], [canary], path)
  t.is(receiver.at('/run').length, 1, 'equal targets are one')
  t.is(receiver.at('/elsewhere').length, 0)
  const { body: all } = await second.request('GET', '/v1/deliveries')
  t.is(new Set(all.filter(({ run_id }: any) => run_id !== undefined).map(({ target }: any) => target)).size, 4)
  await second.stop()
  t.deepEqual(holds(root), [])
})

test('deliveries-32: the same headers in another order are the same target', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const put = async (ordered: object): Promise<any> => {
    const target = { type: 'http', url: 'https://example.com/x', headers: ordered }
    return (await daemon.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [target] })).body
  }
  const first = await put({ 'x-a': canary, 'x-b': '2', 'x-c': '3' })
  t.true(first.reply_targets[0].address.includes('sealed_headers'))
  t.deepEqual(await put({ 'x-c': '3', 'x-b': '2', 'x-a': canary }), first)
  t.notDeepEqual(await put({ 'x-c': '2', 'x-b': '3', 'x-a': canary }), first)
})

test('deliveries-25: headers that are too long once they are sealed are refused, and the longest can be given again', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const put = (targets: unknown) => daemon.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: targets })
  const long = (count: number) => [
    {
      type: 'http',
      url: 'https://example.com/x',
      headers: Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'é'.repeat(900)])),
    },
  ]
  const set = await put(long(11))
  t.is(set.status, 200, set.text)
  t.true(set.body.reply_targets[0].address.length > 20_000)
  const again = await put(set.body.reply_targets)
  t.deepEqual(again.body, set.body)
  const run = { content: '/say x', reply_targets: set.body.reply_targets }
  t.is((await daemon.request('POST', '/v1/sessions/s1/runs', run)).status, 202)
  const refused = await put(long(12))
  t.deepEqual(codeOf(refused), [400, 'reply_target_invalid'])
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/reply-targets')).body, set.body)
})

test('deliveries-33: without its key a delivery fails by a reason that says what to do, and everything else goes on', async (t) => {
  const [root, receiver] = [await freshRoot(), await startReceiver(t)]
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  await first.request('PUT', '/v1/sessions/s1/reply-targets', {
    reply_targets: [{ type: 'raw', ...raw(receiver, '/session') }],
  })
  await run(first, {})
  await receiver.until(() => receiver.received.length === 1, 'the first')
  await first.stop()
  const key = join(root, 'secrets/slots.key')
  renameSync(key, `${key}.away`)
  const second = await startTestDaemon(t, { root })
  t.is((await run(second, {})).status, 'completed')
  const [letter] = await deadLetters(second, receiver)
  t.is(letter.terminal_error, 'reply_headers_locked')
  const { warnings } = (await second.request('GET', '/v1/status')).body.health
  const missing = warnings.find(({ code }: { code: string }) => code === 'secrets_key_missing')
  t.regex(
    missing?.message ?? '',
    /^1 lasting key for headers of reply targets cannot be decrypted: the key \w+ is not here\.$/u,
  )
  const dead = warnings.find(({ code }: { code: string }) => code === 'reply_headers_locked')
  t.regex(dead?.action ?? '', /deliveries replay/u)
  const refused = await second.request('POST', '/v1/sessions/s1/runs', {
    content: '/say more',
    reply_targets: [raw(receiver, '/new')],
  })
  t.deepEqual(codeOf(refused), [409, 'secrets_key_unusable'], 'nothing is stored in clear')
  const { paths } = (await second.request('GET', '/v1/openapi.json')).body
  for (const path of ['/v1/schedules', '/v1/sessions/{session_id}/runs', '/v1/sessions/{session_id}/reply-targets'])
    t.true(JSON.stringify(paths[path].post.responses['409']).includes('secrets_key_unusable'), path)
  t.is(
    (await run(second, { reply_targets: [{ plugin: 'http', address: receiver.address('/plain') }] })).status,
    'completed',
  )
  await receiver.until(() => receiver.at('/plain').length === 1, 'what needs no key')
  t.is(receiver.at('/session').length, 1, 'never without its header')
  await second.stop()
  renameSync(`${key}.away`, key)
  const third = await startTestDaemon(t, { root })
  t.true((await third.request('POST', `/v1/deliveries/${letter.delivery_id}/replay`)).status < 300)
  await receiver.until(() => receiver.at('/session').length === 2, 'the replay')
  t.deepEqual(came(receiver, '/session'), [canary, canary])
})

const warned = async ({ request }: TestDaemon): Promise<string[]> =>
  (await request('GET', '/v1/status')).body.health.warnings.map(({ code }: { code: string }) => code)

test('deliveries-33, secrets-24: where the key is lost for good, its warnings end with what they say', async (t) => {
  const [root, receiver] = [await freshRoot(), await startReceiver(t)]
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  const give = (daemon: TestDaemon) =>
    daemon.request('PUT', '/v1/sessions/s1/reply-targets', {
      reply_targets: [{ type: 'raw', ...raw(receiver, '/session') }],
    })
  await give(first)
  await run(first, {})
  await receiver.until(() => receiver.received.length === 1, 'the first')
  await first.stop()
  writeFileSync(join(root, 'secrets/slots.key'), 'ab'.repeat(32))
  const second = await startTestDaemon(t, { root })
  await run(second, {})
  await deadLetters(second, receiver)
  const { warnings } = (await second.request('GET', '/v1/status')).body.health
  const missing = warnings.find(({ code }: { code: string }) => code === 'secrets_key_missing')
  t.true(missing.action.endsWith(`holdfast secrets forget-key ${missing.related_id}`), missing.action)
  const strange = await second.request('DELETE', '/v1/runtime/secrets-key/0123456789abcdef')
  t.deepEqual(codeOf(strange), [404, 'secrets_key_not_missing'])
  t.notRegex(strange.body.action, /related_id/u, 'the status as people read it has no such member')
  t.true(missing.message.includes(missing.related_id))
  const { key_id } = (await second.request('POST', '/v1/runtime/secrets-key')).body
  t.is((await give(second)).status, 200)
  t.true((await warned(second)).includes('reply_headers_locked'), 'nothing has arrived yet')
  await run(second, {})
  await receiver.until(() => receiver.received.length === 2, 'what comes')
  t.deepEqual(codeOf(await second.request('DELETE', `/v1/runtime/secrets-key/${key_id}`)), [
    404,
    'secrets_key_not_missing',
  ])
  const forgotten = await createCommandLine(second)('secrets', 'forget-key', missing.related_id)
  t.deepEqual([forgotten.code, forgotten.out], [0, 'Forgotten.\n'], forgotten.err)
  t.deepEqual(await warned(second), ['delivery_dead_letters'])
  await second.stop()
  const third = await startTestDaemon(t, { root })
  t.deepEqual(await warned(third), ['delivery_dead_letters'])
  await run(third, {})
  await receiver.until(() => receiver.received.length === 3, 'after a restart')
})

test('deliveries-32: a change of the key leaves what is sealed where it is, and it opens with the new one', async (t) => {
  const [root, receiver] = [await freshRoot(), await startReceiver(t)]
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  const set = await first.request('PUT', '/v1/sessions/s1/reply-targets', {
    reply_targets: [{ type: 'raw', ...raw(receiver, '/session') }],
  })
  for (let n = 1; n < 3; n += 1) t.is((await first.request('POST', '/v1/runtime/secrets-key')).status, 200)
  t.deepEqual((await first.request('GET', '/v1/sessions/s1/reply-targets')).body, set.body)
  await first.stop()
  const second = await startTestDaemon(t, { root })
  await run(second, {})
  await receiver.until(() => receiver.received.length === 1, 'the first')
  t.deepEqual(came(receiver, '/session'), [canary])
  t.deepEqual((await second.request('GET', '/v1/status')).body.health.warnings, [])
})

const without = shipped.filter(({ id }) => !['secrets', 'leases', 'mcp'].includes(id))

/** A root in which headers stand in clear, as earlier versions wrote it. */
const olderRoot = async (t: ExecutionContext, receiver: Receiver): Promise<string> => {
  const root = await freshRoot()
  const daemon = await startTestDaemon(t, { root, shipped: without })
  await openSession(daemon)
  await daemon.request('PUT', '/v1/sessions/s1/reply-targets', {
    reply_targets: [{ type: 'raw', ...raw(receiver, '/session') }],
  })
  receiver.on('/run', (_, response) => void response.writeHead(400).end())
  await run(daemon, { reply_targets: [raw(receiver, '/run')] })
  await daemon.request('POST', '/v1/schedules', {
    name: 'later',
    target_session_id: 's1',
    cadence: { type: 'once', fire_at_ms: Date.now() + 300_000 },
    request: { content: '/say later', reply_targets: [raw(receiver, '/schedule')] },
  })
  await deadLetters(daemon, receiver)
  await daemon.stop()
  t.true(holds(root).length > 0)
  return root
}

test('deliveries-34: headers that an earlier version kept in clear are sealed at the first start, once', async (t) => {
  const receiver = await startReceiver(t)
  const root = await olderRoot(t, receiver)
  const second = await startTestDaemon(t, { root })
  const isSealed = async (): Promise<boolean> => {
    const texts = ['/v1/sessions/s1/reply-targets', '/v1/schedules'].map(
      async (path) => (await second.request('GET', path)).text,
    )
    return (await Promise.all(texts)).every((text) => !text.includes(canary) && text.includes('sealed_headers'))
  }
  await receiver.until(isSealed, 'sealed targets')
  receiver.on('/run', (_, response) => void response.end())
  const [letter] = (await second.request('GET', '/v1/deliveries/dead-letter')).body
  t.true((await second.request('POST', `/v1/deliveries/${letter.delivery_id}/replay`)).status < 300)
  await receiver.until(() => receiver.at('/run').length === 2, 'the replay')
  await run(second, {})
  await receiver.until(() => receiver.at('/session').length === 1, 'the one of the session')
  t.deepEqual([...came(receiver, '/session'), ...came(receiver, '/run')], [canary, canary, canary])
  await second.stop()
  const line = createCommandLine(second)
  for (const [collection, id] of Object.entries({ runs: letter.run_id, deliveries: letter.delivery_id })) {
    const { out } = await line('state', 'show', collection, id, '--state-root', root)
    t.true(out.includes('sealed_headers') && !out.includes(canary), out)
  }
  t.true(JSON.parse(readFileSync(join(root, 'documents/reply_targets.json'), 'utf8')).sealed, 'no other start looks')
})

test('deliveries-32: a header that is named like a secret is redacted from when it is given or used, and others are not', async (t) => {
  const [root, receiver] = [await freshRoot(), await startReceiver(t)]
  const lend = () => {
    const lent: { redact?: (text: string) => string } = {}
    const plugin = testPlugin('lender', { register: (ctx) => void (lent.redact = ctx.secrets.redact) })
    return { lent, plugin }
  }
  const [one, two] = [lend(), lend()]
  const first = await startTestDaemon(t, { root, plugins: [one.plugin] })
  await openSession(first)
  const target = { plugin: 'http', address: receiver.address('/session', { ...headers, 'x-kind': 'ordinary-words' }) }
  await first.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [{ type: 'raw', ...target }] })
  const text = `${canary} and ordinary-words`
  t.is(one.lent.redact?.(text), '[redacted] and ordinary-words')
  await first.stop()
  const second = await startTestDaemon(t, { root, plugins: [two.plugin] })
  await run(second, {})
  await receiver.until(() => receiver.received.length === 1, 'the first')
  t.is(two.lent.redact?.(text), '[redacted] and ordinary-words')
})
