/** Where Slack sends what happens (slack-6 to slack-10). */
import {
  boolean,
  bytes,
  defineRoute,
  integer,
  jsonReply,
  literal,
  named,
  object,
  optional,
  string,
  doc,
  having,
  type Admitted,
  type Clock,
  type IngressHead,
  type Route,
} from '../../../core/plugin.js'
import { RunView } from '../../execution/runs/contract.js'
import { ingressDomain, ingressErrors } from '../ingress/contract.js'
import type { ConnectorKind, Connectors } from '../registry/contract.js'
import { isSigned, readSignature } from './incoming/signature.js'
import { takeIn, type Admission, type TakeInParts } from './incoming/take-in.js'
import type { SlackSettings } from './setup/settings.js'
import type { Signatures } from './setup/signatures.js'

export interface SlackRouteParts extends TakeInParts {
  readonly clock: Pick<Clock, 'now'>
  readonly connectors: Pick<Connectors, 'find' | 'trouble'>
  readonly kind: ConnectorKind<SlackSettings>
  readonly signatures: Pick<Signatures, 'refused' | 'fit'>
}

type Head = IngressHead<{ readonly name: string }>

/** Whose request it is, by the headers; the signature is of the body, and so looked at when that is here. */
const admit = ({ connectors, kind, clock, signatures }: SlackRouteParts, head: Head): Admitted<Admission> => {
  const connector = connectors.find(kind, head.params.name)
  if (connector === undefined) throw ingressErrors.not_found()
  const secret = connector.secret('signing_secret')
  if (secret === undefined) {
    if (connector.settings.allow_unauthenticated_ingress) return { subject: { connector, isAuthenticated: false } }
    throw ingressErrors.unauthorized()
  }
  const signature = readSignature(head, clock.now())
  if (signature === undefined) throw ingressErrors.unauthorized()
  return {
    subject: { connector, isAuthenticated: true },
    verify: (body) => {
      if (isSigned(secret, signature, body)) return signatures.fit(connector.name)
      signatures.refused(connector.name)
      throw ingressErrors.unauthorized()
    },
  }
}

/** What is told where there is no run to tell of. */
const SlackAnswer = named(
  'SlackAnswer',
  object({
    challenge: optional(doc(string(), 'What Slack asked for to see that somebody is here.')),
    accepted: optional(doc(literal(true), 'The message is kept; its run begins when its files are there.')),
    session_id: optional(string()),
    ignored: optional(doc(boolean(), 'True of what is no message that a run could come of.')),
    reason: optional(doc(string(), 'Why it is ignored.')),
    type: optional(literal('app_rate_limited')),
    minute_rate_limited: optional(doc(integer(), 'When Slack began to leave out events. Unix time in seconds.')),
  }),
)

const { bad_request, unauthorized, forbidden, not_found, conflict, rate_limited, service_unavailable } = ingressErrors

/** Most bytes of a request. */
const mostBytes = 2_097_152

export const slackRoute = (parts: SlackRouteParts): Route =>
  defineRoute({
    id: 'connectors.slack',
    method: 'POST',
    path: '/v1/connectors/slack/:name',
    summary: 'Takes what Slack tells of; the same message again is the same run.',
    access: 'ingress',
    ingress: (head: Head) => admit(parts, head),
    scheme: {
      id: 'slack_signature',
      header: 'X-Slack-Signature',
      description: 'The signature of Slack over X-Slack-Request-Timestamp and the body, by the signing secret.',
    },
    params: object({ name: string({ min: 1, max: 1000 }) }),
    body: bytes(),
    bodyForm: 'bytes',
    bodyLimit: mostBytes,
    problemDomain: ingressDomain,
    reply: jsonReply(having('run_id', RunView, SlackAnswer)),
    problems: [
      bad_request,
      unauthorized,
      forbidden,
      not_found,
      conflict,
      rate_limited,
      service_unavailable,
      ingressErrors.slack_ingress_rate_limited,
    ],
    durability: 'A',
    handler: ({ body, caller: { subject } }) => takeIn(parts, subject, body),
  })
