import { defineErrors } from '../../../../core/plugin.js'

/** Where those are told of problems who send events. */
export const ingressDomain = 'connector_ingress'

const limited = (kind: string) => ({
  status: 429,
  domain: ingressDomain,
  detail: `There is no room for another event of this ${kind} connector now: retry_after_ms={retry_after_ms}`,
  action: 'Wait so long and send the same event again.',
})

/**
 * What senders of events are told. Each status has one code, as clients of the protocol know it; the member `reason`
 * says which it is where there are several.
 */
export const ingressErrors = defineErrors({
  bad_request: {
    status: 400,
    domain: ingressDomain,
    detail: 'The event is not taken: {what}.',
    action: 'Nothing was stored. Correct it and send it again.',
  },
  unauthorized: {
    status: 401,
    domain: ingressDomain,
    detail: 'Nothing proves that the request comes from who may send events here.',
    action: 'Send what the connector is set up to be opened with.',
  },
  forbidden: {
    status: 403,
    domain: ingressDomain,
    detail: 'The event is refused.',
    action: 'The operator of the daemon finds the reason there.',
  },
  not_found: {
    status: 404,
    domain: ingressDomain,
    detail: 'There is no such connector.',
    action: 'See the path: it names the kind and the connector.',
  },
  conflict: {
    status: 409,
    domain: ingressDomain,
    detail: 'The event is not taken: {what}.',
    action: 'The same event again is answered alike until that changes.',
  },
  http_ingress_rate_limited: limited('http'),
  slack_ingress_rate_limited: limited('slack'),
  telegram_ingress_rate_limited: limited('telegram'),
  external_ingress_rate_limited: limited('external'),
  rate_limited: {
    status: 429,
    domain: ingressDomain,
    detail: 'Too many messages of this session wait for their turn.',
    action: 'Wait and send the same event again.',
  },
  service_unavailable: {
    status: 503,
    domain: ingressDomain,
    detail: 'The daemon cannot take events now.',
    action: 'Send the same event again later.',
  },
})
