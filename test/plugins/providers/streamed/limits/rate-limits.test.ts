import { rmSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { limitsIn, resetIn } from '../../../../../plugins/providers/streamed/limits/rate-limits.js'
import { freshRoot, startTestDaemon, type TestDaemonOptions } from '../../../../support/daemon.js'
import { createLeapingClock } from '../../../../../core/testing/leaping-clock.js'
import { startOpenAiServer, type Reply } from '../../../../support/openai-server.js'
import { openSession, submit, until } from '../../../../support/runs.js'
import { vendors, type Vendor } from '../../../../support/vendors.js'

const now = Date.parse('2026-01-31T10:00:00Z')

test('models-44: the headers of each vendor are read', (t) => {
  t.deepEqual(
    limitsIn(
      {
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-01-31T10:00:30Z',
        'anthropic-ratelimit-input-tokens-remaining': '1000',
      },
      now,
    ),
    [
      { of: 'requests', remaining: 0, resets_in_ms: 30_000 },
      { of: 'input-tokens', remaining: 1000 },
    ],
  )
  t.deepEqual(
    limitsIn(
      {
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '59',
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
      },
      now,
    ),
    [
      { of: 'requests', remaining: 59, resets_in_ms: 1000 },
      { of: 'tokens', remaining: 0, resets_in_ms: 360_000 },
    ],
  )
  t.deepEqual(limitsIn({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now + 5000) }, now), [
    { of: 'calls', remaining: 0, resets_in_ms: 5000 },
  ])
  t.deepEqual(limitsIn({ 'content-type': 'text/plain', 'x-ratelimit-limit': '7' }, now), [])
})

test('models-43: a time in any of the forms that vendors use is one, and nothing else is', (t) => {
  const forms: [string, number | undefined][] = [
    ['20ms', 20],
    ['2m59.56s', 179_560],
    ['1h2m3s', 3_723_000],
    ['1d', 86_400_000],
    ['12', 12_000],
    ['0.5', 500],
    [String(now / 1000 + 9), 9000],
    ['2026-01-31T09:00:00Z', 0],
    ...['', 'NaN', '-1', '-5s', 'soon', '1e9', 's', '1s2m', '9'.repeat(400), '2026-99-99T99:99:99Z'].map(
      (text): [string, undefined] => [text, undefined],
    ),
  ]
  for (const [text, expected] of forms) t.is(resetIn(text, now), expected, text)
})

const serve = async (t: ExecutionContext, respond: (number: number) => Reply) => {
  const server = await startOpenAiServer(({ number }) => respond(number))
  t.teardown(() => server.close())
  return server
}
const start = async (t: ExecutionContext, vendor: Vendor, respond: (number: number) => Reply) =>
  live(t, vendor, await serve(t, respond))

const live = async (
  t: ExecutionContext,
  vendor: Vendor,
  server: Awaited<ReturnType<typeof serve>>,
  more: TestDaemonOptions = {},
) => {
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, {
    ...more,
    clock,
    config: {
      models: { provider: vendor.provider, base_url: server.url, model: 'm', api_key: 'k' },
      runs: { model_retry_base_ms: 1, model_retry_max_ms: 5 },
    },
  })
  await openSession(daemon)
  const route = async (): Promise<any> =>
    (await daemon.request('GET', '/v1/runtime/providers')).body.find(
      ({ provider }: any) => provider === vendor.provider,
    ).routes[0]
  const becomes = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { clock, server, daemon, route, becomes }
}

const headersOf = (vendor: Vendor): Record<string, string> =>
  vendor.provider === 'anthropic'
    ? {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': new Date(Date.now() + 200_000).toISOString(),
      }
    : { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '3m20s' }

const hinted = (vendor: Vendor): Reply =>
  vendor.provider === 'google'
    ? {
        type: 'status',
        status: 429,
        body: JSON.stringify({
          error: {
            code: 429,
            status: 'RESOURCE_EXHAUSTED',
            details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '200s' }],
          },
        }),
      }
    : { type: 'status', status: vendor.provider === 'anthropic' ? 529 : 429, headers: { 'retry-after': '200' } }

for (const vendor of vendors) {
  test(`models-43: ${vendor.provider} is asked again when it says, the attempt tells when, and other runs wait too`, async (t) => {
    const { clock, server, daemon, route, becomes } = await start(t, vendor, (number) =>
      number === 1 ? hinted(vendor) : vendor.saying('Here.'),
    )
    const first = await submit(daemon, 's1', 'x')
    const shown = async (): Promise<any> => (await daemon.request('GET', `/v1/runs/${first.run_id}`)).body
    await becomes(async () => (await shown()).waiting_for_model_route !== undefined)
    const wait = (await shown()).waiting_for_model_route
    t.true(Math.abs(wait.next_attempt_at_ms - wait.since_ms - 200_000) < 2000, JSON.stringify(wait))
    await openSession(daemon, 's2')
    const second = await submit(daemon, 's2', 'y')
    await becomes(async () => (await route()).waiting_calls === 1)
    t.is(server.asked.length, 1)
    t.is((await route()).held[0].model, 'm')
    const text = (await daemon.request('GET', '/metrics')).text
    t.regex(text, /service_model_calls_waiting\{route="[a-z_]+"\} 1/u)
    t.regex(text, /service_model_calls_held_total\{route="[a-z_]+"\} 1/u)
    clock.leap(200_000)
    for (const { run_id } of [first, second]) await until(daemon, run_id, 'completed')
    t.is(server.asked.length, 3)
  })

  test(`models-44: a route to ${vendor.provider} of which nothing remains holds its calls back instead of burning attempts`, async (t) => {
    const { clock, server, daemon, route, becomes } = await start(t, vendor, (number) => {
      const reply = vendor.saying('Here.')
      return number === 1 && reply.type === 'stream' ? { ...reply, headers: headersOf(vendor) } : reply
    })
    await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
    const { run_id } = await submit(daemon, 's1', 'y')
    await becomes(async () => (await route()).waiting_calls === 1)
    t.like((await route()).limits[0], { model: 'm', of: 'requests', remaining: 0 })
    t.is(server.asked.length, 1)
    clock.leap(200_000)
    await until(daemon, run_id, 'completed')
    t.is(server.asked.length, 2)
    t.deepEqual((await route()).held, [])
  })
}

test('models-44: a run whose call is held back says until when, in its view and its steps, and no longer when it is made', async (t) => {
  const [vendor] = vendors
  if (vendor === undefined) return t.fail()
  const { clock, daemon, becomes } = await start(t, vendor, () => {
    const said = vendor.saying('Hello.')
    return said.type === 'stream' ? { ...said, headers: headersOf(vendor) } : said
  })
  await until(daemon, (await submit(daemon, 's1', 'first')).run_id, 'completed')
  const { run_id } = await submit(daemon, 's1', 'second')
  const view = async (): Promise<any> => (await daemon.request('GET', `/v1/runs/${run_id}`)).body
  await becomes(async () => (await view()).model_call_held !== undefined)
  const { until_ms } = (await view()).model_call_held
  t.true(until_ms > clock.now())
  const readiness = async (): Promise<any> =>
    (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes.find(({ active }: any) => active)
  const { state, held, waiting_calls } = await readiness()
  t.deepEqual([state, held.length, held[0].model, waiting_calls], ['ok', 1, 'm', 1])
  t.true(Math.abs(held[0].until_ms - until_ms) < 10)
  clock.leap(200_000)
  const ended = await until(daemon, run_id, 'completed')
  t.is(ended.model_call_held, undefined)
  const { body } = await daemon.request('GET', `/v1/runs/${run_id}/events?steps=true`)
  t.like(
    body.map(({ event }: any) => event).find(({ type }: any) => type === 'model_call_held'),
    { attempt: 1, until_ms },
  )
})

test('models-52: what is held back is so in the next life of the daemon, until the same time, unless the route has changed', async (t) => {
  const [vendor] = vendors
  if (vendor === undefined) return t.fail()
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const server = await serve(t, (number) => {
    const said = vendor.saying('Hello.')
    return said.type === 'stream' && number === 1 ? { ...said, headers: headersOf(vendor) } : said
  })
  const first = await live(t, vendor, server, { root })
  await until(first.daemon, (await submit(first.daemon, 's1', 'first')).run_id, 'completed')
  const [held] = (await first.route()).held
  t.is(held.model, 'm')
  await first.daemon.stop()
  const elsewhere = await live(t, vendor, { ...server, url: `${server.url}/other` }, { root })
  t.deepEqual((await elsewhere.route()).held, [])
  await elsewhere.daemon.stop()
  const second = await live(t, vendor, server, { root })
  const [again] = (await second.route()).held
  t.is(again.model, 'm')
  t.true(Math.abs(again.until_ms - held.until_ms) < 1_000, `${again.until_ms} ${held.until_ms}`)
  const { run_id } = await submit(second.daemon, 's1', 'second')
  await second.becomes(async () => (await second.route()).waiting_calls === 1)
  t.is(server.asked.length, 1)
  second.clock.leap(200_000)
  await until(second.daemon, run_id, 'completed')
  t.is(server.asked.length, 2)
})
