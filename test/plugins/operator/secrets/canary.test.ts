/** Values in every field that takes a secret, looked for in all that a daemon leaves, says and starts. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, spawnTestDaemon } from '../../../support/daemon.js'
import { calling, saying, startOpenAiServer } from '../../../support/openai-server.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { openStream } from '../../../support/sse.js'

const key = 'c0ffee11'.repeat(8)
const canaries = {
  opaque: 'cänary "one"\\/+=?&',
  modelOld: 'canary-two/+=%25&',
  modelNew: 'canary-three/+=%25&',
  access: 'canary four é',
  refresh: 'canary-five-€',
  client: 'canary~six!*',
  gone: 'canary-seven-%%',
  refused: 'canary-eight-;;',
}
const secret = [...Object.values(canaries), key]

/** A value raw, as in JSON, in base64, in hex and as in a URL. */
const formsOf = (value: string): string[] => {
  const bytes = Buffer.from(value)
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/u, ''),
    bytes.toString('base64url'),
    encodeURIComponent(value),
  ]
}
const forms = [...new Set([...secret.flatMap(formsOf), Buffer.from(key, 'hex').toString('base64')])]

const found = (where: string, bytes: Buffer): string[] =>
  forms.filter((form) => bytes.includes(form)).map((form) => `${where} holds ${form}`)
const foundBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .flatMap((path) => found(path, readFileSync(path)))

test('secrets-3: a value stands nowhere: not in the root, a backup, the log, an answer, an event or a child', async (t) => {
  const [root, backups] = [await freshRoot(), await freshRoot()]
  const command = JSON.stringify({
    command: 'env; tr "\\0" "\\n" < /proc/self/environ; tr "\\0" " " < /proc/self/cmdline',
  })
  const server = await startOpenAiServer(({ number, headers }) => {
    if (number === 1) return calling({ id: 'c1', name: 'bash', input: command })
    if (number !== 3) return saying('Done')
    return { type: 'status', status: 401, body: `{"error":{"message":"no: ${headers.authorization}"}}` }
  })
  t.teardown(() => server.close())
  const daemon = await spawnTestDaemon(t, {
    root,
    env: { SERVICE_SECRETS_KEY: key },
    flags: [
      '--provider=openai_compatible',
      `--provider-base-url=${server.url}`,
      '--model=m',
      '--auth-ref=models.key',
      '--permission-mode=bypassPermissions',
      '--debug-level=full',
      `--workspace-root=${await freshRoot()}`,
      '--log-level=debug',
    ],
  })
  const said: string[] = []
  const ask: typeof daemon.request = async (...given) => {
    const got = await daemon.request(...given)
    said.push(JSON.stringify(got.headers), got.text)
    return got
  }
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream' })
  const store = (slot_id: string, value: string, more: object = {}) =>
    ask('POST', '/v1/runtime/secrets', { slot_id, state: { value }, ...more })
  await store('opaque', canaries.opaque)
  await store('gone', canaries.gone)
  await store('models.key', canaries.modelOld, { mode: 'api_key' })
  await ask('POST', '/v1/runtime/auth/accounts', {
    slot_id: 'mail',
    state: {
      access_token: canaries.access,
      refresh_token: canaries.refresh,
      client_secret: canaries.client,
    },
  })
  await openSession({ ...daemon, request: ask })
  const run = async (text: string, status: string) =>
    said.push(JSON.stringify(await until(daemon, (await submit(daemon, 's1', text)).run_id, status)))
  await run('Look around', 'completed')
  await run('Fail', 'failed')
  await store('models.key', canaries.modelNew, { mode: 'api_key' })
  await ask('DELETE', '/v1/runtime/secrets/gone')
  await run('Again', 'completed')
  for (const body of [
    { slot_id: 'x', state: { value: canaries.refused, more: canaries.refused } },
    { slot_id: 'x', state: { value: canaries.refused }, provider: 'generic', [canaries.refused]: 1 },
    { slot_id: 'x', mode: 'oauth_account', state: { access_token: canaries.refused, expires_at_ms: canaries.refused } },
  ])
    said.push((await daemon.request('POST', '/v1/runtime/secrets', body)).status === 400 ? '' : canaries.refused)
  for (const path of ['runtime/secrets', 'runtime/auth/accounts', 'status', 'runtime', 'sessions/s1/events', 'runs'])
    await ask('GET', `/v1/${path}`)
  const line = createCommandLine(daemon)
  for (const words of [
    ['secrets', 'list'],
    ['backup', 'create', join(backups, 'b'), '--state-root', root],
  ])
    said.push(JSON.stringify(await line(...words)))
  t.deepEqual(
    server.asked.map(({ headers }) => headers.authorization?.slice('Bearer '.length)),
    [canaries.modelOld, canaries.modelOld, canaries.modelOld, canaries.modelNew],
    'the values were used',
  )
  await daemon.stop()
  said.push(daemon.logText(), JSON.stringify(stream?.frames))
  stream?.close()
  t.deepEqual(
    said.flatMap((text, at) => found(`answer ${at}: ${text.slice(0, 80)}`, Buffer.from(text))),
    [],
  )
  t.deepEqual(foundBelow(root), [])
  t.deepEqual(foundBelow(backups), [])
  t.true(readdirSync(backups).length > 0)
})
