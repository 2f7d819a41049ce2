/** docs/rules/external-actions.md: rules that can be seen from outside, against a real process. */
import { digest } from '../../core/plugin.js'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { shareAsking, spawnAsking } from '../support/answers.js'
import { spawnMain, startTestDaemon, type Ask } from '../support/daemon.js'
import { rewriteEntries, standing } from '../support/rewrite.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'
import { openStream } from '../support/sse.js'

const shared = shareAsking(test)
const actionsOf = async ({ request }: { request: Ask }, run_id: string): Promise<any[]> =>
  (await request('GET', `/v1/runs/${run_id}/external-actions`)).body
const approve = (daemon: { request: Ask }, run: any, more: object = {}) =>
  daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, {
    resolutions: run.pending_approval_ids.map((request_id: string) => ({ request_id, behavior: 'allow', ...more })),
  })

test.serial(
  'external-actions-1: GET /v1/runs/{run_id}/external-actions: a plain array, one row for each action, oldest first',
  async (t) => {
    const daemon = shared()
    const run = await daemon.asks('row', 'a', 'b')
    t.deepEqual(await actionsOf(daemon, run.run_id), [], 'nothing was done before the approval')
    await approve(daemon, run)
    await until(daemon, run.run_id, 'completed')
    const rows = await actionsOf(daemon, run.run_id)
    t.is(rows.length, 2)
    t.deepEqual(
      rows.map(({ approved_by }) => approved_by),
      run.pending_approval_ids.map((id: string) => ({ type: 'approval', id })),
    )
    const [first] = rows
    t.like(first, {
      session_id: 'row',
      run_id: run.run_id,
      agent_id: run.agent_id,
      kind: 'tool',
      target: 'bash',
      outcome: 'done',
      attempts: 1,
      sequence: 2,
      request_digest: digest(run.pending_approvals[0].input),
      tool_call_id: run.pending_approvals[0].tool_call_id,
    })
    for (const member of ['hash', 'response_digest', 'request_digest'])
      t.regex(first[member], /^[0-9a-f]{64}$/u, member)
    t.true(first.timestamp_ms <= first.concluded_at_ms && first.timestamp_ms <= rows[1].timestamp_ms)
  },
)

test.serial(
  'external-actions-2: A run that is not there: 404 run_not_found; a run that did nothing outside: an empty array',
  async (t) => {
    const daemon = shared()
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/runs/none/external-actions')), [404, 'run_not_found'])
    await openSession(daemon, 'plain')
    const { run_id } = await until(
      daemon,
      (await submit(daemon, 'plain', '/tool list_files {}\n---\n/say Looked.')).run_id,
      'completed',
    )
    t.deepEqual(await actionsOf(daemon, run_id), [])
  },
)

test.serial(
  'external-actions-6: The digest is that of the input that was approved, also where the operator edited it',
  async (t) => {
    const daemon = shared()
    const run = await daemon.asks('edited', 'a')
    const updated_input = { command: 'echo other >> edited.txt' }
    await approve(daemon, run, { updated_input })
    await until(daemon, run.run_id, 'completed')
    t.is((await actionsOf(daemon, run.run_id))[0].request_digest, digest(updated_input))
    t.deepEqual(daemon.effects('edited'), ['other'])
  },
)

test.serial(
  'external-actions-8: A call that was denied is no action; one that failed has a code where its tool gives one',
  async (t) => {
    const daemon = shared()
    const denied = await daemon.asks('denied', 'a')
    await approve(daemon, denied, { behavior: 'deny' })
    await until(daemon, denied.run_id, 'completed')
    t.deepEqual(await actionsOf(daemon, denied.run_id), [])
    await openSession(daemon, 'failed')
    const failing = await until(
      daemon,
      (await submit(daemon, 'failed', '/tool edit_file {"path":"gone.txt","old_string":"a","new_string":"b"}')).run_id,
      'waiting_for_approval',
    )
    await approve(daemon, failing)
    await until(daemon, failing.run_id, 'completed')
    const [row] = await actionsOf(daemon, failing.run_id)
    t.like(row, { target: 'edit_file', outcome: 'failed' })
    t.is(typeof row.code, 'string')
  },
)

test.serial(
  'external-actions-12: those who watch a run see `external_action` before the effect and after it',
  async (t) => {
    const daemon = shared()
    const run = await daemon.asks('watched', 'a')
    const stream = openStream({ port: Number(new URL(daemon.url).port), path: `/v1/runs/${run.run_id}/stream` })
    t.teardown(() => stream.close())
    await approve(daemon, run)
    await until(daemon, run.run_id, 'completed')
    for (let tries = 0; tries < 500 && !stream.frames.some(({ data }) => data?.run?.status === 'completed'); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 10))
    const seen = stream.frames.flatMap(({ event, data }) =>
      event === 'trace' && data.trace.kind.type === 'external_action' ? [data.trace.kind] : [],
    )
    const [row] = await actionsOf(daemon, run.run_id)
    const same = { type: 'external_action', kind: 'tool', target: 'bash' }
    t.deepEqual(seen, [
      { ...same, phase: 'intent', request_digest: row.request_digest },
      { ...same, phase: 'outcome', outcome: 'done', response_digest: row.response_digest },
    ])
  },
)

test.serial('holdfast runs actions RUN_ID tells what was done, how it ended and what approved it', async (t) => {
  const daemon = shared()
  const run = await daemon.asks('told', 'a')
  await approve(daemon, run)
  await until(daemon, run.run_id, 'completed')
  const { text, exited } = spawnMain(['runs', 'actions', run.run_id, '--base-url', daemon.url])
  t.is((await exited).code, 0, text.err)
  t.regex(text.out, new RegExp(`done +tool bash +by approval ${run.pending_approval_ids[0]}`, 'u'))
})

test.serial('external-actions-16: a read-only token may read it, no token may not', async (t) => {
  const daemon = await startTestDaemon(t, {
    flags: { 'http-admin-token': 'admin-token-1', 'http-readonly-token': 'read-token-1' },
    headers: { authorization: 'Bearer admin-token-1' },
  })
  await openSession(daemon)
  const { run_id } = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  const at = `${daemon.url}/v1/runs/${run_id}/external-actions`
  t.is((await fetch(at)).status, 401)
  t.is((await fetch(at, { headers: { authorization: 'Bearer read-token-1' } })).status, 200)
})

test.serial(
  'external-actions-7: The mode is named where it let the call act, and the rule where no mode changed it',
  async (t) => {
    const daemon = await spawnAsking(t, { flags: ['--permission-mode', 'bypassPermissions'] })
    await openSession(daemon)
    const { run_id } = await until(
      daemon,
      (await submit(daemon, 's1', '/tool bash {"command":"true"}\n---\n/tool todo_write {"todos":[]}')).run_id,
      'completed',
      'failed',
    )
    const grounds = (await actionsOf(daemon, run_id)).map(
      ({ target, approved_by: { type, id } }) => `${target} ${type} ${id}`,
    )
    t.is(grounds[0], 'bash mode bypass_permissions_auto_allowed_approval')
    t.true(
      grounds.slice(1).every((line) => line === 'todo_write rule *'),
      grounds.join(),
    )
  },
)

test.serial(
  'external-actions-9: A payment that a kill overtakes is made once and is unknown, never repeated and ' +
    'never called done',
  async (t) => {
    const daemon = await spawnAsking(t)
    await openSession(daemon)
    const marker = path.join(daemon.root, '..', `${path.basename(daemon.root)}-paid`)
    const run = await until(
      daemon,
      (
        await submit(
          daemon,
          's1',
          `/tool bash {"command":"echo paid >> ${marker}; exec sleep 300"}\n---\n/say Went on.`,
        )
      ).run_id,
      'waiting_for_approval',
    )
    await approve(daemon, run)
    for (let tries = 0; tries < 1000 && !existsSync(marker); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 10))
    t.is((await actionsOf(daemon, run.run_id))[0].outcome, 'pending')
    let later = await daemon.again()
    for (const life of [1, 2]) {
      await until(later, run.run_id, 'completed')
      const rows = await actionsOf(later, run.run_id)
      t.is(rows.length, 1)
      t.like(
        rows[0],
        {
          outcome: 'unknown',
          code: 'call_outcome_unknown',
          attempts: 1,
          approved_by: { type: 'approval', id: run.pending_approval_ids[0] },
        },
        `life ${life}`,
      )
      t.is(readFileSync(marker, 'utf8'), 'paid\n')
      t.deepEqual((await later.request('GET', '/v1/status')).body.external_actions, { unknown_run_count: 1 })
      if (life === 1) later = await later.again()
    }
  },
)

test.serial(
  'external-actions-14: A changed ledger is named by holdfast state verify, with file and byte and exit ' +
    'code 1; a sound one is clean, also after a kill',
  async (t) => {
    const daemon = await spawnAsking(t)
    const run = await daemon.asks('s1', 'a', 'b')
    await approve(daemon, run)
    await until(daemon, run.run_id, 'completed')
    await daemon.kill('SIGKILL')
    const verify = async (): Promise<{ code: number | null; report: any }> => {
      const { text, exited } = spawnMain(['state', 'verify', '--state-root', daemon.root, '--output', 'json'])
      return { code: (await exited).code, report: JSON.parse(text.out) }
    }
    t.is((await verify()).code, 0)
    const entries = standing(daemon.root, 'external_actions').map(({ entry }) => entry)
    t.is(entries.length, 4)
    rewriteEntries(
      daemon.root,
      { stream: 'external_actions', owner: 's1' },
      entries.with(1, { ...entries[1], outcome: 'failed' }),
    )
    const { code, report } = await verify()
    t.is(code, 1)
    const [finding] = report.findings.filter(({ severity }: any) => severity === 'damage')
    t.like(finding, { kind: 'chain', ...standing(daemon.root, 'external_actions')[1]?.place })
    rewriteEntries(daemon.root, { stream: 'external_actions', owner: 's1' }, entries)
    t.is((await verify()).code, 0)
  },
)
