/** How sidecars answer, as the health of their connectors (external-44). */
import type { DeliveryOutcome } from '../../../execution/deliveries/contract.js'
import type { Connectors, ConnectorTrouble } from '../../registry/contract.js'
import type { Asked, SidecarFault } from './client.js'
import type { ExternalConnector } from '../setup/connector.js'
import type { Health } from './protocol.js'

type Told = Pick<ConnectorTrouble, 'cause' | 'action'>

const noAnswer = 'Look whether it runs and listens at base_url, and whether a firewall is between.'
const causes: Readonly<Record<string, Told>> = {
  outbound_url_invalid: { cause: 'Its base_url cannot be asked.', action: 'Correct base_url.' },
  outbound_request_invalid: {
    cause:
      'What was to be sent cannot be: its shared token has characters that no header can have, or it is too large.',
    action: 'Give the connector and the sidecar another shared token.',
  },
  outbound_address_refused: {
    cause: 'The name in base_url leads to a private, local or special address, and nothing was sent there.',
    action: 'Set allow_private_network if that is meant, or correct base_url.',
  },
  outbound_name_not_found: {
    cause: 'The name in base_url is not known.',
    action: 'Correct base_url, or the name server.',
  },
  outbound_connection_failed: { cause: 'The sidecar takes no connection.', action: noAnswer },
  outbound_connection_broken: { cause: 'The sidecar ended the connection without an answer.', action: noAnswer },
  outbound_timed_out: { cause: 'The sidecar does not answer in time.', action: noAnswer },
  outbound_certificate_refused: {
    cause: 'The certificate of the sidecar is not valid.',
    action: 'Renew it, or have base_url name what it is for.',
  },
  outbound_answer_too_large: { cause: 'The sidecar answers more than 64 KiB.', action: 'Have it answer less.' },
  sidecar_version_unsupported: {
    cause: 'The sidecar speaks another version than 1 of the protocol.',
    action: 'Use a sidecar that speaks version 1.',
  },
  sidecar_answer_invalid: {
    cause: 'The sidecar answers something that the protocol does not know.',
    action: 'Look whether a sidecar listens at base_url, and nothing else.',
  },
  sidecar_takes_no_attachments: {
    cause: 'A file was to be delivered, and the manifest of the sidecar says that it takes none.',
    action: 'Have the manifest say attachments_out, or take the target out where there are files.',
  },
  attachments_need_shared_token: {
    cause: 'A file was to be delivered, and the sidecar could not fetch it without a shared token.',
    action: 'Give the connector and the sidecar a shared token.',
  },
  connector_secret_unusable: {
    cause: 'Its shared token cannot be read.',
    action: 'Store it again, or give the connector another one.',
  },
}

const statusOf = (code: string): Told => ({
  cause: `The sidecar answers with status ${code.slice('sidecar_status_'.length)}.`,
  action: 'Look into the log of the sidecar; for 401 or 403 compare the shared token on both sides.',
})

/** Faults of one delivery say nothing of the sidecar, and to be left alone for a while is none. */
const quiet: ReadonlySet<string> = new Set([
  'sidecar_retryable_error',
  'sidecar_terminal_error',
  'sidecar_status_429',
  'outbound_aborted',
])

const troubleOf = (code: string): ConnectorTrouble | undefined => {
  if (quiet.has(code)) return undefined
  const told = causes[code] ?? (code.startsWith('sidecar_status_') ? statusOf(code) : undefined)
  return told && { state: 'degraded', ...told }
}

type Registry = Pick<Connectors, 'well' | 'trouble'>

const tell = (registry: Registry, { name }: ExternalConnector, code: string): void => {
  const found = troubleOf(code)
  if (found !== undefined) registry.trouble('external', name, found)
}

/** What an attempt to deliver tells of the sidecar. Why a program of ours is down is known better. */
export const hearOutcome =
  (registry: Registry, isDown: (name: string) => boolean) =>
  (connector: ExternalConnector, outcome: DeliveryOutcome): void => {
    if (isDown(connector.name)) return
    if (outcome.type === 'delivered') registry.well('external', connector.name)
    else tell(registry, connector, outcome.code)
  }

/** What its health tells of it. */
export const hearHealth = (registry: Registry, connector: ExternalConnector, asked: Asked<Health>): void => {
  if (asked.type === 'failure') return tell(registry, connector, asked.code satisfies SidecarFault)
  const { status } = asked.value
  if (status === 'ready') return registry.well('external', connector.name)
  registry.trouble('external', connector.name, {
    state: 'degraded',
    cause: `The sidecar says of itself that it is ${status}.`,
    action: 'Wait, or look into the log of the sidecar.',
  })
}
