import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { done, fails, scriptedProvider, text } from '../../../../../plugins/providers/scripted/contract.js'
import { createCommandLine } from '../../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { eventually } from '../../../../support/mcp.js'
import { makeFolder } from '../../../../support/tools.js'
import { openSession } from '../../../../support/runs.js'

const routes = `default_route = "fast"

[routes.fast]
driver = "demo"
default_model = "demo-fast"

[routes.slow]
driver = "demo"
`

const withRoutes = async (t: ExecutionContext, first: string) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  const write = (content: string): void => writeFileSync(join(root, 'config', 'routes.toml'), content)
  write(first)
  const daemon = await startTestDaemon(t, { root })
  return { ...daemon, write, line: createCommandLine(daemon) }
}

test('models-63: each route is looked at, or the one that is named, and 0 says that all are ready', async (t) => {
  const { line } = await withRoutes(t, routes)
  t.deepEqual(await line('doctor', 'routes'), {
    code: 0,
    out: 'well  route fast/demo-fast: is ready, the default\nwell  route slow/demo: is ready\n\nAll is well.\n',
    err: '',
  })
  t.regex((await line('doctor', 'routes', '--route', 'slow')).out, /^well {2}route slow\/demo: is ready\n\nAll/u)
  t.regex((await line('doctor', 'routes', '--default-route')).out, /^well {2}route fast\/demo-fast: .*\n\nAll/u)
  const nosuch = await line('doctor', 'routes', '--route', 'nosuch')
  t.is(nosuch.code, 2)
  t.regex(nosuch.err, /--route must be one of fast, slow/u)
  const both = await line('doctor', 'routes', '--route', 'slow', '--default-route')
  t.is(both.code, 2)
  t.regex(both.err, /does not go with/u)
})

test('models-63: a route that cannot be asked is not well, and --check-auth says of each key whether it is there', async (t) => {
  const keyed = `\n[routes.keyed]\ndriver = "openai"\ndefault_model = "gpt-5.4"\nauth_ref = "models.keyed"\n`
  const { line, request } = await withRoutes(t, `${routes}${keyed}`)
  const first = await line('doctor', 'routes', '--check-auth')
  t.is(first.code, 1)
  t.regex(
    first.out,
    /^WRONG route keyed\/gpt-5\.4: .*\(secret_not_found\)\n {6}Store it: holdfast secrets set --stdin/mu,
  )
  t.regex(
    first.out,
    /^WRONG key of route keyed\/gpt-5\.4: .*\(secret_not_found\)\n {6}Store it: holdfast secrets set/mu,
  )
  t.regex(first.out, /^well {2}key of route slow\/demo: is there, or it needs none$/mu)
  await request('POST', '/v1/runtime/secrets', { slot_id: 'models.keyed', state: { value: 'sk-canary-key' } })
  const second = await line('doctor', 'routes', '--check-auth', '--route', 'keyed')
  t.is(second.code, 0, second.out)
  t.regex(second.out, /^well {2}key of route keyed\/gpt-5\.4: is the secret models\.keyed, version 1$/mu)
  t.notRegex(second.out, /canary/u)
})

test('models-64: what names a route that is not there is named, whatever it is', async (t) => {
  const { line, request, write } = await withRoutes(t, routes)
  await openSession({ request }, 'keeps')
  await openSession({ request }, 'loses')
  for (const [session_id, provider] of [
    ['keeps', 'fast'],
    ['loses', 'slow'],
  ]) {
    const set = await request('POST', `/v1/sessions/${session_id}/route-policy`, { route_policy: { provider } })
    t.is(set.status, 200)
  }
  const made = await request('POST', '/v1/schedules', {
    name: 'nightly',
    target_session_id: 'keeps',
    cadence: { type: 'cron', expression: '0 3 * * *', timezone: 'UTC' },
    request: { content: 'x', provider: 'slow' },
  })
  t.is(made.status, 201)
  const well = await line('doctor', 'routes', '--check-references')
  t.is(well.code, 0, well.out)
  t.regex(well.out, /^well {2}references: each of \d names a route that is there$/mu)
  write(routes.replace('[routes.slow]', '[routes.other]'))
  await eventually(async () => ((await line('doctor', 'routes')).out.includes('route other/') ? true : undefined))
  const { code, out } = await line('doctor', 'routes', '--check-references')
  t.is(code, 1)
  t.deepEqual(
    out.match(/^WRONG references: .*$/gmu),
    ['the session loses', `the schedule ${made.body.schedule_id}`].map(
      (of) => `WRONG references: ${of} names the route slow, which is not there (route_unknown)`,
    ),
  )
  t.regex(out, /add the route to config\/routes\.toml\. See holdfast sessions get loses$/mu)
})

test('models-65: the canary is one small question to each model: its answer, or its error in a sentence', async (t) => {
  const model = scriptedProvider(function* (_, count) {
    if (count > 1) return yield fails(false, 'The provider has no such model.')
    yield text('ready')
    yield done()
  })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const line = createCommandLine(daemon)
  const well = await line('doctor', 'routes', '--canary')
  t.is(well.code, 0, well.out)
  t.regex(well.out, /^well {2}canary of route \S+: answered in \d+ ms: ready$/mu)
  const ill = await line('doctor', 'routes', '--canary', '--canary-timeout-ms', '5000')
  t.is(ill.code, 1)
  t.regex(ill.out, /^WRONG canary of route \S+: does not answer: The provider has no such model\. \(bad_request\)$/mu)
  t.is(model.requests.length, 2)
  const wrong = await line('doctor', 'routes', '--canary', '--canary-timeout-ms', '1')
  t.is(wrong.code, 2)
  t.regex(wrong.err, /--canary-timeout-ms must be a number from 100 to 600000/u)
})

test('models-65: the canary goes first: a route whose model answers it is well, whatever came of the call before', async (t) => {
  const model = scriptedProvider(function* (_, count) {
    if (count === 1) return yield fails(false, 'The provider refused the request.')
    yield text('ready')
    yield done()
  })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const line = createCommandLine(daemon)
  t.regex((await line('doctor', 'routes', '--canary')).out, /^WRONG route \S+: The last call failed\./mu)
  const { code, out } = await line('doctor', 'routes', '--canary')
  t.is(code, 0, out)
  t.regex(out, /^well {2}route \S+: is ready/mu)
})

test('models-65: a model that does not answer in the time of the canary is told so', async (t) => {
  const silent = scriptedProvider(async function* (_, __, signal) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    yield fails(false, 'It was ended.')
  })
  const daemon = await startTestDaemon(t, { plugins: [silent.plugin], config: silent.config })
  const { code, out } = await createCommandLine(daemon)('doctor', 'routes', '--canary', '--canary-timeout-ms', '200')
  t.is(code, 1)
  t.regex(out, /^WRONG canary of route \S+: does not answer: .*\(timeout\)$/mu)
})

test('models-69: a route that is not there is to be added to the file that the daemon reads', async (t) => {
  const file = join(await makeFolder(t), 'mine.toml')
  writeFileSync(file, routes)
  const daemon = await startTestDaemon(t, { flags: { 'routes-file': file } })
  await openSession(daemon, 's1')
  t.is(
    (await daemon.request('POST', '/v1/sessions/s1/route-policy', { route_policy: { provider: 'slow' } })).status,
    200,
  )
  writeFileSync(file, routes.replace('[routes.slow]', '[routes.other]'))
  const line = createCommandLine(daemon)
  await eventually(async () => ((await line('doctor', 'routes')).out.includes('route other/') ? true : undefined))
  const { out } = await line('doctor', 'routes', '--check-references')
  t.true(out.includes(`add the route to ${file}. See holdfast sessions get s1`), out)
})
