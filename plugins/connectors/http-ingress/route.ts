/** Where programs post what is to become a run. Rules: docs/rules/webhooks.md. */
import {
  defineRoute,
  jsonReply,
  object,
  open,
  string,
  type Clock,
  type IngressHead,
  type Route,
} from '../../../core/plugin.js'
import type { Outbox } from '../../execution/deliveries/contract.js'
import { RunView } from '../../execution/runs/contract.js'
import { ingressDomain, ingressErrors, outsiderView } from '../ingress/contract.js'
import type { Connectors, Ingress } from '../registry/contract.js'
import { authorise } from './authorise.js'
import { eventOf, withTargetFaults } from './event.js'
import { httpKind } from './kind.js'
import { HttpEvent } from './request.js'

export interface HttpRouteParts {
  readonly connectors: Connectors
  readonly ingress: Ingress
  readonly outbox: Pick<Outbox, 'normalize'>
  readonly clock: Clock
}

const params = object({ name: string({ min: 1, max: 200 }) })
const mostBytes = 2 * 1024 * 1024

const { unauthorized, forbidden, not_found, bad_request, conflict, rate_limited, service_unavailable } = ingressErrors

export const httpRoute = ({ connectors, ingress, outbox, clock }: HttpRouteParts): Route =>
  defineRoute({
    id: 'connectors.http',
    method: 'POST',
    path: '/v1/connectors/http/:name',
    summary: 'Takes a message of a program; the same key again is the same message, and has the run of the first.',
    access: 'ingress',
    ingress(head: IngressHead<{ name: string }>) {
      const connector = connectors.find(httpKind, head.params.name)
      if (connector === undefined) throw ingressErrors.not_found()
      return authorise(connector, head, clock)
    },
    scheme: {
      id: 'http_connector',
      header: 'Authorization',
      description:
        'The bearer token of the connector, if it has one; with require_hmac_signature also X-Service-Timestamp and ' +
        'X-Service-Signature.',
    },
    params,
    // What a sender is told to call may have a query, which is signed like the path.
    query: open({}),
    body: HttpEvent,
    bodyForm: 'lenient',
    bodyLimit: mostBytes,
    // Its content alone may have 1 MiB.
    fileBytes: () => mostBytes,
    problemDomain: ingressDomain,
    reply: jsonReply(RunView),
    problems: [
      unauthorized,
      forbidden,
      not_found,
      bad_request,
      conflict,
      rate_limited,
      ingressErrors.http_ingress_rate_limited,
      service_unavailable,
    ],
    durability: 'A',
    example: {
      body: { content: 'Order 123 was paid.', binding_keys: ['customer:acme'], idempotency_key: 'order-123' },
    },
    handler: async ({ body, hashes, caller: { subject } }) => {
      const received = await ingress.receive(subject, eventOf(subject, body, hashes)).catch((error: unknown) => {
        throw withTargetFaults(outbox, body, error)
      })
      // No event of this kind has files that are still to be fetched.
      if (received.type === 'pending') throw ingressErrors.service_unavailable({ retryAfter: 5 })
      return outsiderView(received.run)
    },
  })
