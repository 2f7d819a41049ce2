/** The daemon that a plugin author tests with: what it lets a test do, what it says of a plugin that does wrong. */
import { existsSync } from 'node:fs'
import test from 'ava'
import * as kit from '../../../core/plugin.js'
import { createTestDaemon, type TestDaemonOptions } from '../../../core/testing/contract.js'
import { footprint, gained, lost, settledFootprint, type Footprint } from '../../../core/testing/footprint.js'
import { ModelProviders } from '../../../plugins/execution/models/contract.js'
import { callTool, scriptedProvider, text } from '../../../plugins/providers/scripted/contract.js'
import { Tools } from '../../../plugins/execution/tools/contract.js'
import { testPlugin } from '../../support/plugins.js'

type Entry = TestDaemonOptions['plugins'][number]

/** What a plugin is told of, which it makes wrong while it starts. */
const refusal = async (...plugins: readonly Entry[]): Promise<Error> => {
  try {
    await createTestDaemon({ plugins })
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it came up')
}

const ticker = (ticks: number[]) =>
  testPlugin('ticker', {
    register: (ctx) => {
      const marks = ctx.state.collection<{ id: string }>({
        name: 'ticker_marks',
        version: 1,
        id: ({ id }) => id,
        indexes: { all: { group: () => 'all' } },
      })
      const tick = (): void => {
        ticks.push(ctx.clock.now())
        ctx.clock.after(60_000, tick)
      }
      ctx.onStart(() => void ctx.clock.after(60_000, tick))
      ctx.routes(
        kit.defineRoute({
          id: 'ticker.mark',
          method: 'PUT',
          path: '/v1/ticker/:id',
          summary: 'Marks.',
          access: 'admin',
          params: kit.object({ id: kit.string() }),
          reply: kit.jsonReply(kit.integer()),
          durability: 'A',
          handler: ({ params }) =>
            ctx.state.commit((tx) => {
              tx.put(marks, params)
              return marks.count('all', 'all')
            }),
        }),
      )
    },
  })

const changes = async (before: Footprint): Promise<readonly string[]> => {
  const after = await settledFootprint(before)
  return [...gained(before, after), ...lost(before, after)]
}

test.serial('a test commands the clock and the disk, and what was acknowledged outlives a crash', async (t) => {
  const ticks: number[] = []
  const daemon = await createTestDaemon({ plugins: [ticker(ticks)], still: true })
  const began = daemon.clock.now()
  daemon.clock.leap(60_000)
  await daemon.until('a tick', () => ticks[0])
  t.deepEqual(ticks, [began + 60_000])
  t.is((await daemon.request('PUT', '/v1/ticker/a', undefined)).body, 1)
  daemon.disk.fail('full')
  t.deepEqual((await daemon.request('PUT', '/v1/ticker/b')).status, 503)
  const { url } = daemon
  await daemon.crash()
  t.not(daemon.url, url)
  t.is((await daemon.request('PUT', '/v1/ticker/b')).body, 2)
  await daemon.restart()
  t.is((await daemon.request('PUT', '/v1/ticker/c')).body, 3)
  await daemon.close()
})

test.serial('a life that crashed was not stopped, and what it had not written down is gone', async (t) => {
  let late: () => Promise<unknown> = () => Promise.resolve()
  const plugin = testPlugin('late', {
    register: (ctx) => {
      const marks = ctx.state.collection<{ id: string }>({ name: 'late', version: 1, id: ({ id }) => id, indexes: {} })
      late = () => ctx.state.commit((tx) => tx.put(marks, { id: 'late' }))
      ctx.own(async () => void (await late().catch(() => undefined)))
      ctx.health({
        id: 'late',
        check: () =>
          marks.find('late') === undefined
            ? []
            : [{ severity: 'info', code: 'late_is_there', message: 'It is there.' }],
      })
    },
  })
  const daemon = await createTestDaemon({ plugins: [plugin] })
  const isThere = async (): Promise<boolean> =>
    (await daemon.request('GET', '/v1/status')).text.includes('late_is_there')
  await daemon.crash()
  t.false(await isThere())
  await daemon.restart()
  t.true(await isThere(), 'an orderly stop writes it down')
  await daemon.close()
})

test.serial('a scripted model calls a tool of the plugin, and its script says when it is too short', async (t) => {
  const model = scriptedProvider([[callTool('c1', 'double', { n: 21 })], [text('It is 42.')]])
  const plugin = testPlugin('doubler', {
    register: (ctx) =>
      void ctx.contribute(Tools, {
        name: 'double',
        description: 'Doubles a number.',
        input: kit.object({ n: kit.integer() }),
        effect: 'read',
        parallel: true,
        timeout_ms: 1000,
        sandbox: 'read_only',
        run: (input) => ({ type: 'result', output: { given: kit.canonical(input) } }),
      }),
  })
  const daemon = await createTestDaemon({ plugins: [plugin, model] })
  await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
  const said = await daemon.request('POST', '/v1/sessions/s1/input', { content: 'Double 21.' })
  t.is(said.body.outputs[0].content, 'It is 42.')
  t.like(model.requests[1]?.messages.at(-1), { content: [{ output: { given: '{"n":21}' } }] })
  const more = await daemon.request('POST', '/v1/sessions/s1/input', { content: 'Again.' })
  t.regex(more.text, /The script has 2 answers and was asked for one more: write it down\./u)
  await daemon.close()
})

test.serial('a plugin that does not come up is named, with the reason, what to do, and what it threw', async (t) => {
  const cold = new Error('the oven is cold')
  const oven = await refusal(
    testPlugin('oven', {
      register: ({ onStart }) =>
        onStart(() => {
          throw cold
        }),
    }),
  )
  t.regex(oven.message, /^the plugin oven did not come up, it is failed: the oven is cold\. Correct it: /u)
  t.regex(String(oven.cause), /the oven is cold/u)
  const Salt = kit.defineToken<object>('salt@1')
  t.regex(
    (await refusal(testPlugin('soup', { needs: { salt: Salt }, register: () => {} }))).message,
    /^the plugin soup did not come up, it is skipped: needs salt@1, which no plugin provides\. .*in plugins/u,
  )
  t.regex(
    (await refusal(testPlugin('Soup', { register: () => {} }))).message,
    /^plugins\[0\] is no plugin: its default export is not a plugin: id .*\. Give what the main file/u,
  )
  const made = await refusal(testPlugin('fine', { register: () => {} }), () => {
    throw new Error('no kit')
  })
  t.regex(made.message, /^plugins\[1\] is no plugin: no kit\. /u)
})

const failing = (how: (ctx: kit.PluginContext<{}>) => void) => testPlugin('faulty', { register: how })
const oops = (): never => {
  throw new Error('oops')
}

test.serial('what a plugin does wrong while it works fails the close, and names it', async (t) => {
  const timer = await createTestDaemon({
    plugins: [failing((ctx) => ctx.onStart(() => void ctx.clock.after(5, oops)))],
  })
  await timer.until('the fault', () => timer.plugins().find(({ fault_count: count }) => count > 0))
  await t.throwsAsync(timer.close(), { message: /^the plugin faulty did wrong in .*: oops\. Correct it/u })
  t.false(existsSync(timer.root))

  const model = failing((ctx) =>
    ctx.contribute(ModelProviders, {
      id: 'faulty',
      summary: 'Throws.',
      default_model: 'faulty',
      capabilities: {
        matrix_version: 2,
        multimodal_input: false,
        native_web_search: false,
        image_generation: false,
        image_edit: false,
        audio_generation: false,
        transcription: false,
      },
      connect: () => ({ stream: oops, readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }) }),
    }),
  )
  for (const expectsFaults of [false, true]) {
    const plugins = [{ plugin: model, config: { models: { provider: 'faulty' } } }]
    const daemon = await createTestDaemon({ plugins, expectsFaults })
    await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
    t.regex((await daemon.request('POST', '/v1/sessions/s1/input', { content: 'x' })).text, /fail/u)
    if (expectsFaults) await t.notThrowsAsync(daemon.close())
    else await t.throwsAsync(daemon.close(), { message: /^the plugin faulty did wrong in .*: oops\. Correct it/u })
  }
})

test.serial(
  'command-line-34: what a plugin throws is printed with its stack as it comes, unless it is expected',
  async (t) => {
    const printed: string[] = []
    const { write } = process.stderr
    const failing = testPlugin('faulty', {
      register: (ctx) =>
        ctx.contribute(Tools, {
          name: 'break',
          description: 'Breaks.',
          input: kit.object({}),
          effect: 'read',
          permission: 'allow',
          parallel: true,
          timeout_ms: 1_000,
          sandbox: 'read_only',
          run: oops,
        }),
    })
    for (const expectsFaults of [false, true]) {
      const model = scriptedProvider([[callTool('c1', 'break')], [text('It is broken.')]])
      const daemon = await createTestDaemon({ plugins: [failing, model], expectsFaults })
      await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
      process.stderr.write = (piece: unknown): boolean => printed.push(String(piece)) > 0
      try {
        await daemon.request('POST', '/v1/sessions/s1/input', { content: 'x' })
      } finally {
        process.stderr.write = write
      }
      if (expectsFaults) await t.notThrowsAsync(daemon.close())
      else
        await t.throwsAsync(daemon.close(), {
          message:
            'the plugin faulty did wrong in a call of the tool break: oops. ' +
            'Correct it, or say expectsFaults where the test wants it.',
        })
    }
    t.is(printed.length, 1)
    t.regex(
      printed[0] ?? '',
      /^The test daemon: a tool threw, tool break, run_id .*: Error: oops\n +at \S*oops .*create-test-daemon/u,
    )
  },
)

test.serial('what does not come is named', async (t) => {
  const daemon = await createTestDaemon({ plugins: [] })
  await t.throwsAsync(
    daemon.until('the postman', () => undefined, 50),
    { message: 'the postman did not come within 50 ms' },
  )
  await daemon.close()
})

test.serial('no port, handle, timer or file is left behind a close, also of one that crashed', async (t) => {
  await (await createTestDaemon({ plugins: [] })).close()
  const before = footprint()
  const daemon = await createTestDaemon({ plugins: [ticker([])] })
  await daemon.crash()
  const { url, root } = daemon
  await daemon.close()
  await daemon.close()
  t.deepEqual(await changes(before), [])
  t.false(existsSync(root))
  await t.throwsAsync(fetch(url))
  const failed = await refusal(failing(oops))
  t.regex(failed.message, /oops/u)
  t.deepEqual(await changes(before), [], 'nor of one that did not come up')
})

test.serial('no life begins behind a close, also where a crash was not waited for', async (t) => {
  await (await createTestDaemon({ plugins: [] })).close()
  const before = footprint()
  const daemon = await createTestDaemon({ plugins: [] })
  const [crashed, closed] = await Promise.allSettled([daemon.crash(), daemon.close()])
  t.deepEqual([crashed.status, closed.status], ['fulfilled', 'fulfilled'])
  for (const late of [() => daemon.crash(), () => daemon.restart(), () => daemon.request('GET', '/v1/status')])
    await t.throwsAsync(late(), { message: 'this test daemon was closed' })
  t.deepEqual(await changes(before), [])
  t.false(existsSync(daemon.root))
})
