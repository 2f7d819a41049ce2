/** Interceptors of tests: they note what they are asked, and rule as they are told. */
import {
  Interceptors,
  type Invocation,
  type Moment,
  type Ruling,
} from '../../plugins/execution/interception/contract.js'
import { Tools, defineTool, type Tool } from '../../plugins/execution/tools/contract.js'
import { object, optional, string, type AnyPlugin, type Json } from '../../core/plugin.js'
import { testPlugin } from './plugins.js'

type Rule = (
  invocation: Invocation,
  signal: AbortSignal,
) => Partial<Ruling> | undefined | Promise<Partial<Ruling> | undefined>

export interface Watcher {
  readonly plugin: AnyPlugin
  readonly seen: Invocation[]
  /** What is ruled at each moment from now on; only these are wanted. */
  readonly rules: Partial<Record<Moment, Rule>>
}

export const watcher = (id = 'watcher', rank = 10): Watcher => {
  const seen: Invocation[] = []
  const rules: Partial<Record<Moment, Rule>> = {}
  const plugin = testPlugin(id, {
    register(ctx) {
      ctx.contribute(Interceptors, {
        id,
        rank,
        wants: (event) => rules[event] !== undefined,
        async intercept(invocation, signal) {
          seen.push(invocation)
          const ruling = await rules[invocation.event]?.(invocation, signal)
          return ruling === undefined ? undefined : { by: [id], ...ruling }
        },
      })
    },
  })
  return { plugin, seen, rules }
}

/** A tool that answers with its input, and keeps what it was called with. */
export const echoing = (permission: Tool['permission'] = 'allow') => {
  const calls: Json[] = []
  const plugin = testPlugin('echoing', {
    register(ctx) {
      ctx.contribute(
        Tools,
        defineTool({
          name: 'echo',
          description: 'Answers with its input.',
          input: object({ text: string(), fail: optional(string()) }),
          effect: 'once',
          parallel: false,
          timeout_ms: 60_000,
          sandbox: 'read_only',
          ...(permission !== undefined && { permission }),
          run(input) {
            calls.push({ ...input })
            return { type: 'result', output: { ...input }, is_error: input.fail !== undefined }
          },
        }),
      )
    },
  })
  return { plugin, calls }
}
