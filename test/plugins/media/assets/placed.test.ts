/** Where problems of files are; docs/rules/assets.md. */
import test from 'ava'
import { startTestDaemon, type Answer, type TestDaemon } from '../../../support/daemon.js'
import { board, picture as storedPicture, revise, upload } from '../../../support/boards.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { scheduleBody } from '../../../support/schedules.js'
import { createSource, picture, send } from '../../capture/observations/uploading.js'

const base64 = (content: string): string => Buffer.from(content).toString('base64')
const good = { file_name: 'a.md', media_type: 'text/markdown', content_base64: base64('a') }

/** What is wrong with a file, and the field that a problem of it names. */
const faults = [
  [{ file_name: 'a/b' }, 'asset_invalid', 'file_name'],
  [{ media_type: 'video/mp4' }, 'asset_type_unsupported', 'media_type'],
  [{ content_base64: '%' }, 'asset_invalid', 'content_base64'],
  [{ content_base64: base64('\0') }, 'asset_invalid', 'content_base64'],
] as const

const placeOf = ({ body }: Answer): [string, string] => [body.code, body.errors?.[0]?.path]

for (const [what, field, path, ask] of [
  ['POST /v1/assets', '', '/v1/assets', (file: object) => file],
  ['attachments of a run', 'attachments.1.', '/v1/sessions/s1/runs', (file: object) => attached(file)],
  [
    'input items of a run',
    'input_items.1.',
    '/v1/sessions/s1/runs',
    (file: object) => ({
      input_items: [
        { type: 'text', text: 'x' },
        { type: 'inline_asset', ...file },
      ],
    }),
  ],
  [
    'attachments of a schedule',
    'request.attachments.1.',
    '/v1/schedules',
    (file: object) => scheduleBody({ cadence: { type: 'interval', every_seconds: 5 }, request: attached(file) }),
  ],
] as const)
  test(`assets-12: a problem of a file tells its field by the full path: ${what}`, async (t) => {
    const daemon = await startTestDaemon(t)
    await openSession(daemon)
    for (const [fault, code, name] of faults)
      t.deepEqual(placeOf(await daemon.request('POST', path, ask({ ...good, ...fault }))), [
        code,
        `body.${field}${name}`,
      ])
  })
const attached = (file: object) => ({ content: 'x', attachments: [good, file] })

test('assets-12: a problem of a file tells its field by the full path: POST /v1/assets/raw', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const [query, body, place] of [
    ['file_name=a%2Fb&media_type=text/plain', 'a', 'query.file_name'],
    ['file_name=a&media_type=video/mp4', 'a', 'query.media_type'],
    ['file_name=a&media_type=text/plain', '\0', 'body'],
    ['file_name=a&media_type=text/plain', '', 'body'],
  ] as const) {
    const answer = await fetch(`${daemon.url}/v1/assets/raw?${query}`, { method: 'POST', body: Buffer.from(body) })
    const { errors, code }: any = await answer.json()
    t.is(errors[0].path, place)
    if (body === '') t.is(code, 'asset_invalid')
  }
})

test('assets-12: a problem of an upload of a source tells its field by the full path', async (t) => {
  const daemon = await startTestDaemon(t)
  await createSource(daemon)
  const broken = (await picture(1)).subarray(0, 30)
  const file = { media_type: 'image/png', content_base64: (await picture(2)).toString('base64') }
  const named = { upload: { ...file, file_name: 'a/b' } }
  for (const [wish, code, place] of [
    [{ bytes: broken }, 'upload_invalid', 'body.upload.content_base64'],
    [{ bytes: Buffer.from('text') }, 'upload_type_unsupported', 'body.upload.content_base64'],
    [{ more: named }, 'upload_invalid', 'body.upload.file_name'],
    [{ more: { canonical_text: 'a\0b' } }, 'upload_invalid', 'body.canonical_text'],
  ] as const)
    t.deepEqual(placeOf(await send(daemon, 1, wish)), [code, place])
})

test('assets-12: a problem of a stored file tells where it is named', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  await board(daemon, 'b')
  const render_asset_id = await storedPicture(daemon)
  const state_asset_id = 'asset_none'
  for (const [answer, code, place] of [
    [await revise(daemon, 'b', { render_asset_id: 'asset_none' }), 'asset_not_found', 'body.render_asset_id'],
    [await revise(daemon, 'b', { render_asset_id, state_asset_id }), 'asset_not_found', 'body.state_asset_id'],
    [
      await revise(daemon, 'b', { render_asset_id, previous_revision_id: 'none' }),
      'board_revision_not_found',
      'body.previous_revision_id',
    ],
    [await derive(daemon), 'asset_not_found', 'body.subject.asset_id'],
    [await run(daemon, { type: 'asset_reference', asset_id: 'asset_none' }), 'asset_not_found', 'body.input_items.1'],
    [await run(daemon, { type: 'board_reference', board_id: 'none' }), 'board_not_found', 'body.input_items.1'],
  ] as const)
    t.deepEqual(placeOf(answer), [code, place])
})
const run = ({ request }: TestDaemon, item: object): Promise<Answer> =>
  request('POST', '/v1/sessions/s1/runs', { input_items: [{ type: 'text', text: 'x' }, item] })
const derive = ({ request }: TestDaemon): Promise<Answer> =>
  request('POST', '/v1/derivations', {
    profile: 'canonical_text',
    subject: { type: 'asset', asset_id: 'asset_none' },
  })

test('assets-12: a model is told where in its input a file is that is not there', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const asset_id = await upload(daemon, '{}')
  for (const [input, path] of [
    [{ artifact_ids: [asset_id, asset_id, 'asset_none'] }, 'artifact_ids.2'],
    [
      {
        parts: [
          { type: 'text', text: 'x' },
          { type: 'asset', asset_id: 'asset_none' },
        ],
      },
      'parts.1.asset_id',
    ],
  ] as const) {
    const { run_id } = await submit(daemon, 's1', `/tool emit_output ${JSON.stringify(input)}\n---\n/say done`)
    await until(daemon, run_id, 'completed')
    const { journal } = (await daemon.request('GET', '/v1/sessions/s1/events?after=0')).body.session
    const told = journal.filter((one: any) => one.type === 'outcome' && one.run_id === run_id)
    t.like(told[0].entry.output.error, { code: 'asset_not_found', issues: [{ path }] })
  }
})
