import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createBlobs } from '../../../../core/state/side/blobs.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import type { JsonObject } from '../../../../core/base/schema.js'
import { object, optional, string, type AnyPlugin } from '../../../../core/plugin.js'
import { defineTool, Tools } from '../../../../plugins/execution/tools/contract.js'
import { copyRoot } from '../../../support/crash.js'
import { freshRoot, startTestDaemon, type TestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { testPlugin } from '../../../support/plugins.js'

const key = 'ab'.repeat(32)
/** Put together here, so that no scanner takes this file for a leak. */
const canary = ['gh', 'p_', 'canary0canary0canary0canary0'].join('')
const known = 'known-secret-value'

/** A tool that answers with what it was given, and knows a secret of the daemon. */
const echo: AnyPlugin = testPlugin('echo', {
  register(ctx) {
    ctx.onStart(() => ctx.secrets.guard(known))
    ctx.contribute(
      Tools,
      defineTool({
        name: 'echo',
        description: 'Answers with what it was given.',
        input: object({ what: optional(string()), password: optional(string()) }),
        effect: 'read',
        parallel: false,
        timeout_ms: 5000,
        sandbox: 'inherited',
        run: (input) => ({ type: 'result', output: { what: input.what ?? null, password: input.password ?? null } }),
      }),
    )
  },
})

const start = (t: ExecutionContext, debug: JsonObject, more: TestDaemonOptions = {}): Promise<TestDaemon> =>
  startTestDaemon(t, { plugins: [echo], config: { debug }, ...more })

const runOnce = async (daemon: TestDaemon, content: string, session = 's1'): Promise<string> => {
  await openSession(daemon, session)
  return (await until(daemon, (await submit(daemon, session, content)).run_id, 'completed')).run_id
}
const debugOf = (daemon: TestDaemon, run_id: string) => daemon.request('GET', `/v1/runs/${run_id}/debug`)
const textOf = (daemon: TestDaemon, run_id: string, artifact_id: string) =>
  daemon.request('GET', `/v1/runs/${run_id}/debug/artifacts/${artifact_id}`)
const codeOf = ({ status, body }: { status: number; body: any }): [number, string] => [status, body.code]
const script = `/tool echo {"what":"${canary} ada@example.org ${known}","password":"hunter2"}\n---\n/say Done with ${canary}.`

/** Every byte of every file below a folder. */
const allBytes = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n')

test('debug-1: nothing is kept while capture is off', async (t) => {
  const daemon = await start(t, {})
  const run_id = await runOnce(daemon, script)
  t.deepEqual(codeOf(await debugOf(daemon, run_id)), [404, 'run_debug_not_found'])
  t.deepEqual(codeOf(await textOf(daemon, run_id, '0001-model')), [404, 'run_debug_not_found'])
  t.deepEqual(codeOf(await debugOf(daemon, 'none')), [404, 'run_not_found'])
  t.is((await daemon.request('GET', '/v1/runtime')).body.debug_level, 'off')
})

test(
  'at `on`, one artifact for each attempt and call says what it was, when and how large, and nothing of what was ' +
    'said',
  async (t) => {
    const daemon = await start(t, { debug_level: 'on' })
    const run_id = await runOnce(daemon, script)
    const { body } = await debugOf(daemon, run_id)
    t.like(body, { run_id, level: 'on', dropped_artifact_count: 0 })
    t.deepEqual(
      body.artifacts.map(({ artifact_id }: any) => artifact_id),
      ['0001-model', '0002-tool', '0003-model'],
    )
    const answer = await textOf(daemon, run_id, '0002-tool')
    t.regex(answer.headers['content-type'] ?? '', /^text\/plain; charset=utf-8/u)
    t.like(JSON.parse(answer.text), { kind: 'tool', name: 'echo', turn: 1, attempt: 1, outcome: 'result' })
    t.like(JSON.parse((await textOf(daemon, run_id, '0003-model')).text), {
      kind: 'model',
      name: 'demo',
      turn: 2,
      outcome: 'stop',
    })
    t.true(JSON.parse(answer.text).request_bytes > canary.length)
    for (const { artifact_id, bytes, plaintext_bytes, encrypted, truncated } of body.artifacts) {
      const { text } = await textOf(daemon, run_id, artifact_id)
      for (const said of [canary, 'ada@', 'hunter2', known, 'Done with']) t.false(text.includes(said), artifact_id)
      t.deepEqual([bytes, plaintext_bytes, encrypted, truncated], [text.length, text.length, false, false])
    }
    t.deepEqual(codeOf(await textOf(daemon, run_id, '0004-model')), [404, 'run_debug_artifact_not_found'])
  },
)

test('at `redacted`, what was said is kept without secrets and personal data; at `full`, without known secrets', async (t) => {
  for (const [debug_level, gone, kept] of [
    ['redacted', [canary, 'ada@example.org', 'hunter2', known], ['<redacted>', '<email>']],
    ['full', [known], [canary, 'ada@example.org', 'hunter2']],
  ] as const) {
    const daemon = await start(t, { debug_level })
    const run_id = await runOnce(daemon, script)
    const { artifacts } = (await debugOf(daemon, run_id)).body
    const texts = (await Promise.all(artifacts.map(({ artifact_id }: any) => textOf(daemon, run_id, artifact_id)))).map(
      ({ text }: any) => text,
    )
    for (const text of texts) for (const said of gone) t.false(text.includes(said), `${debug_level} ${said}`)
    for (const said of kept)
      t.true(
        texts.some((text) => text.includes(said)),
        `${debug_level} ${said}`,
      )
    t.like(JSON.parse(texts[1]).request, { password: debug_level === 'full' ? 'hunter2' : '<redacted>' })
    t.true(texts[2].includes('Done with'))
    await daemon.stop()
  }
})

test('debug-7: the limits of an artifact, of a run and of its number are kept, and what they keep out is counted', async (t) => {
  const daemon = await start(t, { debug_level: 'full', max_artifact_bytes: 1024, max_artifacts_per_run: 2 })
  const run_id = await runOnce(daemon, `/tool echo {"what":"${'é'.repeat(2000)}"}\n---\n/say Done.`)
  const {
    artifacts: [, cut],
    dropped_artifact_count,
  } = (await debugOf(daemon, run_id)).body
  t.is(dropped_artifact_count, 1)
  t.like(cut, { artifact_id: '0002-tool', truncated: true })
  t.true(cut.original_bytes > 8000 && cut.bytes <= 1024 && cut.bytes > 1020)
  const { text } = await textOf(daemon, run_id, cut.artifact_id)
  t.is(Buffer.byteLength(text), cut.bytes)
  t.false(text.includes('\u{fffd}'))
  await daemon.stop()
  const small = await start(t, { debug_level: 'full', max_run_bytes: 1024 })
  const other = await runOnce(small, `/tool echo {"what":"${'x'.repeat(2000)}"}\n---\n/say Done.`)
  t.deepEqual((await debugOf(small, other)).body.artifacts, [])
  t.is((await debugOf(small, other)).body.dropped_artifact_count, 3)
})

test('debug-10: with a key nothing of it is on disk in the clear, and another key does not read it', async (t) => {
  const root = await freshRoot()
  const first = await start(t, { debug_level: 'full', debug_capture_key: key }, { root })
  await openSession(first)
  const { run_id } = await submit(first, 's1', '/say plain')
  await until(first, run_id, 'completed')
  const {
    artifacts: [artifact],
  } = (await debugOf(first, run_id)).body
  t.like(artifact, { encrypted: true })
  t.is(artifact.bytes, artifact.plaintext_bytes + 28)
  t.true((await textOf(first, run_id, artifact.artifact_id)).text.includes('plain'))
  const { debug_capture } = (await first.request('GET', '/v1/runtime')).body
  t.like(debug_capture, { encryption_enabled: true, encryption_key_id: artifact.encryption_key_id })
  await first.stop()
  const blobs = allBytes(join(root, 'blobs'))
  t.true(blobs.length > 0)
  for (const said of ['plain', '"kind"', 'request']) t.false(blobs.includes(said))
  t.false(allBytes(root).includes(key))
  for (const debug of [{}, { debug_capture_key: 'cd'.repeat(32) }]) {
    const later = await start(t, debug, { root })
    t.deepEqual(codeOf(await textOf(later, run_id, artifact.artifact_id)), [409, 'run_debug_artifact_unreadable'])
    await later.stop()
  }
  const again = await start(t, { debug_capture_key: Buffer.from(key, 'hex').toString('base64') }, { root })
  t.true((await textOf(again, run_id, artifact.artifact_id)).text.includes('plain'), 'the same key in another spelling')
})

test('debug-6: an artifact whose bytes are damaged or gone is unreadable', async (t) => {
  const root = await freshRoot()
  const daemon = await start(t, { debug_level: 'on' }, { root })
  const run_id = await runOnce(daemon, '/tool echo {}')
  const {
    artifacts: [first, second],
  } = (await debugOf(daemon, run_id)).body
  const fileOf = ({ sha256 }: any): string => join(root, 'blobs/debug', sha256.slice(0, 2), sha256)
  const sound = readFileSync(fileOf(first))
  writeFileSync(fileOf(first), 'x')
  t.deepEqual(codeOf(await textOf(daemon, run_id, first.artifact_id)), [409, 'run_debug_artifact_unreadable'])
  writeFileSync(fileOf(first), sound)
  t.is((await textOf(daemon, run_id, second.artifact_id)).status, 200)
})

test('a key that cannot be used stops the plugin if something is to be kept, and the daemon goes on', async (t) => {
  const daemon = await start(t, { debug_level: 'on', debug_capture_key: 'too short' })
  const { plugins } = (await daemon.request('GET', '/v1/status')).body
  const report = plugins.find(({ id }: any) => id === 'debug')
  t.not(report.state, 'ready')
  t.regex(JSON.stringify(report), /The key for debug evidence cannot be used: it is not 32 bytes in hex or base64/u)
  t.false(JSON.stringify(report).includes('too short'))
  t.truthy(await runOnce(daemon, 'still here'))
})

test('with capture off a key that cannot be used is told, and capture cannot be turned on', async (t) => {
  const daemon = await start(t, { debug_capture_key_file: '/nowhere' }, { plugins: [echo] })
  const { debug_capture } = (await daemon.request('GET', '/v1/runtime')).body
  t.like(debug_capture, { encryption_enabled: false, max_artifacts_per_run: 64, ttl_ms: 604_800_000 })
  t.regex(debug_capture.encryption_key_error, /cannot be used: it does not exist/u)
  const refused = await daemon.request('POST', '/v1/runtime/debug-level', { level: 'on' })
  t.like(refused.body, { status: 409, code: 'debug_capture_key_unusable' })
  t.is((await daemon.request('GET', '/v1/runtime')).body.debug_level, 'off')
  const run_id = await runOnce(daemon, 'x')
  t.is((await debugOf(daemon, run_id)).status, 404)
})

test('capture is turned on and off while the daemon runs', async (t) => {
  const daemon = await start(t, {}, { plugins: [echo] })
  t.is((await daemon.request('POST', '/v1/runtime/debug-level', { level: 'full' })).body.debug_level, 'full')
  t.is((await debugOf(daemon, await runOnce(daemon, 'x'))).body.level, 'full')
  await daemon.request('POST', '/v1/runtime/debug-level', { level: 'off' })
  t.is((await debugOf(daemon, await runOnce(daemon, 'x'))).status, 404)
})

/** A clock whose wall time can be moved. */
const movableClock = () => {
  const clock = createClock()
  let ahead = 0
  return {
    ...clock,
    now: () => clock.now() + ahead,
    move: (ms: number) => {
      ahead += ms
    },
  }
}

const blobsIn = (root: string): number =>
  readdirSync(join(root, 'blobs/debug'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length

test('debug-8: evidence ends with its time to live; that of a run that waits ends too, and more of it can be kept', async (t) => {
  const root = await freshRoot()
  const clock = movableClock()
  const first = await start(t, { debug_level: 'on' }, { root, clock })
  const run_id = await runOnce(first, 'x')
  const waiting = (await submit(first, 's1', '/ask Go on? | yes | no')).run_id
  const {
    pending_questions: [question],
  } = await until(first, waiting, 'waiting_for_user_question')
  t.is((await debugOf(first, waiting)).body.artifacts.length, 2)
  await first.stop()
  clock.move(8 * 86_400_000)
  const later = await start(t, { debug_level: 'on' }, { root, clock })
  for (let tries = 0; tries < 500 && blobsIn(root) > 0; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
  t.deepEqual(codeOf(await debugOf(later, run_id)), [404, 'run_debug_not_found'])
  t.deepEqual((await debugOf(later, waiting)).body.artifacts, [])
  t.is(
    (
      await later.request('POST', `/v1/runs/${waiting}/questions`, {
        resolution: { request_id: question.id, answers: [{ question_id: 'q1', selected_option_ids: ['o1'] }] },
      })
    ).status,
    202,
  )
  await until(later, waiting, 'completed')
  t.deepEqual(
    (await debugOf(later, waiting)).body.artifacts.map(({ artifact_id }: any) => artifact_id),
    ['0003-model'],
  )
})

test('debug-9: the oldest ended run makes room for a new one', async (t) => {
  const root = await freshRoot()
  const daemon = await start(t, { debug_level: 'full', max_store_bytes: 1024 * 1024 }, { root })
  const large = '/say ' + 'x'.repeat(300_000)
  const [first, second] = [await runOnce(daemon, large), await runOnce(daemon, large, 's2')]
  t.is((await debugOf(daemon, second)).body.artifacts.length, 1)
  t.is((await debugOf(daemon, first)).status, 404)
  t.is(blobsIn(root), 1)
})

test('debug-12: prune tells what it would remove, removes the evidence of old ended runs, and keeps the runs', async (t) => {
  const root = await freshRoot()
  const clock = movableClock()
  const daemon = await start(t, { debug_level: 'on' }, { root, clock })
  const [a, b, c] = [await runOnce(daemon, 'x'), await runOnce(daemon, 'y'), await runOnce(daemon, 'z', 's2')]
  const prune = async (body: unknown) => (await daemon.request('POST', '/v1/runs/prune', body)).body
  t.like(await prune({ older_than_ms: 60_000 }), {
    dry_run: false,
    matched_run_count: 0,
    candidate_run_ids: [],
    pruned_debug_run_ids: [],
  })
  clock.move(120_000)
  const fresh = await runOnce(daemon, 'new')
  const told = await prune({ older_than_ms: 60_000, dry_run: true })
  t.like(told, {
    dry_run: true,
    matched_run_count: 3,
    candidate_run_ids: [a, b, c],
    pruned_debug_run_ids: [],
    pruned_debug_bytes: 0,
  })
  t.is(told.now_ms - told.cutoff_ms, 60_000)
  t.true(told.candidate_debug_bytes > 100)
  t.like(await prune({ older_than_ms: 60_000, session_id: 's2' }), { pruned_debug_run_ids: [c] })
  t.like(await prune({ older_than_ms: 60_000, limit: 1 }), {
    limit: 1,
    matched_run_count: 2,
    candidate_run_ids: [a],
    pruned_debug_run_ids: [a],
  })
  t.is((await debugOf(daemon, a)).status, 404)
  t.is((await daemon.request('GET', `/v1/runs/${a}`)).status, 200)
  t.is((await debugOf(daemon, b)).status, 200)
  t.is(blobsIn(root), 2)
  for (const body of [
    {},
    { older_than_ms: 0 },
    { older_than_ms: '1' },
    { older_than_ms: 1, limit: 0 },
    { older_than_ms: 1, more: 1 },
  ]) {
    const refused = await daemon.request('POST', '/v1/runs/prune', body)
    t.deepEqual(
      [refused.status, refused.body.code, refused.body.domain, refused.body.errors.length > 0],
      [400, 'run_retention_invalid_request', 'runs', true],
    )
  }
  t.is((await debugOf(daemon, fresh)).status, 200)
})

test('bytes that no record names are removed at the next start', async (t) => {
  const root = await freshRoot()
  const daemon = await start(t, { debug_level: 'on' }, { root })
  const run_id = await runOnce(daemon, 'x')
  await debugOf(daemon, run_id)
  await daemon.stop()
  await createBlobs({ folder: join(root, 'blobs'), disk: createDisk() })
    .area('debug')
    .put(Buffer.from('orphan'))
  t.is(blobsIn(root), 2)
  const later = await start(t, {}, { root })
  t.is(blobsIn(root), 1)
  t.is((await textOf(later, run_id, '0001-model')).status, 200)
})

test('the record goes before its bytes: a kill in between leaves no artifact that cannot be read', async (t) => {
  const [root, copies] = [await freshRoot(), await freshRoot()]
  const disk = createDisk()
  const moments: string[] = []
  const unlink = async (file: string): Promise<void> => {
    await disk.unlink(file)
    if (!file.includes('blobs/debug')) return
    moments.push(join(copies, String(moments.length)))
    copyRoot(root, moments.at(-1) ?? '')
  }
  const daemon = await start(t, { debug_level: 'on' }, { root, disk: { ...disk, unlink } })
  const run_id = await runOnce(daemon, '/tool echo {}')
  await debugOf(daemon, run_id)
  await new Promise((resolve) => setTimeout(resolve, 5))
  t.like((await daemon.request('POST', '/v1/runs/prune', { older_than_ms: 1 })).body, {
    pruned_debug_run_ids: [run_id],
  })
  t.is(moments.length, 3)
  for (const moment of moments) {
    const later = await start(t, {}, { root: moment })
    t.is((await debugOf(later, run_id)).status, 404)
    t.is(blobsIn(moment), 0, 'what was left is removed')
    await later.stop()
  }
})

test('bytes that cannot be removed now are removed by the next start', async (t) => {
  const root = await freshRoot()
  const disk = createDisk()
  const unlink = async (file: string): Promise<void> => {
    if (file.includes('blobs/debug')) throw Object.assign(new Error('busy'), { code: 'EBUSY' })
    await disk.unlink(file)
  }
  const daemon = await start(t, { debug_level: 'on' }, { root, disk: { ...disk, unlink } })
  const run_id = await runOnce(daemon, 'x')
  await debugOf(daemon, run_id)
  await new Promise((resolve) => setTimeout(resolve, 5))
  t.is((await daemon.request('POST', '/v1/runs/prune', { older_than_ms: 1 })).status, 200)
  t.is((await debugOf(daemon, run_id)).status, 404)
  t.is(blobsIn(root), 1)
  await daemon.stop()
  await start(t, {}, { root })
  t.is(blobsIn(root), 0)
})
