/**
 * docs/rules/debug.md: rules that can be seen from outside, against a daemon, a process of its own where it is killed.
 */
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { freshRoot, spawnTestDaemon, startTestDaemon, type Ask, type TestDaemon } from '../support/daemon.js'
import { createCommandLine } from '../support/command-line.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'

const full = ['--debug-level', 'full']
/** Put together here, so that no scanner takes this file for a leak. */
const canary = ['sk', '-proj-', 'c4n4ryC4n4ryC4n4ryC4n4ry'].join('')
const script = `/tool list_files {}\n---\n/say The key ${canary} of ada@example.org.`

interface Reached {
  readonly request: Ask
}
const ranOnce = async (daemon: Reached, session: string, content = script): Promise<string> => {
  await openSession(daemon, session)
  return (await until(daemon, (await submit(daemon, session, content)).run_id, 'completed')).run_id
}
const debugOf = ({ request }: Reached, run_id: string) => request('GET', `/v1/runs/${run_id}/debug`)
const artifactOf = ({ request }: Reached, run_id: string, artifact_id: string) =>
  request('GET', `/v1/runs/${run_id}/debug/artifacts/${artifact_id}`)
const lastText = async (daemon: Reached, run_id: string): Promise<string> =>
  (await artifactOf(daemon, run_id, (await debugOf(daemon, run_id)).body.artifacts.at(-1).artifact_id)).text
const start = (
  t: any,
  level?: string,
  more: { root?: string; flags?: Record<string, string> } = {},
): Promise<TestDaemon> =>
  startTestDaemon(t, { ...more, flags: { ...(level !== undefined && { 'debug-level': level }), ...more.flags } })

test.serial('debug-4: GET /v1/runs/{run_id}/debug: the RunDebugView', async (t) => {
  const daemon = await start(t, 'full')
  const run_id = await ranOnce(daemon, 's1')
  const { status, body } = await debugOf(daemon, run_id)
  t.is(status, 200)
  t.deepEqual({ ...body, artifacts: [] }, { run_id, level: 'full', artifacts: [], dropped_artifact_count: 0 })
  t.deepEqual(
    body.artifacts.map(({ artifact_id }: any) => artifact_id),
    ['0001-model', '0002-tool', '0003-model'],
  )
  for (const artifact of body.artifacts) {
    t.like(artifact, { format: 'json', encrypted: false, truncated: false, bytes: artifact.plaintext_bytes })
    t.regex(artifact.sha256, /^[0-9a-f]{64}$/u)
  }
})

test.serial('debug-5: GET /v1/runs/{run_id}/debug/artifacts/{artifact_id}: raw UTF-8 text, no envelope', async (t) => {
  const daemon = await start(t, 'full')
  const run_id = await ranOnce(daemon, 's1', '/say grüß dich')
  const { status, headers, text } = await artifactOf(daemon, run_id, '0001-model')
  t.is(status, 200)
  t.regex(headers['content-type'] ?? '', /^text\/plain; charset=utf-8$/u)
  t.true(text.includes('grüß dich'))
})

test.serial(
  'debug-6: Codes of debug reads: run_debug_not_found, run_debug_artifact_not_found, run_debug_artifact_unreadable',
  async (t) => {
    const root = await freshRoot()
    const off = await start(t, undefined, { root })
    const silent = await ranOnce(off, 's1')
    t.deepEqual(codeOf(await debugOf(off, silent)), [404, 'run_debug_not_found'])
    t.deepEqual(codeOf(await artifactOf(off, silent, 'x')), [404, 'run_debug_not_found'])
    t.deepEqual(codeOf(await debugOf(off, 'none')), [404, 'run_not_found'])
    await off.stop()
    const daemon = await start(t, 'on', { root, flags: { 'debug-capture-key': 'ab'.repeat(32) } })
    const run_id = await ranOnce(daemon, 's1')
    t.deepEqual(codeOf(await artifactOf(daemon, run_id, '0009-model')), [404, 'run_debug_artifact_not_found'])
    t.is((await artifactOf(daemon, run_id, '0001-model')).status, 200)
    await daemon.stop()
    const other = await start(t, undefined, { root, flags: { 'debug-capture-key': 'cd'.repeat(32) } })
    t.deepEqual(codeOf(await artifactOf(other, run_id, '0001-model')), [409, 'run_debug_artifact_unreadable'])
    t.is((await debugOf(other, run_id)).status, 200, 'the list needs no key')
  },
)

test.serial('http-25: debug reads and prune take an admin token', async (t) => {
  const daemon = await startTestDaemon(t, {
    flags: { 'debug-level': 'on', 'http-admin-token': 'admin-token-1', 'http-readonly-token': 'read-token-1' },
    headers: { authorization: 'Bearer admin-token-1' },
  })
  const run_id = await ranOnce(daemon, 's1')
  for (const [method, at] of [
    ['GET', `/v1/runs/${run_id}/debug`],
    ['GET', `/v1/runs/${run_id}/debug/artifacts/0001-model`],
    ['POST', '/v1/runs/prune'],
  ] as const) {
    const ask = async (token?: string): Promise<number> =>
      (
        await fetch(`${daemon.url}${at}`, {
          method,
          headers: {
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            ...(method === 'POST' && { 'content-type': 'application/json' }),
          },
          ...(method === 'POST' && { body: JSON.stringify({ older_than_ms: 1e12 }) }),
        })
      ).status
    t.deepEqual([await ask(), await ask('read-token-1'), await ask('admin-token-1')], [401, 403, 200], at)
  }
})

test.serial(
  'debug-1: Levels: off keeps nothing, on keeps no text, redacted no secret and no personal data, full what was said',
  async (t) => {
    for (const [level, secret, word] of [
      ['on', false, false],
      ['redacted', false, true],
      ['full', true, true],
    ] as const) {
      const daemon = await start(t, level)
      t.is((await daemon.request('GET', '/v1/runtime')).body.debug_level, level)
      const text = await lastText(daemon, await ranOnce(daemon, 's1'))
      t.deepEqual(
        [text.includes(canary), text.includes('ada@example.org'), text.includes('The key')],
        [secret, secret, word],
        level,
      )
      t.like(JSON.parse(text), { kind: 'model', name: 'demo', turn: 2, attempt: 1, outcome: 'stop' })
      await daemon.stop()
    }
  },
)

test.serial('debug-2: Known secret values are in no level: the admin token is in no artifact', async (t) => {
  const token = 'admin-token-that-is-known'
  const daemon = await spawnTestDaemon(t, {
    flags: [...full, '--http-admin-token', token],
    headers: { authorization: `Bearer ${token}` },
  })
  const run_id = await ranOnce(daemon, 's1', `/say it is ${token} here`)
  const text = await lastText(daemon, run_id)
  t.false(text.includes(token))
  t.true(text.includes('it is [redacted] here'))
})

test.serial('debug-7: the limits and their defaults stand in debug_capture', async (t) => {
  const daemon = await start(t)
  const MiB = 1024 * 1024
  t.deepEqual((await daemon.request('GET', '/v1/runtime')).body.debug_capture, {
    ttl_ms: 7 * 86_400_000,
    gc_interval_ms: 3_600_000,
    max_artifact_bytes: 4 * MiB,
    max_run_bytes: 32 * MiB,
    max_artifacts_per_run: 64,
    encryption_enabled: false,
  })
  await daemon.stop()
  const limited = await start(t, 'full', {
    flags: {
      'debug-max-artifact-bytes': '2048',
      'debug-max-artifacts-per-run': '1',
      'debug-max-store-bytes': String(MiB),
    },
  })
  const run_id = await ranOnce(limited, 's1', `/say ${'x'.repeat(5000)}\n/tool list_files {}`)
  const {
    artifacts: [artifact],
    dropped_artifact_count,
  } = (await debugOf(limited, run_id)).body
  t.like(artifact, { truncated: true, plaintext_bytes: 2048 })
  t.true(artifact.original_bytes > 5000)
  t.is(dropped_artifact_count, 2)
})

/** Every file below a folder as text. */
const allBytes = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n')

test.serial(
  'debug-10: Encryption at rest: with a key file, what is captured is nowhere in the root in the clear, and ' +
    'is read through the daemon',
  async (t) => {
    const root = await freshRoot()
    const file = path.join(await freshRoot(), 'key')
    writeFileSync(file, `${'0f'.repeat(32)}\n`, { mode: 0o600 })
    const daemon = await spawnTestDaemon(t, { flags: full, root, env: { SERVICE_DEBUG_CAPTURE_KEY_FILE: file } })
    const run_id = await ranOnce(daemon, 's1', '/tool list_files {}')
    const text = await lastText(daemon, run_id)
    // Nothing but the evidence itself says this; what a session was told is in its journal in any case.
    const phrase = '"request_bytes"'
    t.true(text.includes(phrase))
    await daemon.kill('SIGKILL')
    t.false(allBytes(root).includes(phrase))
    t.false(allBytes(root).includes('0f'.repeat(32)))
  },
)

test.serial(
  'debug-11: A key that cannot be used: the daemon runs, nothing is captured, and the status says why',
  async (t) => {
    const daemon = await spawnTestDaemon(t, { flags: [...full, '--debug-capture-key', 'not a key'] })
    const run_id = await ranOnce(daemon, 's1', '/say canary-plain')
    t.is((await debugOf(daemon, run_id)).status, 404)
    const { plugins } = (await daemon.request('GET', '/v1/status')).body
    t.regex(JSON.stringify(plugins.find(({ id }: any) => id === 'debug')), /not 32 bytes/u)
    t.false(daemon.logText().includes('not a key'))
  },
)

test.serial('debug-12: POST /v1/runs/prune: the response; dry_run is false unless it is given', async (t) => {
  const daemon = await start(t, 'on')
  const [a, b] = [await ranOnce(daemon, 's1'), await ranOnce(daemon, 's2')]
  await new Promise((resolve) => setTimeout(resolve, 5))
  const prune = async (body: unknown): Promise<any> => (await daemon.request('POST', '/v1/runs/prune', body)).body
  const told = await prune({ older_than_ms: 1, dry_run: true })
  t.deepEqual(Object.keys(told).toSorted(), [
    'candidate_debug_bytes',
    'candidate_run_ids',
    'cutoff_ms',
    'dry_run',
    'matched_run_count',
    'now_ms',
    'pruned_debug_bytes',
    'pruned_debug_run_ids',
  ])
  t.like(told, {
    dry_run: true,
    matched_run_count: 2,
    candidate_run_ids: [a, b],
    pruned_debug_run_ids: [],
    pruned_debug_bytes: 0,
  })
  const bytes = (await debugOf(daemon, b)).body.artifacts.reduce(
    (sum: number, artifact: any) => sum + artifact.bytes,
    0,
  )
  t.like(await prune({ older_than_ms: 1, session_id: 's2', limit: 5 }), {
    dry_run: false,
    limit: 5,
    matched_run_count: 1,
    pruned_debug_run_ids: [b],
    pruned_debug_bytes: bytes,
  })
  t.deepEqual(codeOf(await debugOf(daemon, b)), [404, 'run_debug_not_found'])
  t.is((await daemon.request('GET', `/v1/runs/${b}`)).body.status, 'completed', 'the run stays')
  t.is((await daemon.request('GET', `/v1/runs/${b}/events`)).status, 200)
  t.like(await prune({ older_than_ms: 86_400_000 }), { matched_run_count: 0, pruned_debug_run_ids: [] })
  t.is((await debugOf(daemon, a)).status, 200)
})

test.serial('debug-13: Prune leaves runs that have not ended alone', async (t) => {
  const daemon = await start(t, 'on')
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', '/ask Go on? | yes | no')
  await until(daemon, run_id, 'waiting_for_user_question')
  await new Promise((resolve) => setTimeout(resolve, 5))
  t.like((await daemon.request('POST', '/v1/runs/prune', { older_than_ms: 1 })).body, { matched_run_count: 0 })
  t.true((await debugOf(daemon, run_id)).body.artifacts.length > 0)
})

test.serial(
  'debug-14: A prune that says nothing useful: 400 runs/run_retention_invalid_request with the field',
  async (t) => {
    const daemon = await start(t)
    for (const [body, at] of [
      [{}, 'body.older_than_ms'],
      [{ older_than_ms: 0 }, 'body.older_than_ms'],
      [{ older_than_ms: -5 }, 'body.older_than_ms'],
      [{ older_than_ms: 1, limit: 0 }, 'body.limit'],
      [{ older_than_ms: 1, dry_run: 'yes' }, 'body.dry_run'],
      [undefined, 'body'],
    ] as const) {
      const { status, body: problem } = await daemon.request('POST', '/v1/runs/prune', body)
      t.deepEqual(
        [status, problem.code, problem.domain, problem.errors[0].path],
        [400, 'run_retention_invalid_request', 'runs', at],
      )
    }
  },
)

test.serial(
  'debug-15: Evidence survives kill -9 whole or not at all, and a prune that was answered stays done',
  async (t) => {
    const root = await freshRoot()
    const first = await spawnTestDaemon(t, { root, flags: full })
    const kept = await ranOnce(first, 's1')
    const pruned = await ranOnce(first, 's2')
    const text = await lastText(first, kept)
    await new Promise((resolve) => setTimeout(resolve, 5))
    await first.request('POST', '/v1/runs/prune', { older_than_ms: 1, session_id: 's2' })
    const open = (await submit(first, 's1', '/tool list_files {}\n---\n/sleep 60000')).run_id
    await until(first, open, 'running')
    await first.kill('SIGKILL')
    const daemon = await start(t, 'full', { root })
    t.is(await lastText(daemon, kept), text)
    t.is((await debugOf(daemon, pruned)).status, 404)
    const files = readdirSync(path.join(root, 'blobs/debug'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
    const named: any[] = await Promise.all(
      [kept, open].map(async (run_id) =>
        ((await debugOf(daemon, run_id)).body.artifacts ?? []).map((artifact: any) => ({ run_id, ...artifact })),
      ),
    )
    for (const { run_id, artifact_id } of named.flat())
      t.is((await artifactOf(daemon, run_id, artifact_id)).status, 200)
    const known = new Set(named.flat().map(({ sha256 }) => sha256))
    t.deepEqual(
      files.filter((name) => !known.has(name)),
      [],
      'no bytes that nothing names',
    )
  },
)

test.serial('holdfast runs debug and holdfast runs prune', async (t) => {
  const daemon = await start(t, 'on')
  const run_id = await ranOnce(daemon, 's1')
  const holdfast = createCommandLine(daemon)
  const shown = await holdfast('runs', 'debug', run_id)
  t.is(shown.code, 0)
  t.regex(shown.out, /level on\n.*0001-model/u)
  const told = await holdfast('runs', 'prune', '1', '--output', 'json')
  t.is(told.code, 0)
  t.like(JSON.parse(told.out), { dry_run: true, candidate_run_ids: [run_id] })
  t.is((await holdfast('runs', 'prune', '1', '--apply', '--output', 'json')).code, 0)
  t.is((await debugOf(daemon, run_id)).status, 404)
})
