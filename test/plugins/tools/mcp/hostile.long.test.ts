/** Servers that do what no server should. */
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, spawnTestDaemon, startTestDaemon } from '../../../support/daemon.js'
import { askedOf, eventually, planned, serverIn, writeServers } from '../../../support/mcp.js'
import { standing } from '../../../support/rewrite.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'

const object = { type: 'object' }
const tool = [{ name: 'tool', inputSchema: object }]
const asFlags = ['--permission-mode', 'bypassPermissions']
const flags = { 'permission-mode': 'bypassPermissions' }

const isAlive = (pid: number): boolean => {
  try {
    // One that has ended and that nobody has waited for yet is gone.
    return !/\) Z /u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
const pidsIn = async (notes: string, most: number): Promise<number[]> =>
  eventually(async () => {
    const pids = (await askedOf(notes)).flatMap((line) => /^pid (\d+)$/u.exec(line)?.[1] ?? []).map(Number)
    return pids.length >= most ? pids : undefined
  })
const allGone = (pids: readonly number[]) => eventually(async () => (pids.some(isAlive) ? undefined : true))

test('mcp-3: no process of a server is left behind a stop or a change of the list', async (t) => {
  const [root, folder] = [await freshRoot(), await makeFolder(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const [notes, others] = [join(folder, 'notes'), join(folder, 'others')]
  await writeServers(root, { one: planned({ notes, child: 'bare' }), two: planned({ notes: others, child: 'bare' }) })
  const daemon = await startTestDaemon(t, { root })
  await Promise.all(['one', 'two'].map((name) => serverIn(daemon, name)))
  const pids = await pidsIn(notes, 2)
  t.true(pids.every(isAlive))
  await writeServers(root, { two: planned({ notes: others, child: 'bare' }) })
  await allGone(pids)
  await daemon.stop()
  t.false((await pidsIn(others, 2)).some(isAlive))
})

test('mcp-3, mcp-11, mcp-15: a kill of the daemon in a call leaves no process, and the call is unknown after the restart', async (t) => {
  const [root, folder] = [await freshRoot(), await makeFolder(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const [once, again] = [join(folder, 'once'), join(folder, 'again')]
  const hangs = (more: object = {}) => [{ name: 'hangs', inputSchema: object, ...more }]
  await writeServers(root, {
    once: planned({ notes: once, child: true, tools: hangs() }),
    again: planned({ notes: again, tools: hangs({ annotations: { idempotentHint: true } }) }),
  })
  const first = await spawnTestDaemon(t, { root, flags: asFlags })
  await Promise.all(['once', 'again'].map((name) => serverIn(first, name)))
  const runs = await Promise.all(
    ['once', 'again'].map(async (name) =>
      submit(first, await openSession(first, name), `/tool mcp__${name}__hangs {}\n/say done`),
    ),
  )
  await Promise.all([once, again].map((notes) => askedOf(notes, 'tools/call hangs')))
  const session_id = await openSession(first, 'operator')
  const called = first
    .request('POST', '/v1/runtime/mcp/tools/mcp__once__hangs/call', { session_id })
    .catch(() => undefined)
  await eventually(async () =>
    (await askedOf(once)).filter((line) => line === 'tools/call hangs').length === 2 ? true : undefined,
  )
  const pids = [...(await pidsIn(once, 2)), ...(await pidsIn(again, 1))]
  await first.kill('SIGKILL')
  await called
  await allGone([pids[0] ?? 0, pids[2] ?? 0])
  const second = await spawnTestDaemon(t, { root, flags: asFlags })
  await allGone(pids)
  const ended = await until(second, runs[0].run_id, 'completed', 'failed')
  t.is(ended.status, 'completed')
  const { body: acts } = await second.request('GET', `/v1/runs/${runs[0].run_id}/external-actions`)
  t.deepEqual(
    acts.map(({ outcome }: any) => outcome),
    ['unknown'],
  )
  const calls = async (notes: string) => (await askedOf(notes)).filter((line) => line === 'tools/call hangs').length
  await eventually(async () => ((await calls(again)) === 2 ? true : undefined))
  t.is(await calls(once), 2, 'one by the run, one by the operator, none after the restart')
  const [intent, outcome, ...others] = standing(root, 'external_actions').filter(({ owner }) => owner === session_id)
  t.deepEqual(others, [])
  t.like(outcome?.entry, { action_id: intent?.entry.action_id, outcome: 'unknown', code: 'daemon_restarted' })
})

test('mcp-18: odd servers are left out or told of, and a good one works beside them', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const deep = JSON.parse(`${'{"not":'.repeat(1_000)}{}${'}'.repeat(1_000)}`)
  await writeServers(root, {
    garbage: planned({ garbage: 'Hello!\n\u0000\u001b[2J\n[[[[\n{"jsonrpc":"2.0"}\n', tools: tool }),
    long: planned({ longLine: 100 * 1024 * 1024, tools: tool }, { startup_timeout_sec: 120 }),
    many: planned({ many: 10_000 }),
    hangs: planned({ hangs: 'initialize' }, { startup_timeout_sec: 1 }),
    silent: planned({ hangs: 'tools/list' }, { startup_timeout_sec: 1 }),
    dies: planned({ dies: 'initialize' }),
    absent: { command: '/no/such/program' },
    odd: planned({
      tools: [
        { name: '\u001b[31mred\u001b[0m', description: 'It \u001b[2J clears.', inputSchema: object },
        { name: 'deep', inputSchema: { ...object, properties: { a: deep } } },
        {
          name: 'huge',
          inputSchema: {
            ...object,
            properties: Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`p${at}`, {}])),
          },
        },
        { name: 'number', inputSchema: 4 },
        { name: '', inputSchema: object },
        { name: 'x'.repeat(300), inputSchema: object },
        { name: 'twice', inputSchema: object },
        { name: 'twice', inputSchema: object },
      ],
    }),
    good: planned({ tools: tool }),
  })
  const daemon = await startTestDaemon(t, { root, flags })
  await Promise.all(['garbage', 'many', 'odd', 'good'].map((name) => serverIn(daemon, name)))
  const waiting = await Promise.all(
    ['long', 'hangs', 'silent', 'dies', 'absent'].map((name) => serverIn(daemon, name, 'waiting')),
  )
  t.deepEqual(
    waiting.map(({ problem }) => /16 MiB|within 1 s|code 3|code 127/u.exec(problem)?.[0]),
    ['16 MiB', 'within 1 s', 'within 1 s', 'code 3', 'code 127'],
  )
  const { body } = await daemon.request('GET', '/v1/runtime/mcp/tools?server=odd')
  t.deepEqual(
    body.tools.map(({ name }: any) => name.replace(/_[0-9a-f]{8}$/u, '')),
    ['mcp__odd___31mred_0m', 'mcp__odd__twice'],
  )
  t.is(body.tools[0].description, 'It \\u001b[2J clears.')
  t.is((await serverIn(daemon, 'odd')).left_out_count, 6)
  const many = await serverIn(daemon, 'many')
  t.deepEqual([many.tool_count, many.left_out_count], [500, 9_500])
  const session = await openSession(daemon)
  const { run_id } = await submit(daemon, session, '/tool mcp__good__tool {}\n/say done')
  await until(daemon, run_id, 'completed')
  const { body: status } = await daemon.request('GET', '/v1/status')
  const codes = new Set(status.health.warnings.map(({ code }: any) => code))
  t.true(codes.has('mcp_tools_left_out') && codes.has('mcp_server_unavailable'))
  t.false(daemon.log.some(({ line }: any) => String(line ?? '').includes('\u001b')))
})
