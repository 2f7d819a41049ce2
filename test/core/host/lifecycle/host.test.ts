/** How plugins find each other, and how what they register is undone. */
import test from 'ava'
import { createScope } from '../../../../core/host/context/scope.js'
import { orderByNeeds } from '../../../../core/host/lifecycle/order.js'
import { orderSteps } from '../../../../core/host/lifecycle/repair.js'
import {
  definePlugin,
  definePoint,
  defineToken,
  object,
  type AnyPlugin,
  type PluginContext,
  type Token,
} from '../../../../core/plugin.js'
import { createCountingClock } from '../../../../core/testing/footprint.js'
import { startTestDaemon } from '../../../support/daemon.js'

interface Parts {
  readonly needs?: Record<string, Token<any>>
  readonly wants?: Record<string, Token<any>>
  readonly provides?: readonly Token<any>[]
  readonly register?: (ctx: PluginContext<unknown>, services: any) => void
}
const plugin = (id: string, { register = () => {}, ...parts }: Parts = {}): AnyPlugin =>
  definePlugin({ id, version: '1.0.0', api: 1, summary: `The plugin ${id}.`, ...parts, register })

const Bell = defineToken<{ ring(): string }>('bell@1')
const Rope = defineToken<{ pull(): string }>('rope@1')

test('runtime-18: whoever provides loads before whoever needs, and others keep their place', (t) => {
  const list = [
    plugin('first'),
    plugin('ringer', { needs: { rope: Rope } }),
    plugin('rope', { needs: { bell: Bell }, provides: [Rope] }),
    plugin('bell', { provides: [Bell] }),
    plugin('last'),
  ]
  const { ordered, refused } = orderByNeeds(list, new Set())
  t.deepEqual(
    ordered.map(({ id }) => id),
    ['first', 'bell', 'rope', 'ringer', 'last'],
  )
  t.deepEqual(refused, [])
})

test('runtime-42: a contribution to a point that nobody reads is told, and whether its name is nearly that of one', async (t) => {
  const stray = plugin('stray', {
    register: (ctx) => {
      ctx.contribute(definePoint('tool@1'), {})
      ctx.contribute(definePoint('lighthouse-keepers@1'), {})
    },
  })
  const { log, request } = await startTestDaemon(t, { plugins: [stray] })
  t.deepEqual(
    log.filter(({ fact }) => fact.startsWith('contributes to')).map(({ level, fact }) => [level, fact]),
    [
      ['warn', 'contributes to tool@1, which no plugin reads; did you mean tools@1?'],
      ['info', 'contributes to lighthouse-keepers@1, which no plugin here reads: it has no effect'],
    ],
  )
  const { warnings } = (await request('GET', '/v1/status')).body.health
  t.deepEqual(
    warnings
      .filter(({ code }: { code: string }) => code === 'contribution_unread')
      .map(({ severity, related_id, message }: Record<string, string>) => [severity, related_id, message]),
    [
      ['warning', 'stray', 'The plugin stray contributes to tool@1, which no plugin reads; did you mean tools@1?'],
      [
        'info',
        'stray',
        'The plugin stray contributes to lighthouse-keepers@1, which no plugin here reads: it has no effect.',
      ],
    ],
  )
})

test('a missing need is told with its chain', (t) => {
  const { refused } = orderByNeeds(
    [plugin('ringer', { needs: { rope: Rope } }), plugin('rope', { needs: { bell: Bell }, provides: [Rope] })],
    new Set(),
  )
  t.deepEqual(refused, [
    { id: 'ringer', reason: 'needs rope@1 of rope: needs bell@1, which no plugin provides' },
    { id: 'rope', reason: 'needs bell@1, which no plugin provides' },
  ])
})

test('a cycle is told with its chain and takes only its members', (t) => {
  const list = [
    plugin('rope', { needs: { bell: Bell }, provides: [Rope] }),
    plugin('bell', { needs: { rope: Rope }, provides: [Bell] }),
    plugin('alone'),
  ]
  const { ordered, refused } = orderByNeeds(list, new Set())
  t.deepEqual(
    ordered.map(({ id }) => id),
    ['alone'],
  )
  t.regex(refused.find(({ id }) => id === 'rope')?.reason ?? '', /cycle: rope > bell > rope/u)
  t.deepEqual(
    refused.map(({ id }) => id),
    ['rope', 'bell'],
  )
})

test('needs arrive as values and wants as functions that may find nothing', async (t) => {
  const seen: unknown[] = []
  const bell = plugin('bell', { provides: [Bell], register: (ctx) => ctx.provide(Bell, { ring: () => 'ding' }) })
  const ringer = plugin('ringer', {
    needs: { bell: Bell },
    wants: { rope: Rope },
    register: (ctx, services) =>
      ctx.onStart(() => {
        seen.push(services.bell.ring(), services.rope())
      }),
  })
  await startTestDaemon(t, { shipped: [], plugins: [ringer, bell] })
  t.deepEqual(seen, ['ding', undefined])
})

test('runtime-18: a plugin that fails takes those that need it with it, in reverse, and nobody else', async (t) => {
  const undone: string[] = []
  const bell = plugin('bell', {
    provides: [Bell],
    register: (ctx) => {
      ctx.provide(Bell, { ring: () => 'ding' })
      ctx.own(() => {
        undone.push('bell')
      })
      ctx.onStart(() => Promise.reject(new TypeError('cracked')))
    },
  })
  const rope = plugin('rope', {
    needs: { bell: Bell },
    provides: [Rope],
    register: (ctx) => {
      ctx.provide(Rope, { pull: () => 'ding' })
      ctx.own(() => {
        undone.push('rope')
      })
    },
  })
  const ringer = plugin('ringer', {
    needs: { rope: Rope },
    register: (ctx) =>
      ctx.own(() => {
        undone.push('ringer')
      }),
  })
  const { daemon } = await startTestDaemon(t, { shipped: [], plugins: [ringer, rope, bell, plugin('alone')] })
  t.deepEqual(undone, ['ringer', 'rope', 'bell'])
  const reports = daemon.view.plugins().map(({ id, state, reason }) => [id, state, reason])
  t.deepEqual(reports, [
    ['ringer', 'skipped', 'needs bell, which failed'],
    ['rope', 'skipped', 'needs bell, which failed'],
    ['bell', 'failed', 'cracked'],
    ['alone', 'ready', undefined],
  ])
})

test('runtime-20: contributions come in load order, and a stop undoes everything in reverse', async (t) => {
  const Words = definePoint<string>('words@1', (word) => word)
  const undone: string[] = []
  let view: () => readonly string[] = () => []
  const speaker = (id: string): AnyPlugin =>
    plugin(id, {
      register: (ctx) => {
        view = ctx.view(Words)
        ctx.contribute(Words, id)
        ctx.own(() => {
          undone.push(`${id} registered`)
        })
        ctx.onStart(() => () => {
          undone.push(`${id} started`)
        })
      },
    })
  const { daemon } = await startTestDaemon(t, { shipped: [], plugins: [speaker('one'), speaker('two')] })
  t.deepEqual(view(), ['one', 'two'])
  await daemon.stop()
  t.deepEqual(undone, ['two started', 'two registered', 'one started', 'one registered'])
  t.deepEqual(view(), [])
})

test('a scope undoes backwards once, goes on after a failing undo, and undoes at once what comes later', async (t) => {
  const seen: unknown[] = []
  const scope = createScope((error) => seen.push(error))
  scope.own(() => {
    seen.push('first')
  })
  const forget = scope.own(() => {
    seen.push('forgotten')
  })
  scope.own(() => Promise.reject(new TypeError('second')))
  scope.own(() => {
    seen.push(scope.signal.aborted)
  })
  forget()
  await Promise.all([scope.close(), scope.close()])
  scope.own(() => {
    seen.push('late')
  })
  t.deepEqual(seen, [true, new TypeError('second'), 'first', 'late'])
})

test('the close of a scope waits for what is undone at once because it comes while it closes', async (t) => {
  const seen: string[] = []
  const scope = createScope(() => {})
  scope.own(async () => {
    scope.own(async () => {
      await new Promise(setImmediate)
      seen.push('late')
    })
  })
  await scope.close()
  t.deepEqual(seen, ['late'])
})

test('runtime-22: repair steps run after the ones they name', (t) => {
  const step = (id: string, ...after: string[]) => ({
    owner: 'x',
    value: { id, after, check: () => [], fix: async () => {} },
  })
  t.deepEqual(
    orderSteps([step('c', 'b'), step('a'), step('b', 'a')]).map(({ value }) => value.id),
    ['a', 'b', 'c'],
  )
  t.throws(() => orderSteps([step('a', 'b'), step('b', 'a')]), { code: 'repair_order', message: /a, b/u })
})

test('runtime-22: repair fixes what its check finds, before the plugins start', async (t) => {
  const story: string[] = []
  const faults = ['one', 'two']
  const fixer = plugin('fixer', {
    register: (ctx) => {
      ctx.repair({
        id: 'tidy',
        check: () => [...faults],
        fix: async (found) => {
          story.push(`fixed ${found.join(' ')}`)
          faults.length = 0
        },
      })
      ctx.onStart(() => {
        story.push('started')
      })
    },
  })
  const { daemon } = await startTestDaemon(t, { shipped: [], plugins: [fixer] })
  t.deepEqual(story, ['fixed one two', 'started'])
  t.deepEqual(daemon.view.boot().steps.find(({ step }) => step === 'repair')?.details, { steps: 1, found: 2 })
})

test('runtime-18: a plugin whose stop would wait for no time that there is comes not up', async (t) => {
  const stopping = [Number.NaN, Infinity, -1].map((ms, at) => ({ ...plugin(`stops-${at}`), stopMs: () => ms }))
  const { daemon } = await startTestDaemon(t, { shipped: [], plugins: [...stopping, plugin('alone')] })
  t.deepEqual(
    daemon.view.plugins().map(({ state, reason }) => [state, reason]),
    [...stopping.map(() => ['failed', 'stopMs must give milliseconds, from 0 to 86400000']), ['ready', undefined]],
  )
})

test('a flag that another plugin has is refused', async (t) => {
  const flagged = (id: string): AnyPlugin => ({ ...plugin(id), config: object({}), flags: { speed: 'speed' } })
  const { daemon } = await startTestDaemon(t, { shipped: [], plugins: [flagged('one'), flagged('two')] })
  t.deepEqual(
    daemon.view.plugins().map(({ state, reason }) => [state, reason]),
    [
      ['ready', undefined],
      ['failed', 'its flag --speed belongs to one'],
    ],
  )
})

test('a service that another plugin provides already is refused', async (t) => {
  const bell = (id: string): AnyPlugin =>
    plugin(id, { provides: [Bell], register: (ctx) => ctx.provide(Bell, { ring: () => id }) })
  const { daemon } = await startTestDaemon(t, { shipped: [], plugins: [bell('one'), bell('two')] })
  t.deepEqual(
    daemon.view.plugins().map(({ state }) => state),
    ['ready', 'failed'],
  )
  t.regex(daemon.view.plugins()[1]?.reason ?? '', /bell@1.*one/u)
})

test('a timer whose promise rejects is charged to its plugin, and a timer ends with its plugin', async (t) => {
  const clock = createCountingClock()
  const timed = plugin('timed', {
    register: (ctx) =>
      ctx.onStart(() => {
        ctx.clock.after(1, () => Promise.reject(new TypeError('spring broke')))
        ctx.clock.after(3_600_000, () => {})
      }),
  })
  const { daemon } = await startTestDaemon(t, { shipped: [], plugins: [timed], clock })
  const faults = (): number => daemon.view.plugins()[0]?.fault_count ?? 0
  while (faults() === 0)
    await new Promise((resolve) => {
      setTimeout(resolve, 2)
    })
  t.is(daemon.view.plugins()[0]?.last_fault?.message, 'spring broke')
  await daemon.stop()
  t.is(clock.waiting.size, 0)
})

test('a contribution is checked by its point, also one that came before the point was known', async (t) => {
  const check = (word: string): string | undefined => (word === 'bad' ? 'the word is bad' : undefined)
  const Words = definePoint<string>('words@1', undefined, check)
  let words: () => readonly string[] = () => []
  const speaker = (id: string, ...said: readonly string[]): AnyPlugin =>
    plugin(id, { register: (ctx) => ctx.contribute({ point: 'words@1' }, ...said) })
  const owner = plugin('owner', {
    register: (ctx) => {
      words = ctx.view(Words)
    },
  })
  const plugins = [speaker('early', 'good', 'bad'), owner, speaker('late', 'better', 'bad'), speaker('fine', 'best')]
  const { daemon } = await startTestDaemon(t, { shipped: [], plugins })
  t.deepEqual(words(), ['good', 'best'])
  t.deepEqual(
    daemon.view.plugins().map(({ id, state, reason, last_fault: last }) => [id, state, reason ?? last?.message]),
    [
      ['early', 'degraded', 'the word is bad'],
      ['owner', 'ready', undefined],
      ['late', 'failed', 'the word is bad'],
      ['fine', 'ready', undefined],
    ],
  )
})

test('runtime-20: what a plugin declares in the state belongs to it, and a stopped one changes nothing any more', async (t) => {
  const spec = { name: 'things', version: 1, id: ({ id }: { id: string }) => id, indexes: {} }
  const ended: unknown[] = []
  let commit: () => Promise<unknown> = async () => undefined
  const first = plugin('first', {
    register: (ctx) => {
      const things = ctx.state.collection(spec)
      commit = () => ctx.state.commit((tx) => tx.put(things, { id: 'one' }))
      ctx.own(async () => {
        ended.push(await commit().then(() => 'taken'))
      })
    },
  })
  const second = plugin('second', { register: (ctx) => void ctx.state.collection(spec) })
  const { daemon, stop } = await startTestDaemon(t, { shipped: [], plugins: [first, second] })
  t.is(daemon.view.plugins()[1]?.reason, 'the collection things belongs to the plugin first')
  await commit()
  await stop()
  t.deepEqual(ended, ['taken'])
  await t.throwsAsync(commit(), { code: 'plugin_ended' })
  t.is(daemon.view.plugins()[0]?.last_fault?.where, 'a commit after its stop')
})

test('a stop waits for what a timer or a listener has begun', async (t) => {
  const story: string[] = []
  const timed = plugin('timed', {
    register: (ctx) =>
      ctx.onStart(() => {
        ctx.clock.after(0, async () => {
          story.push('began')
          await new Promise((resolve) => setTimeout(resolve, 300))
          story.push('ended')
        })
      }),
  })
  const { stop } = await startTestDaemon(t, { shipped: [], plugins: [timed] })
  while (story.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  await stop()
  t.deepEqual(story, ['began', 'ended'])
})
