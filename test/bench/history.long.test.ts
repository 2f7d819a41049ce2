import test from 'ava'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createClock } from '../../core/base/clock.js'
import { shipped } from '../../core/shipped.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { verifyRoot, type VerifyReport } from '../../core/state/inspect/verify.js'
import { startTestDaemon } from '../support/daemon.js'
import { freshFolder } from '../support/folders.js'
import { writeHistory } from './history/write.js'

const root = freshFolder()
const [runs, sessions] = [2000, 40]
const history = await writeHistory({ root, runs, sessions, years: 3 })

const verify = async (): Promise<VerifyReport> =>
  verifyRoot({ root, disk: createDisk(), clock: createClock(), declared: await shipped.declarations() })

test.serial('state verify finds nothing in a root with history, and every part of each run', async (t) => {
  const { findings, records, entries } = await verify()
  t.deepEqual(findings, [])
  t.deepEqual(records, {
    sessions,
    runs,
    receipts: runs,
    deliveries: runs,
    external_action_runs: runs,
    external_action_heads: sessions,
    run_memories: sessions,
    run_memory_marks: 1,
  })
  t.deepEqual(entries, { session_journal: 6 * runs, external_actions: 2 * runs, delivery_payloads: runs })
})

test.serial('a daemon finds nothing to do when it starts on a root with history', async (t) => {
  const written = (): readonly number[] =>
    ['reply_targets', 'session_rests'].map((name) => statSync(join(root, 'documents', `${name}.json`)).mtimeMs)
  const [before, carried] = [await verify(), written()]
  const daemon = await startTestDaemon(t, { root })
  await daemon.stop()
  t.is((await verify()).sequence, before.sequence)
  t.deepEqual(written(), carried, 'nothing is looked through that an earlier version would have left')
})

test.serial('a daemon that starts on a root with history answers for a run of long ago as for its own', async (t) => {
  const { request } = await startTestDaemon(t, { root })
  const { run_id, session_id, submitted_at_ms } = history.middle
  const run = await request('GET', `/v1/runs/${run_id}`)
  t.like(run.body, { run_id, session_id, submitted_at_ms, status: 'completed' })
  t.is(run.body.deliveries[0].status, 'delivered')

  const list = await request('GET', '/v1/runs?page=true')
  t.is(list.body.pagination.total_count, runs)
  t.is(list.body.items[0].run_id, history.first.run_id)

  const own = await request('GET', `/v1/runs?page=true&session_id=${session_id}`)
  t.is(own.body.pagination.total_count, runs / sessions)

  const events = await request('GET', `/v1/runs/${run_id}/events`)
  const types = events.body.map(({ event }: any) => event.type)
  t.deepEqual(types.slice(0, 3), ['accepted', 'queued', 'started'])
  t.deepEqual(types.slice(-2), ['output', 'completed'])

  const actions = await request('GET', `/v1/runs/${run_id}/external-actions`)
  t.is(actions.body[0].action_id, run.body.deliveries[0].delivery_id)
})

test.serial('a key of long ago leads to its run, and to a conflict with another request', async (t) => {
  const { request } = await startTestDaemon(t, { root })
  const { run_id, session_id, key } = history.middle
  const submit = (body: object) => request('POST', `/v1/sessions/${session_id}/runs`, body, { 'idempotency-key': key })
  t.is((await submit(history.input)).body.run_id, run_id)
  t.is((await submit({ content: 'something else' })).body.code, 'idempotency_conflict')
})
