/**
 * What daemon and sidecar say to each other, version 1 (external-29, external-30). A sidecar is somebody else's: what
 * it says beyond this is dropped, and no word of it is shown.
 */
import {
  boolean,
  defaulted,
  enums,
  integer,
  literal,
  open,
  optional,
  string,
  type Infer,
} from '../../../../core/plugin.js'

/** The version of manifest, health and deliveries. */
export const runtimeVersion = 1

/** Text that names the process of a sidecar; it is compared and never shown. */
export const instanceId = () => string({ min: 1, max: 400 })

/** Of an answer in which nothing but its version is understood. */
export const Versioned = open({ protocol_version: integer() })

export const Manifest = open({
  protocol_version: literal(runtimeVersion),
  instance_id: instanceId(),
  capabilities: defaulted(
    open({
      attachments_in: defaulted(boolean(), true),
      attachments_out: defaulted(boolean(), true),
      threads: defaulted(boolean(), false),
    }),
    { attachments_in: true, attachments_out: true, threads: false },
  ),
  experimental: defaulted(boolean(), false),
})
export type Manifest = Infer<typeof Manifest>

export const sidecarStatuses = ['starting', 'ready', 'degraded', 'draining'] as const
export const Health = open({
  protocol_version: literal(runtimeVersion),
  instance_id: instanceId(),
  status: enums(sidecarStatuses),
  detail: optional(string()),
})
export type Health = Infer<typeof Health>

export const DeliverAnswer = open({
  status: enums(['committed', 'retryable_error', 'terminal_error']),
  detail: optional(string()),
})
export type DeliverAnswer = Infer<typeof DeliverAnswer>
