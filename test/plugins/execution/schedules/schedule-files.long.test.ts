/** Files of schedules; docs/rules/schedules.md. */
import test from 'ava'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { declareStore } from '../../../../plugins/execution/schedules/record/store.js'
import { board, picture, revise } from '../../../support/boards.js'
import { takeRoot } from '../../../support/taken-root.js'
import { codeOf, openSession } from '../../../support/runs.js'
import { createSource } from '../../capture/observations/uploading.js'
import { makeSchedule, scheduleBody, scheduledRuns, scheduleUntil } from '../../../support/schedules.js'

const start = async (t: any, root?: string) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await startTestDaemon(t, { clock, ...(root !== undefined && { root }) })
  await openSession(daemon)
  return { clock, daemon }
}
const notes = (content: string) => ({
  file_name: 'notes.md',
  media_type: 'text/markdown',
  content_base64: Buffer.from(content).toString('base64'),
})
const cadence = { type: 'interval', every_seconds: 5 }
const referencesOf = async ({ request }: TestDaemon, id: string): Promise<any[]> =>
  (await request('GET', `/v1/assets/${id}/references`)).body.references.filter(
    ({ domain }: any) => domain === 'schedules',
  )

test('schedules-34: files of a schedule are stored once, and each of its runs is given them', async (t) => {
  const root = await freshRoot()
  const first = await start(t, root)
  const request = { content: 'Read', attachments: [notes('# Ferns'), notes('# Moss')] }
  // The second life begins with the time of the machine: nothing may be due before it leaps.
  const hourly = { type: 'interval', every_seconds: 3600 }
  const made = await makeSchedule(first.daemon, { cadence: hourly, request, max_executions: 2 })
  const [text, ...files] = made.request.input_items
  t.deepEqual([text, made.request.content, made.request.attachments], [{ type: 'text', text: 'Read' }, '', undefined])
  const ids = files.map(({ asset_id }: any) => asset_id)
  t.is(new Set(ids).size, 2)
  const named = { domain: 'schedules', owner_id: made.schedule_id, role: 'input_attachment', parent_id: 's1' }
  t.deepEqual(await referencesOf(first.daemon, ids[0]), [{ ...named, hard: true, detail_id: 'active' }])
  t.deepEqual(codeOf(await first.daemon.request('DELETE', `/v1/assets/${ids[0]}`)), [409, 'asset_delete_blocked'])
  t.is((await first.daemon.request('POST', '/v1/assets/gc', { dry_run: false })).body.deleted_count, 0)
  await first.daemon.stop()
  const { clock, daemon } = await start(t, root)
  for (const count of [1, 2]) {
    clock.leap(3_600_000)
    await scheduleUntil(
      daemon,
      made.schedule_id,
      ({ execution_count, recent_executions }) =>
        execution_count >= count && recent_executions.every(({ status }: any) => status === 'settled'),
    )
  }
  await scheduleUntil(daemon, made.schedule_id, ({ status }) => status === 'completed')
  const runs = await scheduledRuns(daemon)
  t.is(runs.length, 2)
  for (const run of runs) {
    t.deepEqual(
      run.input_attachments.map(({ id }: any) => id),
      ids,
    )
    t.regex(run.outputs[0].content, /^You said: Read\n[^]*# Ferns[^]*# Moss/u)
  }
  t.deepEqual(await referencesOf(daemon, ids[0]), [{ ...named, hard: false, detail_id: 'completed' }])
})

test('schedules-34: stored files are named by their ids; one that is refused makes no schedule', async (t) => {
  const { daemon } = await start(t)
  const { asset_id } = (await daemon.request('POST', '/v1/assets', notes('# Ferns'))).body
  const item = { type: 'asset_reference', asset_id }
  const { schedule_id } = await makeSchedule(daemon, { cadence, request: { input_items: [item] } })
  t.is((await referencesOf(daemon, asset_id))[0]?.owner_id, schedule_id)
  await daemon.request('POST', `/v1/schedules/${schedule_id}/cancel`)
  t.is((await referencesOf(daemon, asset_id))[0]?.hard, false)
  t.is((await daemon.request('DELETE', `/v1/assets/${asset_id}`)).status, 200)
  for (const [request, status, code, place] of [
    [{ input_items: [item] }, 404, 'asset_not_found', 'body.request.input_items.0'],
    [
      { content: 'x', attachments: [notes('a'), notes('\0')] },
      400,
      'asset_invalid',
      'body.request.attachments.1.content_base64',
    ],
    [
      { content: 'x', attachments: [notes('')] },
      400,
      'inline_asset_empty',
      'body.request.attachments.0.content_base64',
    ],
  ] as const) {
    const answer = await daemon.request('POST', '/v1/schedules', scheduleBody({ cadence, request }))
    t.deepEqual([...codeOf(answer), answer.body.errors[0].path], [status, code, place])
  }
  t.is((await daemon.request('GET', '/v1/schedules')).body.length, 1)
})

test('schedules-34: a schedule takes as much as a run does', async (t) => {
  const { daemon } = await start(t)
  const request = { content: 'x', attachments: [notes('a'.repeat(2_000_000))] }
  t.is((await daemon.request('POST', '/v1/schedules', scheduleBody({ cadence, request }))).status, 201)
  const long = { content: 'x'.repeat(2_000_000), attachments: [notes('a')] }
  const answer = await daemon.request('POST', '/v1/schedules', scheduleBody({ cadence, request: long }))
  t.deepEqual(codeOf(answer), [413, 'payload_too_large'])
})

test('schedules-34: a file that an earlier version kept for a schedule that is over may be deleted behind a start', async (t) => {
  const root = await freshRoot()
  const first = await start(t, root)
  const made = await makeSchedule(first.daemon, { cadence, request: { content: 'Read', attachments: [notes('# F')] } })
  const { asset_id } = made.request.input_items[1]
  await first.daemon.request('POST', `/v1/schedules/${made.schedule_id}/cancel`)
  await first.daemon.stop()
  const taken = await takeRoot(root)
  const { files } = declareStore(taken.state)
  await taken.load()
  await taken.state.commit((tx) => tx.put(files, { schedule_id: made.schedule_id, asset_id }))
  await taken.end()
  const { daemon } = await start(t, root)
  t.is((await referencesOf(daemon, asset_id))[0]?.hard, false)
  t.is((await daemon.request('DELETE', `/v1/assets/${asset_id}`)).status, 200)
})

const look = (request: object, more: object = {}) => ({
  cadence,
  request: undefined,
  observation_materialization: {
    target_session_id: 's1',
    selection: { type: 'latest_from_source', source_id: 'door' },
    fail_when_empty: false,
    request,
  },
  ...more,
})
const withSource = async (t: any) => {
  const made = await start(t)
  await createSource(made.daemon)
  return made
}

test('schedules-35: files of what a schedule does with observations are stored, named and given as those of a request', async (t) => {
  const { clock, daemon } = await withSource(t)
  const made = await makeSchedule(
    daemon,
    look({ content: 'Read', attachments: [notes('# Ferns')] }, { max_executions: 1 }),
  )
  const [text, { asset_id }] = made.observation_materialization.request.input_items
  t.deepEqual(text, { type: 'text', text: 'Read' })
  t.notRegex(JSON.stringify(made), /content_base64/u)
  const [reference] = await referencesOf(daemon, asset_id)
  t.like(reference, { owner_id: made.schedule_id, hard: true, detail_id: 'active' })
  t.deepEqual(codeOf(await daemon.request('DELETE', `/v1/assets/${asset_id}`)), [409, 'asset_delete_blocked'])
  clock.leap(5000)
  await scheduleUntil(daemon, made.schedule_id, ({ status }) => status === 'completed')
  const [run] = (await daemon.request('GET', '/v1/runs')).body
  t.is(run.kind, 'scheduled_observation_materialization')
  t.deepEqual(
    run.input_attachments.map(({ id }: any) => id),
    [asset_id],
  )
  t.regex(run.outputs[0].content, /Read\n[^]*# Ferns/u)
  t.is((await referencesOf(daemon, asset_id))[0]?.hard, false)
})

test('schedules-35: what is refused of a request is refused there, with its place, and as much is taken', async (t) => {
  const { daemon } = await withSource(t)
  const post = (request: object, more: object = {}) =>
    daemon.request('POST', '/v1/schedules', scheduleBody(look(request, more)))
  const at = 'body.observation_materialization.request'
  for (const [request, status, code, place] of [
    [{ input_items: [{ type: 'asset_reference', asset_id: 'nope' }] }, 404, 'asset_not_found', 'input_items.0'],
    [
      { content: 'x', attachments: [notes('a'), { ...notes('a'), file_name: 'a/b' }] },
      400,
      'asset_invalid',
      'attachments.1.file_name',
    ],
    [{ content: 'x', attachments: [notes('')] }, 400, 'inline_asset_empty', 'attachments.0.content_base64'],
    [{}, 400, 'run_input_missing', 'content'],
    [{ content: 'x', metadata: { observation_ids: [] } }, 400, 'reserved_metadata_key', 'metadata.observation_ids'],
  ] as const) {
    const answer = await post(request)
    t.deepEqual([...codeOf(answer), answer.body.errors[0].path], [status, code, `${at}.${place}`])
  }
  t.deepEqual(codeOf(await post({ content: 'x', attachments: [notes('a')] }, { target_session_id: 'none' })), [
    404,
    'session_not_found',
  ])
  t.deepEqual((await daemon.request('GET', '/v1/schedules')).body, [])
  t.is((await post({ content: 'x', attachments: [notes('a'.repeat(2_000_000))] })).status, 201)
  t.deepEqual(codeOf(await post({ content: 'x'.repeat(2_000_000), attachments: [notes('a')] })), [
    413,
    'payload_too_large',
  ])
})

test('schedules-36: a schedule with a board gives each run the newest revision of then, or the one it names', async (t) => {
  const { clock, daemon } = await start(t)
  await board(daemon, 'wall')
  await revise(daemon, 'wall', { render_asset_id: await picture(daemon) })
  const input_items = [
    { type: 'text', text: 'Look' },
    { type: 'board_reference', board_id: 'wall' },
  ]
  const made = await makeSchedule(daemon, { cadence, request: { input_items }, max_executions: 1 })
  t.deepEqual(made.request.input_items, input_items)
  clock.leap(5000)
  await scheduleUntil(daemon, made.schedule_id, ({ status }) => status === 'completed')
  const [run] = await scheduledRuns(daemon)
  t.is(run?.input_attachments.length, 2)
  const note = { type: 'inline_asset', ...notes('# Ferns') }
  for (const items of [
    [{ type: 'board_reference', board_id: 'none' }],
    [{ type: 'board_reference', board_id: 'wall', revision_id: 'none' }],
  ]) {
    const refused = await daemon.request(
      'POST',
      '/v1/schedules',
      scheduleBody({ cadence, request: { input_items: [note, note, ...items] } }),
    )
    t.deepEqual([refused.status, refused.body.errors?.[0].path], [404, 'body.request.input_items.2'])
  }
})
