import { definePlugin } from '../../../core/plugin.js'
import { Outbox } from '../../execution/deliveries/contract.js'
import { ConnectorKinds, Connectors, Ingress } from '../registry/contract.js'
import { httpKind } from './kind.js'
import { httpRoute } from './route.js'

export default definePlugin({
  id: 'http-ingress',
  version: '1.0.0',
  api: 1,
  summary: 'Lets programs post what is to become a run, with a token, a signature or neither.',
  needs: { connectors: Connectors, ingress: Ingress, outbox: Outbox },
  register(ctx, { connectors, ingress, outbox }) {
    ctx.contribute(ConnectorKinds, httpKind)
    ctx.routes(httpRoute({ connectors, ingress, outbox, clock: ctx.clock }))
  },
})
