/** What the daemon keeps of the floor, looked at within one turn of the event loop. */
import { unsafeCast, type AnyPlugin, type Collection, type ShippedPlugin, type State } from '../../../../core/plugin.js'
import { shippedPlugins } from '../../../../core/shipped.js'
import type { Channels } from '../../../../plugins/coordination/channels/contract.js'
import type { CallRecord, LeaseRecord } from '../../../../plugins/coordination/floor/record/lease.js'
import type { Runs } from '../../../../plugins/execution/runs/contract.js'
import type { Sessions } from '../../../../plugins/execution/sessions/contract.js'
import floor from '../../../../plugins/coordination/floor/plugin.js'

export interface Inside {
  runs: Runs
  channels: Channels
  sessions: Sessions
  state: State
  leases: Collection<LeaseRecord>
  calls: Collection<CallRecord>
  /** Commits of this plugin that are to fail. */
  fails: number
  /** Runs that this plugin asked to cancel. */
  lost: Set<string>
}

/** The shipped plugins, of which one tells what it is given. */
export const openInside = async (): Promise<{ inside: Inside; shipped: readonly ShippedPlugin[] }> => {
  const inside: Inside = unsafeCast({ lost: new Set(), fails: 0 })
  const plain: AnyPlugin = floor
  const told: AnyPlugin = {
    ...plain,
    register(ctx, services: any) {
      const collection: State['collection'] = (spec) => {
        const made = ctx.state.collection(spec)
        Object.assign(inside, { [spec.name === 'turn_leases' ? 'leases' : 'calls']: made })
        return made
      }
      const commit: State['commit'] = (change) => {
        if (inside.fails === 0) return ctx.state.commit(change)
        inside.fails -= 1
        return Promise.reject(new Error('The commit fails.'))
      }
      const state = Object.create(ctx.state, { collection: { value: collection }, commit: { value: commit } })
      Object.assign(inside, services, { state: ctx.state })
      const { runs } = inside
      const cancel: Runs['cancel'] = (run_id) => {
        inside.lost.add(run_id)
        return runs.cancel(run_id)
      }
      plain.register(Object.create(ctx, { state: { value: state } }), { ...services, runs: { ...runs, cancel } })
    },
  }
  const shipped = (await shippedPlugins()).map((one) =>
    one.id === 'floor' ? { ...one, load: async () => ({ default: told }) } : one,
  )
  return { inside, shipped }
}
