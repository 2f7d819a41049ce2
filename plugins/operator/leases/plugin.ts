import { definePlugin, object } from '../../../core/plugin.js'
import { SecretReferences, SecretSlots } from '../secrets/contract.js'
import { Leases } from './contract.js'
import { createLeases, keyRef } from './leases.js'
import { leaseRoutes } from './routes.js'
import { createLeaseStore } from './store.js'

export default definePlugin({
  id: 'leases',
  version: '1.0.0',
  api: 1,
  summary: 'Leases: what lets somebody outside use secrets for a short time.',
  needs: { slots: SecretSlots },
  provides: [Leases],
  config: object({}),
  register(ctx, { slots }) {
    const { state, clock, ids } = ctx
    const store = createLeaseStore(state, ids)
    const leases = createLeases({ state, store, slots, clock, ids })
    ctx.provide(Leases, leases)
    ctx.contribute(SecretReferences, {
      id: 'leases',
      of: (ref) => (ref === keyRef ? [{ kind: 'daemon', id: 'leases' }] : []),
      revoke: store.revokeOf,
    })
    ctx.routes(...leaseRoutes(leases))
  },
})
