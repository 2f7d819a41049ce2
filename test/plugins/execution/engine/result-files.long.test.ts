/** Tools that give files; docs/rules/runs.md. */
import test, { type ExecutionContext } from 'ava'
import sharp from 'sharp'
import { object } from '../../../../core/plugin.js'
import { Assets, type Asset } from '../../../../plugins/media/assets/contract.js'
import { defineTool, Tools } from '../../../../plugins/execution/tools/contract.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'
import { openSession, submit, until } from '../../../support/runs.js'

const red = (): Promise<Buffer> =>
  sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
    .png()
    .toBuffer()

/** A tool that gives a picture and a text, and what it gave; `before` is done when both are stored. */
const painter = (before: (files: readonly Asset[]) => Promise<unknown> = async () => {}) => {
  const given: Asset[] = []
  const plugin = testPlugin('painter', {
    needs: { assets: Assets },
    register(ctx, { assets }) {
      const store = (media_type: string, file_name: string, bytes: Uint8Array): Promise<Asset> =>
        assets.add({ media_type, file_name, bytes })
      ctx.contribute(
        Tools,
        defineTool({
          name: 'paint',
          description: 'Paints.',
          input: object({}),
          effect: 'read',
          parallel: true,
          timeout_ms: 10_000,
          sandbox: 'inherited',
          async run() {
            const files = [
              await store('image/png', 'red.png', await red()),
              await store('text/plain', 'how.txt', Buffer.from('with a brush')),
            ]
            given.push(...files)
            await before(files)
            return { type: 'result', output: { painted: true }, files }
          },
        }),
      )
    },
  })
  return { plugin, given }
}

const twice = () =>
  scriptedProvider((_, count) => (count === 1 ? [callTool('c1', 'paint'), done('tool_calls')] : [text('ok'), done()]))

const start = async (
  t: ExecutionContext,
  { plugin }: ReturnType<typeof painter>,
  root?: string,
): Promise<{ daemon: TestDaemon; model: ReturnType<typeof twice> }> => {
  const model = twice()
  const where = root === undefined ? {} : { root }
  const daemon = await startTestDaemon(t, { plugins: [plugin, model.plugin], config: model.config, ...where })
  await openSession(daemon)
  return { daemon, model }
}
const lineOf = ({ asset_id: id, file_name, media_type }: Asset): string =>
  `[file ${file_name}, ${media_type}, asset ${id}]`

test('runs-54: files that a tool gives are told to the model behind the results, and named by the run', async (t) => {
  const paint = painter()
  const root = await freshRoot()
  const { daemon, model } = await start(t, paint, root)
  const { run_id } = await submit(daemon, 's1', 'Paint')
  await until(daemon, run_id, 'completed')
  const [picture, how] = paint.given as [Asset, Asset]
  const [result, told]: any[] = model.requests[1]?.messages.slice(-2) ?? []
  t.deepEqual([result.role, result.content[0].output], ['tool', { painted: true }])
  t.deepEqual(
    told.content.map((part: any) => part.text),
    [
      'Files that paint gave:',
      `<attached_file>\n${lineOf(picture)}\nThis model is shown no pictures.\n</attached_file>`,
      lineOf(how),
    ],
  )
  const named = { domain: 'runs', owner_id: run_id, role: 'tool_result', hard: true, parent_id: 's1' }
  for (const { asset_id: id } of paint.given) {
    t.deepEqual((await daemon.request('GET', `/v1/assets/${id}/references`)).body.references, [named])
    t.is((await daemon.request('DELETE', `/v1/assets/${id}`)).status, 409)
  }
  await daemon.stop()
  const later = await start(t, painter(), root)
  await until(later.daemon, (await submit(later.daemon, 's1', 'Again')).run_id, 'completed')
  t.true(JSON.stringify(later.model.requests[0]?.messages).includes(how.asset_id), 'a later life tells the same')
})

test('runs-54: a file that is deleted before the outcome is recorded fails the call', async (t) => {
  let daemon: TestDaemon | undefined
  const paint = painter(async ([first]) => daemon?.request('DELETE', `/v1/assets/${first?.asset_id}`))
  const started = await start(t, paint)
  daemon = started.daemon
  const { run_id } = await submit(daemon, 's1', 'Paint')
  await until(daemon, run_id, 'completed')
  const result: any = started.model.requests[1]?.messages.at(-1)
  t.is(result.content[0].output.error.code, 'asset_not_found')
  t.deepEqual((await daemon.request('GET', `/v1/assets/${paint.given[1]?.asset_id}/references`)).body.references, [])
})

test('runs-54: what a run was given and a tool gave again has both roles, and may be sent on', async (t) => {
  const paint = painter()
  const model = scriptedProvider((_, count) => {
    if (count === 1) return [callTool('c1', 'paint'), done('tool_calls')]
    if (count > 2) return [text('ok'), done()]
    return [callTool('c2', 'emit_output', { artifact_ids: [paint.given[0]?.asset_id ?? ''] }), done('tool_calls')]
  })
  const daemon = await startTestDaemon(t, { plugins: [paint.plugin, model.plugin], config: model.config })
  await openSession(daemon)
  const content_base64 = (await red()).toString('base64')
  const attachments = [{ file_name: 'red.png', media_type: 'image/png', content_base64 }]
  const { run_id } = (await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Paint', attachments })).body
  const run = await until(daemon, run_id, 'completed')
  t.is(run.outputs[0].artifacts[0].id, run.input_attachments[0].id)
  const { references } = (await daemon.request('GET', `/v1/assets/${run.input_attachments[0].id}/references`)).body
  t.deepEqual(
    references.filter(({ domain }: any) => domain === 'runs').map(({ role }: any) => role),
    ['input_attachment', 'tool_result', 'output_part', 'output_artifact'],
  )
})

test('tools-35: files that are no assets are a fault of the tool, and the run goes on', async (t) => {
  const model = twice()
  const plugin = testPlugin('forger', {
    register(ctx) {
      const files: readonly Asset[] = JSON.parse('[{"id":"asset_1"}]')
      ctx.contribute(
        Tools,
        defineTool({
          name: 'paint',
          description: 'Paints.',
          input: object({}),
          effect: 'read',
          parallel: true,
          timeout_ms: 10_000,
          sandbox: 'inherited',
          run: () => ({ type: 'result', output: {}, files }),
        }),
      )
    },
  })
  const daemon = await startTestDaemon(t, { plugins: [plugin, model.plugin], config: model.config })
  await openSession(daemon)
  await until(daemon, (await submit(daemon, 's1', 'Paint')).run_id, 'completed')
  t.true(JSON.stringify(model.requests[1]?.messages).includes('tool_failed'))
})

test('runs-54: files that a tool gives are nothing that somebody said: the demo model goes on in its script', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [painter().plugin] })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', '/tool paint\n/say made')
  t.is((await until(daemon, run_id, 'completed')).outputs[0].content, 'made')
})
