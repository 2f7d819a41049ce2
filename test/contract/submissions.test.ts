/**
 * docs/rules/runs.md, "Submitting", and which route a run uses, against a daemon.
 */
import test from 'ava'
import { realpathSync } from 'node:fs'
import { startTestDaemon, type Reachable } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { freshFolder } from '../support/folders.js'
import { codeOf, openSession, until } from '../support/runs.js'
import { shareDaemon } from '../support/shared-daemon.js'

const workspace = realpathSync(freshFolder())
const flags = ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions']
const stand = shareDaemon(test, { flags })

const asset = { file_name: 'a.txt', media_type: 'text/plain', content_base64: 'YQ==' }
const text = { type: 'text', text: 'a' }

test('runs-5: input_items cannot be combined with content or attachments', async (t) => {
  const { refusal, send, daemon } = await stand()
  t.deepEqual(await refusal({ content: 'x', input_items: [text] }), [400, 'run_input_conflict', 'body.input_items'])
  t.deepEqual(await refusal({ attachments: [asset], input_items: [text] }), [
    400,
    'run_input_conflict',
    'body.input_items',
  ])
  const run = await send({ content: '', attachments: [], input_items: [text, { type: 'text', text: 'b' }] })
  t.is((await until(daemon, run.body.run_id, 'completed')).outputs[0].content, 'You said: a\nb')
})

test('runs-45: a submission takes 24 MiB of files, and 1 MiB of all else', async (t) => {
  const { daemon, send, refusal, session_id } = await stand()
  const of = (bytes: number) => ({ ...asset, content_base64: 'YWFh'.repeat(bytes / 4) })
  const large = of(20 * 1_048_576)
  for (const files of [
    { content: 'x', attachments: [large] },
    { input_items: [text, { type: 'inline_asset', ...large }] },
  ])
    t.deepEqual((await refusal(files)).slice(0, 2), [400, 'asset_invalid'], 'one file has 12 MiB at most')
  const long = 'x'.repeat(1_048_576)
  for (const body of [{ content: long }, { content: 'x', attachments: [large], metadata: { long } }]) {
    const refused = await send(body)
    t.deepEqual([refused.status, refused.body.code, refused.body.limit_bytes], [413, 'payload_too_large', 1_048_576])
  }
  t.is((await send({ content: 'x'.repeat(1_000_000) })).status, 202)
  t.is((await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body.length, 1)
})

test('runs-6: content, attachments or input_items must carry actual input', async (t) => {
  const { refusal, daemon, session_id } = await stand()
  for (const body of [
    {},
    { content: ' \n' },
    { input_items: [], attachments: [] },
    { input_items: [{ type: 'text', text: '\t' }] },
  ]) {
    t.deepEqual(await refusal(body), [400, 'run_input_missing', 'body.content'])
  }
  t.deepEqual((await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body, [])
})

test('runs-8: a binding key leads to one session for ever, also through kill -9', async (t) => {
  const daemon = await startMortal(t)
  for (const id of ['s1', 's2']) await openSession(daemon, id)
  const send = (body: unknown) => daemon.request('POST', '/v1/sessions/s1/runs', body)
  t.is((await send({ content: 'x', binding_keys: [' chat:1 ', 'chat:1', 'chat:2'] })).status, 202)
  t.is((await send({ content: 'x', binding_keys: ['chat:2', 'chat:3'] })).status, 202)
  await daemon.kill('SIGKILL')
  const second = await startTestDaemon(t, { root: daemon.root })
  const other = (key: string) =>
    second.request('POST', '/v1/sessions/s2/runs', { content: 'x', binding_keys: ['chat:8', key] })
  for (const key of ['chat:1', 'chat:2', ' chat:3']) t.deepEqual(codeOf(await other(key)), [409, 'binding_conflict'])
  t.deepEqual((await second.request('GET', '/v1/runs?session_id=s2')).body, [])
  t.is((await other('chat:9')).status, 202)
  t.deepEqual(
    codeOf(await second.request('POST', '/v1/sessions/s1/runs', { content: 'x', binding_keys: ['chat:8'] })),
    [409, 'binding_conflict'],
  )
})

test('runs-8: of two sessions that claim one key at the same time, one gets it', async (t) => {
  const [one, two] = [await stand(), await stand()]
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? one : two).send({ content: 'x', binding_keys: ['race:1'] })),
  )
  const won = answers.filter(({ status }) => status === 202).map(({ body }) => body.session_id)
  t.is(won.length, 20)
  t.is(new Set(won).size, 1)
  for (const lost of answers.filter(({ status }) => status !== 202))
    t.deepEqual(codeOf(lost), [409, 'binding_conflict'])
})

test('runs-9: blank keys, long ones and too many are refused', async (t) => {
  const { refusal } = await stand()
  t.deepEqual(await refusal({ content: 'x', binding_keys: ['chat:7', ' '] }), [
    400,
    'binding_key_blank',
    'body.binding_keys.1',
  ])
  t.deepEqual(await refusal({ content: 'x', binding_keys: Array.from({ length: 101 }, String) }), [
    400,
    'bad_request',
    'body.binding_keys',
  ])
  t.deepEqual(await refusal({ content: 'x', binding_keys: ['k'.repeat(1001)] }), [
    400,
    'bad_request',
    'body.binding_keys.0',
  ])
})

test('runs-10: reply targets are handles or variants, and reply_plugin goes with reply_address', async (t) => {
  const { refusal, send, daemon } = await stand()
  const url = 'https://receiver.invalid/hook'
  const targets = [
    { type: 'http', url },
    { type: 'http', url },
    { type: 'http', url: `${url}/2` },
  ]
  const { body } = await send({ content: 'x', reply_targets: targets })
  t.is((await until(daemon, body.run_id, 'completed')).deliveries.length, 2)
  t.deepEqual(await refusal({ content: 'x', reply_plugin: 'http' }), [
    400,
    'reply_target_incomplete',
    'body.reply_address',
  ])
  t.deepEqual(await refusal({ content: 'x', reply_address: '{}' }), [
    400,
    'reply_target_incomplete',
    'body.reply_plugin',
  ])
  t.deepEqual(await refusal({ content: 'x', reply_plugin: 'fax', reply_address: '1' }), [
    400,
    'reply_target_invalid',
    'body.reply_plugin',
  ])
  t.deepEqual(await refusal({ content: 'x', reply_targets: [targets[0], { plugin: 'fax', address: '1' }] }), [
    400,
    'reply_target_invalid',
    'body.reply_targets.1.plugin',
  ])
  t.deepEqual(await refusal({ content: 'x', reply_targets: [{ type: 'http', url: 'http://127.0.0.1/x' }] }), [
    400,
    'reply_target_invalid',
    'body.reply_targets.0.url',
  ])
  t.deepEqual(await refusal({ content: 'x', reply_targets: [{ plugin: 'http', address: '{}', more: 1 }] }), [
    400,
    'bad_request',
    'body.reply_targets.0.more',
  ])
  t.deepEqual(await refusal({ content: 'x', reply_targets: [{ type: 'pigeon' }] }), [
    400,
    'bad_request',
    'body.reply_targets.0.type',
  ])
})

test('runs-7: an inline asset needs a name and content, and boards are refused while nothing keeps them', async (t) => {
  const { refusal, daemon, session_id } = await stand()
  for (const [field, value] of [
    ['file_name', ''],
    ['file_name', ' '],
    ['content_base64', ''],
  ]) {
    const broken = { ...asset, [field ?? '']: value }
    t.deepEqual(await refusal({ content: 'x', attachments: [asset, broken] }), [
      400,
      'inline_asset_empty',
      `body.attachments.1.${field}`,
    ])
    t.deepEqual(await refusal({ input_items: [text, { type: 'inline_asset', ...broken }] }), [
      400,
      'inline_asset_empty',
      `body.input_items.1.${field}`,
    ])
  }
  t.deepEqual(await refusal({ input_items: [text, { type: 'asset_reference', asset_id: 'a' }] }), [
    404,
    'asset_not_found',
    'body.input_items.1',
  ])
  for (const item of [
    { type: 'board_reference', board_id: 'b' },
    { type: 'board_reference', board_id: 'b', revision_id: 'r' },
  ]) {
    t.deepEqual(await refusal({ input_items: [text, item] }), [404, 'board_not_found', 'body.input_items.1'])
  }
  t.deepEqual(await refusal({ input_items: [{ type: 'video' }] }), [400, 'bad_request', 'body.input_items.0.type'])
  t.deepEqual((await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body, [])
})

test('runs-12: the daemon itself looks whether the run made the file that it must make', async (t) => {
  const { send, refusal, daemon } = await stand()
  const end = async (content: string, ...completion_requirements: unknown[]): Promise<any> =>
    until(daemon, (await send({ content, completion_requirements })).body.run_id, 'completed', 'failed')
  const write = (name: string): string => `/tool write_file ${JSON.stringify({ path: name, content: 'x' })}\n/say Done.`
  t.is(
    (await end(write('out/a.txt'), { type: 'workspace_file', path: 'out/a.txt' }, { type: 'workspace_file' })).status,
    'completed',
  )
  const other = await end(write('out/b.txt'), { type: 'workspace_file', path: 'out/a.txt' })
  t.deepEqual(
    [other.status, other.error],
    ['failed', 'completion_requirement_unmet: the run did not create or update the file out/a.txt.'],
  )
  t.is((await end('I have written a file, honestly.', { type: 'workspace_file' })).status, 'failed')
  for (const at of ['../a', '/etc/passwd', '.'])
    t.deepEqual(await refusal({ content: 'x', completion_requirements: [{ type: 'workspace_file', path: at }] }), [
      400,
      'completion_requirement_invalid',
      'body.completion_requirements.0.path',
    ])
  t.deepEqual(await refusal({ content: 'x', completion_requirements: [{ type: 'tests_pass' }] }), [
    400,
    'bad_request',
    'body.completion_requirements.0.type',
  ])
})

test('runs-12: what the file was when the run began is remembered through kill -9', async (t) => {
  const daemon = await startMortal(t, { flags })
  await openSession(daemon)
  const file = `kept-${process.pid}.txt`
  const content = `/tool write_file ${JSON.stringify({ path: file, content: 'x' })}\n---\n/sleep 1000\n/say Done.`
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', {
    content,
    completion_requirements: [{ type: 'workspace_file', path: file }],
  })
  const wrote = async (): Promise<boolean> =>
    (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.journal.some(
      ({ type }: any) => type === 'outcome',
    )
  while (!(await wrote())) await new Promise((resolve) => setTimeout(resolve, 5))
  await daemon.kill('SIGKILL')
  const second = await startMortal(t, { root: daemon.root, flags })
  t.is((await until(second, body.run_id, 'completed', 'failed')).status, 'completed')
})

test('models-2: route precedence: run override, then the policy of the session, then the default route', async (t) => {
  const { daemon, session_id, send, refusal } = await stand()
  t.like((await send({ content: 'x' })).body.request, { provider: 'demo', model: 'demo' })
  await until(daemon, (await send({ content: 'x' })).body.run_id, 'completed')
  const generation = { model: 'policy-model', fallback_model: 'policy-fallback', temperature: 0.5 }
  t.is(
    (
      await daemon.request('PUT', `/v1/sessions/${session_id}/route-policy`, {
        route_policy: { provider: 'demo', generation },
      })
    ).status,
    200,
  )
  t.like((await send({ content: 'x' })).body.request, {
    provider: 'demo',
    model: 'policy-model',
    fallback_model: 'policy-fallback',
  })
  t.like(
    (await send({ content: 'x', generation: { model: 'run-model', tool_choice: { type: 'auto' } } })).body.request,
    { model: 'run-model', fallback_model: 'policy-fallback' },
  )
  t.deepEqual(await refusal({ content: 'x', provider: 'nowhere' }), [400, 'bad_request', 'body.provider'])
})

test('models-7: a route that the credential scope of the session does not allow is refused', async (t) => {
  const { daemon, session_id, send, refusal } = await stand()
  const scope = (credential_scope: unknown) =>
    daemon.request('PUT', `/v1/sessions/${session_id}/credential-scope`, { credential_scope })
  await scope({ route_deny: ['demo'] })
  t.deepEqual(await refusal({ content: 'x' }), [400, 'route_not_allowed', 'body.provider'])
  await scope({ route_allow: ['demo'] })
  t.is((await send({ content: 'x' })).status, 202)
})

test('runs-14: metadata of the daemon itself is refused, and other metadata is shown with the run', async (t) => {
  const { refusal, send } = await stand()
  for (const key of ['service_flow', 'completion_requirements'])
    t.deepEqual(await refusal({ content: 'x', metadata: { [key]: {} } }), [
      400,
      'reserved_metadata_key',
      `body.metadata.${key}`,
    ])
  t.deepEqual(await refusal({ content: 'x', metadata: 'text' }), [400, 'bad_request', 'body.metadata'])
  t.deepEqual((await send({ content: 'x', metadata: { a: [1] } })).body.input_metadata, { a: [1] })
})

test('runs-15: run idempotency: the same key and payload give the same run, in the header or in the body', async (t) => {
  const { send, refusal } = await stand()
  const first = await send({ content: 'x', metadata: { b: 1, a: 2 } }, { 'idempotency-key': 'k1' })
  t.is((await send({ metadata: { a: 2, b: 1 }, content: 'x', idempotency_key: 'k1' })).body.run_id, first.body.run_id)
  t.is(
    (await send({ metadata: { a: 2, b: 1 }, content: 'x', idempotency_key: 'k1' }, { 'idempotency-key': 'k1' })).body
      .run_id,
    first.body.run_id,
  )
  t.deepEqual(await refusal({ content: 'y', idempotency_key: 'k1' }), [409, 'idempotency_conflict', undefined])
  for (const key of ['', 'käse', 'two words', 'x'.repeat(256)])
    t.deepEqual(
      await refusal({ content: 'x' }, { 'idempotency-key': key }),
      [400, 'invalid_idempotency_key', 'header.idempotency-key'],
      key,
    )
  t.deepEqual(await refusal({ content: 'x', idempotency_key: ' ' }), [
    400,
    'invalid_idempotency_key',
    'body.idempotency_key',
  ])
  t.deepEqual(await refusal({ content: 'x', idempotency_key: 'k2' }, { 'idempotency-key': 'k3' }), [
    400,
    'invalid_idempotency_key',
    'header.idempotency-key',
  ])
})

test('runs-15: run idempotency: equal submissions at once are one run, also if files have to be looked at first', async (t) => {
  const { send } = await stand()
  const body = { content: 'x', completion_requirements: [{ type: 'workspace_file', path: 'out/race.txt' }] }
  const answers = await Promise.all(Array.from({ length: 30 }, () => send(body, { 'idempotency-key': 'k1' })))
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [202])
  t.is(new Set(answers.map(({ body: { run_id } }) => run_id)).size, 1)
})

test('runs-15: run idempotency: a key is remembered through kill -9', async (t) => {
  const daemon = await startMortal(t)
  await openSession(daemon)
  const send = ({ request }: Reachable, content: string) =>
    request('POST', '/v1/sessions/s1/runs', { content }, { 'idempotency-key': 'k1' })
  const first = await send(daemon, 'x')
  await daemon.kill('SIGKILL')
  const second = await startTestDaemon(t, { root: daemon.root })
  t.is((await send(second, 'x')).body.run_id, first.body.run_id)
  t.deepEqual(codeOf(await send(second, 'y')), [409, 'idempotency_conflict'])
  t.is((await second.request('GET', '/v1/runs')).body.length, 1)
})
