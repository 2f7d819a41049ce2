/** Members of the metadata of runs that only the daemon writes (ingress-4). */
import type { ReservedKey } from '../../execution/runs/contract.js'

/** Those of events of sidecars. */
export const externalKeys = [
  'external_protocol_version',
  'external_instance_id',
  'external_event_id',
  'external_event_key_sha256',
  'external_event_fingerprint',
  'external_intent',
  'external_relation',
  'external_routing_key',
] as const

export const ingressKeys: readonly ReservedKey[] = [
  'http_ingress_key',
  'http_ingress_key_sha256',
  'http_ingress_fingerprint',
  'telegram_ingress_fingerprint',
  'slack_ingress_fingerprint',
  ...externalKeys,
].map((key) => ({ key }))
