/** Requests to sidecars (external-29 to external-32): each name is looked up anew, no redirect is followed. */
import {
  parse,
  type Json,
  type Outbound,
  type OutboundAnswer,
  type OutboundCode,
  type StructOf,
} from '../../../../core/plugin.js'
import { reachOf } from '../setup/base-url.js'
import { sharedToken } from '../setup/kind.js'
import type { ExternalConnector } from '../setup/connector.js'
import { Health, Manifest, runtimeVersion, Versioned } from './protocol.js'

/** Why nothing can be made of what a sidecar answered: safe to show. */
export type SidecarFault =
  | OutboundCode
  | `sidecar_status_${number}`
  | 'sidecar_answer_invalid'
  | 'sidecar_version_unsupported'

export type Asked<T> =
  | { readonly type: 'answer'; readonly value: T }
  | { readonly type: 'failure'; readonly code: SidecarFault }

/** Milliseconds, from the lookup of the name to the last byte. */
const [lookMs, deliverMs] = [3000, 15_000]
/** Bytes of an answer. */
export const mostAnswer = 65_536

export interface SidecarClient {
  /** Never rejects. Throws what `Connector.secret` throws. */
  manifest(connector: ExternalConnector, signal: AbortSignal): Promise<Asked<Manifest>>
  /** Never rejects. Throws what `Connector.secret` throws. */
  health(connector: ExternalConnector, signal: AbortSignal): Promise<Asked<Health>>
  /** Never rejects. Throws what `Connector.secret` throws. */
  deliver(connector: ExternalConnector, delivery: SidecarDelivery): Promise<OutboundAnswer>
}

export interface SidecarDelivery {
  readonly delivery_id: string
  readonly body: Json
  readonly signal: AbortSignal
}

/** The JSON in bytes of an outsider; undefined if there is none. */
export const jsonIn = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

const isOther = (value: unknown): boolean => {
  const parsed = parse(Versioned, value)
  return parsed.ok && parsed.value.protocol_version !== runtimeVersion
}

/** What an answer says. */
const read = <T>(answer: OutboundAnswer, struct: StructOf<T>): Asked<T> => {
  if (answer.type === 'failure') return answer
  const { status, body } = answer
  if (status < 200 || status > 299) return { type: 'failure', code: `sidecar_status_${status}` }
  const value = jsonIn(body)
  if (isOther(value)) return { type: 'failure', code: 'sidecar_version_unsupported' }
  const parsed = parse(struct, value)
  return parsed.ok ? { type: 'answer', value: parsed.value } : { type: 'failure', code: 'sidecar_answer_invalid' }
}

export interface SidecarClientParts {
  readonly outbound: Outbound
  /** Special address ranges that an operator opened. */
  readonly open: readonly string[]
}

export const createSidecarClient = ({ outbound, open }: SidecarClientParts): SidecarClient => {
  const authorised = (connector: ExternalConnector): Readonly<Record<string, string>> => {
    const token = connector.secret(sharedToken)
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }
  const get = (connector: ExternalConnector, path: string, signal: AbortSignal): Promise<OutboundAnswer> =>
    outbound.request({
      method: 'GET',
      url: `${connector.settings.base_url}${path}`,
      headers: authorised(connector),
      ...reachOf(connector.settings, open),
      timeout_ms: lookMs,
      max_answer_bytes: mostAnswer,
      signal,
    })
  return {
    manifest: async (connector, signal) => read(await get(connector, '/manifest', signal), Manifest),
    health: async (connector, signal) => read(await get(connector, '/health', signal), Health),
    deliver: (connector, { delivery_id, body, signal }) =>
      outbound.request({
        method: 'POST',
        url: `${connector.settings.base_url}/deliver`,
        headers: {
          ...authorised(connector),
          'content-type': 'application/json',
          'idempotency-key': `service:${delivery_id}`,
          'x-service-external-protocol-version': String(runtimeVersion),
        },
        body: JSON.stringify(body),
        ...reachOf(connector.settings, open),
        timeout_ms: deliverMs,
        max_answer_bytes: mostAnswer,
        signal,
      }),
  }
}
