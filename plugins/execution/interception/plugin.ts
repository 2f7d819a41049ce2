import { definePlugin, Host } from '../../../core/plugin.js'
import { Interception, Interceptors, type Interceptor, type Invocation, type Ruling } from './contract.js'
import { askInTurn } from './rulings.js'
import { checkRuling } from './ruling-fault.js'

/** Told at the same time, at most: what comes on top is dropped, and told in the log. */
const mostTold = 256

export default definePlugin({
  id: 'interception',
  version: '1.0.0',
  api: 1,
  summary: 'Lets plugins stop or change what happens at named moments.',
  needs: { host: Host },
  provides: [Interception],
  register(ctx, { host }) {
    const { log, signal: ending } = ctx
    const all = ctx.view(Interceptors)
    const told = new Set<Promise<unknown>>()
    /** Whoever is refused has to know whom to turn to. */
    const byPlugin = ({ id, ofHooks }: Interceptor, ruling: Ruling | undefined): Ruling | undefined => {
      if (ruling === undefined || ofHooks === true) return ruling
      const plugin = host.contributor(Interceptors, id)
      return { ...ruling, ...(plugin !== undefined && { plugin }) }
    }
    const askOne = async (
      one: Interceptor,
      invocation: Invocation,
      signal: AbortSignal,
    ): Promise<Ruling | undefined> => {
      try {
        return byPlugin(one, checkRuling(await one.intercept(invocation, signal)))
      } catch (error) {
        log.error('an interceptor failed', { interceptor: one.id, event: invocation.event, error })
        return undefined
      }
    }
    const ask = (invocation: Invocation, signal: AbortSignal): Promise<Ruling> => {
      const asked = all().filter((one) => one.wants(invocation.event))
      const inOrder = asked.toSorted((a, b) => a.rank - b.rank)
      return askInTurn(invocation, inOrder, (one, now) => askOne(one, now, signal))
    }
    ctx.provide(Interception, {
      wants: (event) => all().some((one) => one.wants(event)),
      ask,
      tell(invocation) {
        if (!all().some((one) => one.wants(invocation.event)) || ending.aborted) return
        if (told.size >= mostTold)
          return log.warn('interceptors are too slow: one was not told', { event: invocation.event })
        const telling = ask(invocation, ending).finally(() => told.delete(telling))
        told.add(telling)
      },
    })
    ctx.onStart(() => async () => {
      await Promise.all(told)
    })
  },
})
