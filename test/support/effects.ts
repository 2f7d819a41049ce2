/** A world outside the daemon that counts what is done to it, and tools that act on it. */
import { defineTool, Tools, type Effect, type Tool } from '../../plugins/execution/tools/contract.js'
import { object, optional, string, type AnyPlugin } from '../../core/plugin.js'
import { testPlugin } from './plugins.js'

export interface World {
  /** Every call of a tool that reached the world, in order. */
  readonly calls: string[]
  /** What was done, by key: a second call with the key of an `idempotent` tool changes nothing. */
  readonly done: Map<string, string>
  /** Called in the middle of `slow` and `mcp__slow`. */
  entered: () => void
}

export const createWorld = (): World => ({ calls: [], done: new Map(), entered: () => {} })

const input = object({ what: optional(string()) })

const act = (world: World, name: string, effect: Effect): Tool =>
  defineTool({
    name,
    description: `Acts on the world (${effect}).`,
    input,
    effect,
    permission: 'allow',
    parallel: effect === 'read',
    timeout_ms: 5000,
    sandbox: 'inherited',
    run: ({ what = 'it' }, { key }) => {
      world.calls.push(`${name}:${what}`)
      if (effect !== 'read') world.done.set(effect === 'once' ? `${key}#${world.calls.length}` : key, what)
      return { type: 'result', output: { done: what } }
    },
  })

const failing = (name: string, run: Tool['run']): Tool =>
  defineTool({
    name,
    description: 'Fails in one way.',
    input,
    effect: 'read',
    parallel: false,
    timeout_ms: 300,
    sandbox: 'inherited',
    run,
  })

const slow = (world: World, name: string, effect: Effect): Tool =>
  defineTool({
    name,
    description: 'Takes long, and ends when it is told to.',
    input,
    effect,
    permission: 'allow',
    parallel: false,
    timeout_ms: 60_000,
    sandbox: 'inherited',
    run: (_, { signal }) =>
      new Promise((resolve) => {
        world.calls.push(`${name}:begin`)
        world.entered()
        signal.addEventListener(
          'abort',
          () => {
            world.calls.push(`${name}:aborted`)
            resolve({ type: 'result', output: { stopped: true }, is_error: true })
          },
          { once: true },
        )
      }),
  })

/** Tools whose names begin with `mcp__` need approval by the built-in rules; the others do not. */
export const effectTools = (world: World): AnyPlugin =>
  testPlugin('effects', {
    register(ctx) {
      ctx.contribute(
        Tools,
        act(world, 'pay', 'once'),
        act(world, 'mcp__pay', 'once'),
        act(world, 'put', 'idempotent'),
        act(world, 'mcp__put', 'idempotent'),
        act(world, 'peek', 'read'),
        slow(world, 'slow', 'read'),
        slow(world, 'slow_pay', 'once'),
        failing('throws', () => {
          throw new TypeError('secret detail')
        }),
        failing('refuses', () => ({ type: 'result', output: { error: 'no' }, is_error: true })),
        failing('hangs', () => new Promise(() => {})),
      )
    },
  })
