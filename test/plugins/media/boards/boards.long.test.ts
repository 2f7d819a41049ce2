/** Boards and their revisions as clients see them; docs/rules/boards.md. */
import test from 'ava'
import { createHash } from 'node:crypto'
import { truncateSync, unlinkSync } from 'node:fs'
import path from 'node:path'
import { shippedPlugins } from '../../../../core/shipped.js'
import type { Json, Portions, Tx } from '../../../../core/plugin.js'
import { embeddedIn, stateFault } from '../../../../plugins/media/boards/record/state.js'
import { declareBoards, type BoardStore } from '../../../../plugins/media/boards/record/store.js'
import { board, history, picture, read, revise, stateOf, upload } from '../../../support/boards.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'
import { codeOf, openSession, until } from '../../../support/runs.js'

const ids = (rows: any[]): string[] => rows.map(({ board_id }) => board_id)
const revisionIds = (rows: any[]): string[] => rows.map(({ revision_id }) => revision_id)

test('boards-1: a board is created under a chosen or a made id, found by text and by owner', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'painter')
  const made = await daemon.request('POST', '/v1/boards', {
    board_id: 'Plan-1',
    display_name: 'Grüner Plan',
    owner_session_id: 'painter',
    metadata: { a: [1] },
  })
  t.is(made.status, 201)
  const { created_at_ms, updated_at_ms } = made.body
  t.deepEqual(made.body, {
    board_id: 'Plan-1',
    display_name: 'Grüner Plan',
    owner_session_id: 'painter',
    revision_count: 0,
    created_at_ms,
    updated_at_ms,
    metadata: { a: [1] },
  })
  t.deepEqual(await read(daemon, '/v1/boards/Plan-1'), made.body)
  const other = (await daemon.request('POST', '/v1/boards', { display_name: 'x', metadata: null })).body
  t.false('metadata' in other)
  for (const [query, found] of [
    ['', ['Plan-1', other.board_id]],
    ['?query=plan-', ['Plan-1']],
    ['?query=GR%C3%9CN', ['Plan-1']],
    ['?owner_session_id=painter', ['Plan-1']],
    ['?owner_session_id=painter&query=zz', []],
  ] as const)
    t.deepEqual(ids(await read(daemon, `/v1/boards${query}`)), [...found], query)
  t.like((await read(daemon, '/v1/boards?page=true&limit=1')).pagination, { total_count: 2, order: 'board_id_asc' })
  for (const [body, status, code] of [
    [{ board_id: 'Plan-1', display_name: 'x' }, 409, 'board_already_exists'],
    [{ display_name: ' ' }, 400, 'bad_request'],
    [{}, 400, 'bad_request'],
    [{ board_id: '..', display_name: 'x' }, 400, 'bad_request'],
    [{ board_id: 'a/b', display_name: 'x' }, 400, 'bad_request'],
    [{ board_id: 'a\nb', display_name: 'x' }, 400, 'bad_request'],
    [{ display_name: 'x', owner_session_id: 'nobody' }, 404, 'session_not_found'],
    [{ display_name: 'x', metadata: { a: 'x'.repeat(70_000) } }, 413, 'payload_too_large'],
  ] as const)
    t.deepEqual(
      codeOf(await daemon.request('POST', '/v1/boards', body)),
      [status, code],
      JSON.stringify(body).slice(0, 80),
    )
  t.is((await daemon.request('GET', '/v1/boards?owner_session_id=nobody')).status, 404)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/boards/none')), [404, 'board_not_found'])
  t.is((await read(daemon, '/v1/boards')).length, 2)
  t.is((await read(daemon, '/v1/capabilities')).boards, true)
})

test('boards-2: what the body names is replaced, the rest stays', async (t) => {
  const daemon = await startTestDaemon(t)
  const made = await board(daemon, 'b', { metadata: { a: 1 } })
  const put = async (body: object): Promise<any> => (await daemon.request('PUT', '/v1/boards/b', body)).body
  t.deepEqual(await put({}), made)
  t.deepEqual(await put({ display_name: made.display_name }), made)
  const renamed = await put({ display_name: 'New' })
  t.like(renamed, { display_name: 'New', metadata: { a: 1 }, created_at_ms: made.created_at_ms })
  t.deepEqual((await put({ metadata: { b: 2 } })).metadata, { b: 2 })
  t.false('metadata' in (await put({ metadata: null })))
  t.is((await daemon.request('PUT', '/v1/boards/b', { display_name: ' ' })).status, 400)
  t.deepEqual(codeOf(await daemon.request('PUT', '/v1/boards/none', {})), [404, 'board_not_found'])
})

test('boards-3: a revision follows the newest one, and of many that follow the same only one is made', async (t) => {
  const daemon = await startTestDaemon(t)
  await board(daemon, 'b')
  await board(daemon, 'other')
  const render_asset_id = await picture(daemon)
  const first = await revise(daemon, 'b', {
    render_asset_id,
    previous_revision_id: null,
    note: '  ',
    metadata: { k: 1 },
  })
  t.is(first.status, 201)
  const { revision_id, created_at_ms } = first.body
  t.deepEqual(first.body, { revision_id, board_id: 'b', render_asset_id, created_at_ms, metadata: { k: 1 } })
  t.like(await read(daemon, '/v1/boards/b'), { latest_revision_id: revision_id, revision_count: 1 })
  const stranger = (await revise(daemon, 'other', { render_asset_id })).body.revision_id
  const conflict = await revise(daemon, 'b', { render_asset_id })
  t.deepEqual([...codeOf(conflict), conflict.body.domain], [409, 'board_revision_conflict', 'boards'])
  t.true(conflict.body.detail.includes(revision_id), 'it tells the newest one')
  for (const [previous_revision_id, status, code] of [
    ['board_revision_none', 404, 'board_revision_not_found'],
    [stranger, 400, 'board_revision_invalid'],
  ] as const)
    t.deepEqual(codeOf(await revise(daemon, 'b', { render_asset_id, previous_revision_id })), [status, code])
  const strange = await revise(daemon, 'b', { render_asset_id, previous_revision_id: stranger })
  t.deepEqual(strange.body.errors, [{ path: 'body.previous_revision_id', rule: 'must be a revision of this board' }])
  t.deepEqual(codeOf(await revise(daemon, 'none', { render_asset_id })), [404, 'board_not_found'])
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      revise(daemon, 'b', { render_asset_id, previous_revision_id: revision_id, note: `${at}` }),
    ),
  )
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [201, ...Array.from({ length: 19 }, () => 409)])
  t.is((await history(daemon, 'b')).length, 2)
  t.like(await read(daemon, `/v1/boards/b/revisions/${revision_id}`), first.body)
  t.is((await daemon.request('GET', `/v1/boards/b/revisions/${stranger}`)).status, 400)
})

test('boards-3: eight writers who look again at a conflict make one line of all they bring', async (t) => {
  const daemon = await startTestDaemon(t)
  await board(daemon, 'b')
  const render_asset_id = await picture(daemon)
  const writer = async (name: number): Promise<void> => {
    for (let at = 0; at < 12;) {
      const tip = (await read(daemon, '/v1/boards/b')).latest_revision_id
      const state = tip === undefined ? {} : await read(daemon, `/v1/boards/b/revisions/${tip}`)
      const elements = state.state_asset_id === undefined ? [] : (await raw(daemon, state.state_asset_id)).elements
      const state_asset_id = await stateOf(daemon, { board_id: 'b', elements: [...elements, `${name}:${at}`] })
      const body = { render_asset_id, state_asset_id, previous_revision_id: tip ?? null }
      const answer = await revise(daemon, 'b', body)
      if (answer.status === 201) at += 1
      else t.deepEqual(codeOf(answer), [409, 'board_revision_conflict'])
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, name) => writer(name)))
  const found = (await history(daemon, 'b')).toReversed()
  t.is(found.length, 96)
  for (const [at, { previous_revision_id }] of found.entries()) t.is(previous_revision_id, found[at - 1]?.revision_id)
  const { elements } = await raw(daemon, found.at(-1)?.state_asset_id)
  const written = Array.from({ length: 8 }, (_, name) => Array.from({ length: 12 }, (__, at) => `${name}:${at}`)).flat()
  t.deepEqual(elements.toSorted(), written.toSorted())
})

const raw = async (daemon: TestDaemon, asset_id: string): Promise<any> =>
  (await fetch(`${daemon.url}/v1/assets/${asset_id}/raw`)).json()

test('boards-4: a plain array holds the newest 200 revisions, pages all', async (t) => {
  const daemon = await startTestDaemon(t)
  await board(daemon, 'long')
  const render_asset_id = await picture(daemon)
  let previous_revision_id: string | undefined
  for (let at = 0; at < 203; at += 1)
    previous_revision_id = (await revise(daemon, 'long', { render_asset_id, previous_revision_id })).body.revision_id
  const plain = await read(daemon, '/v1/boards/long/revisions')
  t.is(plain.length, 200)
  t.is(plain[0].revision_id, previous_revision_id)
  t.is((await history(daemon, 'long')).length, 203)
})

test('boards-4: revisions are listed newest first, whole and in pages', async (t) => {
  const daemon = await startTestDaemon(t)
  await board(daemon, 'b')
  const render_asset_id = await picture(daemon)
  const made: string[] = []
  for (let at = 0; at < 7; at += 1) {
    const body = { render_asset_id, previous_revision_id: made.at(-1) ?? null, note: `${at}` }
    made.push((await revise(daemon, 'b', body)).body.revision_id)
  }
  t.deepEqual(revisionIds(await read(daemon, '/v1/boards/b/revisions')), made.toReversed())
  const { items, pagination } = await read(daemon, '/v1/boards/b/revisions?page=true&limit=3')
  t.deepEqual(revisionIds(items), made.slice(4).toReversed())
  t.like(pagination, { total_count: 7, has_more: true, order: 'revision_desc' })
  const next = await read(daemon, `/v1/boards/b/revisions?limit=3&cursor=${encodeURIComponent(pagination.next_cursor)}`)
  t.deepEqual(revisionIds(next.items), made.slice(1, 4).toReversed())
  t.is((await daemon.request('GET', '/v1/boards/b/revisions?limit=0')).status, 400)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/boards/none/revisions')), [404, 'board_not_found'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/boards/b/revisions/none')), [404, 'board_revision_not_found'])
})

test('boards-5: a repeated client_revision_id gives the first revision, over a restart, whatever is newest', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await board(first, 'b')
  await board(first, 'other')
  const render_asset_id = await picture(first)
  const body = { client_revision_id: 'c1', render_asset_id, note: ' n ', metadata: { a: 1, b: 2 } }
  const made = (await revise(first, 'b', body)).body
  t.is(made.note, 'n')
  const second = { render_asset_id, previous_revision_id: made.revision_id, client_revision_id: 'c2' }
  t.is((await revise(first, 'b', second)).status, 201)
  t.is((await revise(first, 'other', body)).body.board_id, 'other', 'it counts within its board')
  await first.stop()
  const daemon = await startTestDaemon(t, { root })
  t.deepEqual((await revise(daemon, 'b', { ...body, metadata: { b: 2, a: 1 } })).body, made)
  const together = await Promise.all(Array.from({ length: 10 }, () => revise(daemon, 'b', body)))
  for (const answer of together) t.deepEqual(answer.body, made)
  for (const more of [
    { note: 'm' },
    { metadata: {} },
    { previous_revision_id: made.revision_id },
    { render_asset_id: 'a' },
  ]) {
    const answer = await revise(daemon, 'b', { ...body, ...more })
    t.deepEqual([...codeOf(answer), answer.body.domain], [409, 'board_revision_idempotency_conflict', 'boards'])
  }
  for (const client_revision_id of [' ', 'ä'.repeat(129), 'a\u0001b', ''])
    t.is((await revise(daemon, 'b', { ...second, client_revision_id })).status, 400, client_revision_id)
  t.is((await history(daemon, 'b')).length, 2)
})

const blobFile = (root: string, bytes: Uint8Array): string => {
  const digest = createHash('sha256').update(bytes).digest('hex')
  return path.join(root, 'blobs/assets', digest.slice(0, 2), digest)
}
const bytesOf = async (daemon: TestDaemon, asset_id: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${daemon.url}/v1/assets/${asset_id}/raw`)).arrayBuffer())

test('boards-6: the picture is a stored picture whose bytes are there', async (t) => {
  const daemon = await startTestDaemon(t)
  await board(daemon, 'b')
  t.deepEqual(codeOf(await revise(daemon, 'b', { render_asset_id: 'asset_none' })), [404, 'asset_not_found'])
  const text = await upload(daemon, 'words', 'text/plain')
  t.deepEqual(codeOf(await revise(daemon, 'b', { render_asset_id: text })), [400, 'board_revision_invalid'])
  const render_asset_id = await picture(daemon)
  const bytes = await bytesOf(daemon, render_asset_id)
  truncateSync(blobFile(daemon.root, bytes), 9)
  const answer = await revise(daemon, 'b', { render_asset_id })
  t.deepEqual([...codeOf(answer), answer.body.domain], [400, 'board_asset_missing', 'boards'])
  t.is((await read(daemon, '/v1/boards/b')).revision_count, 0)
  await upload(daemon, bytes, 'image/png')
  t.is((await revise(daemon, 'b', { render_asset_id })).status, 201)
})

const content = { elements: [{ kind: 'text', x: 1, y: 1, text: 'a' }] }

test('boards-7: a state is an envelope of this board, and says something', async (t) => {
  const daemon = await startTestDaemon(t)
  await board(daemon, 'b')
  const render_asset_id = await picture(daemon)
  const asset = (text: string): Promise<string> => upload(daemon, text)
  const send = async (state: string) => revise(daemon, 'b', { render_asset_id, state_asset_id: await asset(state) })
  const v1 = 'service.board_state.v1'
  for (const [state, at] of [
    ['[]', 'state'],
    ['"x"', 'state'],
    [JSON.stringify(content), 'state.schema_version'],
    [JSON.stringify({ schema_version: 2, ...content }), 'state.schema_version'],
    [JSON.stringify({ schema_version: null, ...content }), 'state.schema_version'],
    [JSON.stringify({ schema_version: 1 }), 'state'],
    [JSON.stringify({ schema_version: 1, elements: [], note: ' ', payload: { a: [null, {}] } }), 'state'],
    [JSON.stringify({ schema_version: 1, other: 'x' }), 'state'],
    [JSON.stringify({ schema_version: 1, ...content, board_id: 'other' }), 'state.board_id'],
    [JSON.stringify({ schema_version: 1, ...content, previous_revision_id: 'x' }), 'state.previous_revision_id'],
    [JSON.stringify({ schema_version: 1, elements: {} }), 'state.elements'],
    [
      JSON.stringify({ schema_version: 1, note: 'x', elements: Array.from({ length: 20_001 }, () => 0) }),
      'state.elements',
    ],
    [JSON.stringify({ schema_version: 1, ...content, strokes: 'x' }), 'state.strokes'],
    [JSON.stringify({ schema_version: 1, ...content, layers: {} }), 'state.layers'],
    [JSON.stringify({ schema_version: 1, ...content, assets: 'x' }), 'state.assets'],
    [
      JSON.stringify({ schema_version: 1, elements: [{}, { image_asset_ids: ['nope'] }] }),
      'state.elements.1.image_asset_ids.0',
    ],
    [JSON.stringify({ schema_version: 1, ...content, assets: ['nope'] }), 'state.assets.0'],
    [JSON.stringify({ schema_version: 1, ...content, canvas: [] }), 'state.canvas'],
    [JSON.stringify({ schema_version: 1, ...content, canvas: { width: 0 } }), 'state.canvas.width'],
    [JSON.stringify({ schema_version: 1, ...content, canvas: { height: 100_001 } }), 'state.canvas.height'],
    [JSON.stringify({ schema_version: 1, ...content, canvas: { height: 1.5 } }), 'state.canvas.height'],
    [`{"schema_version":1,"canvas":{"width":1e308,"height":1e999}}`, 'state.canvas.width'],
    [`{"schema_version":1,"note":${'['.repeat(60_000)}${']'.repeat(60_000)}}`, 'state'],
    [JSON.stringify({ schema_version: 1, note: 'x'.repeat(1024 * 1024) }), 'body.state_asset_id'],
  ] as const) {
    const answer = await send(state)
    t.deepEqual([...codeOf(answer), answer.body.domain], [400, 'board_state_invalid', 'boards'], state.slice(0, 80))
    t.is(answer.body.errors[0].path, at, state.slice(0, 80))
  }
  const text = await upload(daemon, '{"schema_version":1,"note":"x"}', 'text/plain')
  t.deepEqual(codeOf(await revise(daemon, 'b', { render_asset_id, state_asset_id: text })), [
    400,
    'board_state_invalid',
  ])
  const unknown = await revise(daemon, 'b', { render_asset_id, state_asset_id: 'asset_none' })
  t.deepEqual(codeOf(unknown), [404, 'asset_not_found'])
  t.is((await read(daemon, '/v1/boards/b')).revision_count, 0)
  let previous_revision_id = null
  for (const state of [
    { schema_version: 1, canvas: { width: 1, height: 100_000 }, previous_revision_id: null, board_id: null },
    { schema_version: '1', ...content, board_id: 'b' },
    { schema_version: v1, payload: { a: [0] } },
    { schema_version: v1, metadata: { a: false } },
    { schema_version: v1, strokes: [[[1e308, -1e308]]], note: 'x' },
  ]) {
    const state_asset_id = await asset(JSON.stringify(state))
    const answer = await revise(daemon, 'b', { render_asset_id, state_asset_id, previous_revision_id })
    t.is(answer.status, 201, answer.text)
    previous_revision_id = answer.body.revision_id
  }
})

test('boards-8: what a state embeds is looked at, and kept as long as the revision', async (t) => {
  const daemon = await startTestDaemon(t)
  await board(daemon, 'b')
  const render_asset_id = await picture(daemon)
  const embedded: string[] = []
  for (let at = 0; at < 5; at += 1) embedded.push(await picture(daemon))
  const [a, b, c, d, e] = embedded
  for (const [state, at] of [
    [{ assets: ['asset_none'] }, 'state.assets.0'],
    [{ assets: { 'asset-77': { name: 'x' } } }, 'state.assets.asset-77'],
    [{ elements: [{ deep: [{ image_asset_id: 'nothing' }] }] }, 'state.elements.0.deep.0.image_asset_id'],
    [{ elements: [{ asset_ids: [a, 'asset_none'] }] }, 'state.elements.0.asset_ids.1'],
    [{ note: 'x', assets: Array.from({ length: 257 }, (_, n) => `asset_${n}`) }, 'state'],
  ] as const) {
    const state_asset_id = await stateOf(daemon, state)
    const answer = await revise(daemon, 'b', { render_asset_id, state_asset_id })
    t.deepEqual(codeOf(answer), [400, 'board_state_invalid'], JSON.stringify(state).slice(0, 80))
    t.is(answer.body.errors[0].path, at)
  }
  const state_asset_id = await stateOf(daemon, {
    assets: [a, { [`${b}`]: { name: 'asset_type' } }],
    elements: [{ deep: [{ image_asset_id: c, asset_id: null }] }],
    layers: [{ image_asset_ids: [d], mask_asset_id: e, other: 'asset_none' }],
  })
  const { revision_id } = (await revise(daemon, 'b', { render_asset_id, state_asset_id })).body
  const named = { domain: 'boards', owner_id: revision_id, hard: true, parent_id: 'b' }
  const references = async (id: string | undefined): Promise<any> =>
    (await read(daemon, `/v1/assets/${id}/references`)).references
  t.deepEqual(await references(render_asset_id), [{ ...named, role: 'render_asset' }])
  t.deepEqual(await references(state_asset_id), [{ ...named, role: 'state_asset' }])
  for (const id of embedded) {
    t.deepEqual(await references(id), [{ ...named, role: 'state_embedded_asset', detail_id: state_asset_id }], id)
    t.deepEqual(codeOf(await daemon.request('DELETE', `/v1/assets/${id}`)), [409, 'asset_delete_blocked'])
  }
})

test('boards-16: others are served while a state of many values is looked at', (t) => {
  const portionsOf = <T>(work: Portions<T>): number => {
    for (let portions = 1; ; portions += 1) if (work.next().done === true) return portions
  }
  const many = Array.from({ length: 100 }, () => Array.from({ length: 1000 }, (): Json => []))
  t.true(portionsOf(embeddedIn({ elements: many })) > 20)
  t.true(portionsOf(embeddedIn({ assets: many })) > 40)
  t.true(portionsOf(stateFault({ schema_version: 1, payload: many }, { board_id: 'b' })) > 20)
})

test('boards-9: an owned board is drawn on by its owner, and a run that is named as source made the assets', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const session of ['owner', 'guest']) await openSession(daemon, session)
  await board(daemon, 'owned', { owner_session_id: 'owner' })
  await board(daemon, 'free')
  const [render_asset_id, state_asset_id] = [await picture(daemon), await stateOf(daemon, content)]
  const run = async (session: string, ...assets: string[]): Promise<string> => {
    const input_items = assets.map((asset_id) => ({ type: 'asset_reference', asset_id }))
    const { run_id } = (await daemon.request('POST', `/v1/sessions/${session}/runs`, { input_items })).body
    await until(daemon, run_id, 'completed')
    return run_id
  }
  const own = await run('owner', render_asset_id, state_asset_id)
  const half = await run('owner', render_asset_id)
  const foreign = await run('guest', render_asset_id, state_asset_id)
  const both = { render_asset_id, state_asset_id }
  for (const [board_id, more, field] of [
    ['owned', {}, 'body.source_session_id'],
    ['owned', { source_session_id: 'guest' }, 'body.source_session_id'],
    ['owned', { source_run_id: foreign }, 'body.source_session_id'],
    ['free', { source_session_id: 'guest', source_run_id: own }, 'body.source_run_id'],
    ['free', { source_run_id: half }, 'body.source_run_id'],
    ['free', { source_run_id: 'run_none' }, 'body.source_run_id'],
  ] as const) {
    const answer = await revise(daemon, board_id, { ...both, ...more })
    t.deepEqual(codeOf(answer), [400, 'board_revision_invalid'], JSON.stringify(more))
    t.is(answer.body.errors[0].path, field)
  }
  const unknown = await revise(daemon, 'free', { ...both, source_session_id: 'nobody' })
  t.deepEqual(codeOf(unknown), [404, 'session_not_found'])
  const body = { ...both, source_run_id: own, client_revision_id: 'c' }
  const made = await revise(daemon, 'owned', body)
  t.like(made.body, { source_run_id: own, source_session_id: 'owner' }, 'the session follows from the run')
  t.deepEqual((await revise(daemon, 'owned', body)).body, made.body)
  t.is((await revise(daemon, 'free', { ...both, source_session_id: 'guest', source_run_id: foreign })).status, 201)
})

const report = async (daemon: TestDaemon): Promise<any> => (await read(daemon, '/v1/status')).storage.board_repair
const looked = async (daemon: TestDaemon, count: number): Promise<any> => {
  while ((await report(daemon)).checked_revision_count < count) await new Promise((resolve) => setTimeout(resolve, 10))
  await new Promise((resolve) => setTimeout(resolve, 50))
  return report(daemon)
}

test('boards-10: a revision whose file is lost is set aside, and comes back with the file', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await board(first, 'b')
  const renders = [await picture(first), await picture(first), await picture(first)]
  const files = await Promise.all(renders.map((id) => bytesOf(first, id)))
  const made: string[] = []
  for (const render_asset_id of renders) {
    const body = { render_asset_id, previous_revision_id: made.at(-1) ?? null }
    made.push((await revise(first, 'b', body)).body.revision_id)
  }
  await first.stop()
  const [, middle, last] = files
  for (const bytes of [middle, last]) unlinkSync(blobFile(root, bytes ?? Buffer.alloc(0)))

  const second = await startTestDaemon(t, { root })
  const found = await looked(second, 3)
  t.like(found, { checked_revision_count: 3, quarantined_count: 2, restored_count: 0, rebuilt_board_count: 0 })
  t.deepEqual(
    found.diagnostics,
    made
      .slice(1)
      .map((revision_id) => ({ board_id: 'b', revision_id, action: 'quarantine', reason: 'board_asset_missing' })),
  )
  t.deepEqual(revisionIds(await read(second, '/v1/boards/b/revisions')), made.slice(0, 1))
  t.like(await read(second, '/v1/boards/b'), { latest_revision_id: made[0], revision_count: 1 })
  t.is((await read(second, `/v1/boards/b/revisions/${made[2]}`)).quarantined.reason, 'board_asset_missing')
  const { warnings } = (await read(second, '/v1/status')).health
  t.true(warnings.some(({ code }: any) => code === 'board_revisions_quarantined'))
  for (const bytes of [middle, last]) await upload(second, bytes ?? '', 'image/png')
  await second.stop()

  const daemon = await startTestDaemon(t, { root })
  t.like(await looked(daemon, 3), { quarantined_count: 0, restored_count: 2 })
  t.deepEqual(revisionIds(await read(daemon, '/v1/boards/b/revisions')), made.toReversed())
  t.like(await read(daemon, '/v1/boards/b'), { latest_revision_id: made[2], revision_count: 3 })
  t.false('quarantined' in (await read(daemon, `/v1/boards/b/revisions/${made[2]}`)))
})

test('boards-10: what was made behind a revision that is set aside stays when that one is sound again', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await board(first, 'b')
  const [a, b] = [await picture(first), await picture(first)]
  const bytes = await bytesOf(first, b)
  const one = (await revise(first, 'b', { render_asset_id: a })).body.revision_id
  const two = (await revise(first, 'b', { render_asset_id: b, previous_revision_id: one })).body.revision_id
  await first.stop()
  unlinkSync(blobFile(root, bytes))
  const second = await startTestDaemon(t, { root })
  await looked(second, 2)
  const three = (await revise(second, 'b', { render_asset_id: a, previous_revision_id: one })).body.revision_id
  await upload(second, bytes, 'image/png')
  await second.stop()
  for (let start = 0; start < 2; start += 1) {
    const daemon = await startTestDaemon(t, { root })
    await looked(daemon, 2)
    t.deepEqual(revisionIds(await read(daemon, '/v1/boards/b/revisions')), [three, one])
    t.is((await read(daemon, `/v1/boards/b/revisions/${two}`)).quarantined.reason, 'invalid_topology')
    await daemon.stop()
  }
})

/** A daemon without boards, in which a test writes what no daemon with boards would. */
const carve = async (t: any, root: string, write: (tx: Tx, store: BoardStore) => void): Promise<void> => {
  let carved: Promise<void> | undefined
  const carver = testPlugin('carver', {
    register: (ctx) => {
      const store = declareBoards(ctx.state, () => {})
      ctx.onStart(async () => {
        await (carved = ctx.state.commit((tx) => write(tx, store)))
      })
    },
  })
  const shipped = (await shippedPlugins()).filter(({ id }) => id !== 'boards')
  const daemon = await startTestDaemon(t, { root, shipped, plugins: [carver] })
  await carved
  await daemon.stop()
}

test('boards-10: a missing board is made again, and what lies behind a fork is set aside, once for all', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await openSession(first, 's')
  await board(first, 'fork')
  const render_asset_id = await picture(first)
  const one = (await revise(first, 'fork', { render_asset_id })).body.revision_id
  const two = (await revise(first, 'fork', { render_asset_id, previous_revision_id: one })).body.revision_id
  await first.stop()
  await carve(t, root, (tx, store) => {
    const made = { render_asset_id, embedded: [], created_at_ms: tx.now }
    store.add(tx, { ...made, revision_id: 'r3', board_id: 'fork', number: 2, previous_revision_id: one })
    store.add(tx, { ...made, revision_id: 'r4', board_id: 'fork', number: 3, previous_revision_id: 'r3' })
    store.add(tx, { ...made, revision_id: 'l1', board_id: 'lost', number: 1, source_session_id: 's' })
    store.add(tx, { ...made, revision_id: 'l2', board_id: 'lost', number: 2, previous_revision_id: 'l1' })
  })
  for (const start of [1, 2]) {
    const daemon = await startTestDaemon(t, { root })
    const found = await looked(daemon, start === 1 ? 6 : 3)
    t.deepEqual([found.quarantined_count, found.rebuilt_board_count], start === 1 ? [3, 1] : [0, 0])
    t.like(await read(daemon, '/v1/boards/lost'), {
      display_name: 'lost',
      owner_session_id: 's',
      latest_revision_id: 'l2',
      revision_count: 2,
    })
    t.like(await read(daemon, '/v1/boards/fork'), { latest_revision_id: one, revision_count: 1 })
    for (const id of [two, 'r3', 'r4'])
      t.is((await read(daemon, `/v1/boards/fork/revisions/${id}`)).quarantined.reason, 'invalid_topology', id)
    t.deepEqual(revisionIds(await read(daemon, '/v1/boards/fork/revisions')), [one])
    await daemon.stop()
  }
})

test('boards-5: the same line with --client-id, given again, makes no second revision, also behind later ones', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  await board(daemon, 'b')
  const render = await picture(daemon)
  const line = ['boards', 'create-revision', 'b', '--render', render, '--note', 'second', '--client-id', 'c1'] as const
  const lacking = await holdfast('boards', 'create-revision', 'b')
  t.deepEqual([lacking.code, lacking.err.includes('--render')], [2, true])
  await holdfast('boards', 'create-revision', 'b', '--render', render)
  t.regex((await holdfast('boards', 'list')).out, /^b {2}1 revision {2}/u)
  const first = await holdfast(...line)
  t.is(first.code, 0, first.err)
  t.is((await holdfast(...line)).out, first.out)
  await holdfast('boards', 'create-revision', 'b', '--render', render)
  t.is((await holdfast(...line)).out, first.out)
  t.regex((await holdfast(...line.slice(0, -4), '--note', 'x', '--client-id', 'c1')).err, /with another body/u)
  t.is((await read(daemon, '/v1/boards/b')).revision_count, 3)
  t.regex((await holdfast('boards', 'revisions', 'b', '--limit', '1')).out, /There are more, 3 in all/u)
})
