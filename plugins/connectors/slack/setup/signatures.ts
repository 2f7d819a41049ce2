/** Connectors whose requests do not fit their signing secret, as when another app's was given (slack-31). */
import type { HealthCheck } from '../../../../core/plugin.js'
import { changeLine, type ConnectorKind, type Connectors } from '../../registry/contract.js'
import type { SlackSettings } from './settings.js'

export interface Signatures {
  /** A request was refused, although it was in time and its signature had its form. */
  refused(name: string): void
  /** One fits: those that did not were of somebody else. */
  fit(name: string): void
  readonly health: HealthCheck
}

export const createSignatures = (
  connectors: Pick<Connectors, 'find'>,
  kind: ConnectorKind<SlackSettings>,
): Signatures => {
  const refused = new Set<string>()
  return {
    refused: (name) => void refused.add(name),
    fit: (name) => void refused.delete(name),
    health: {
      id: 'slack.signatures',
      check: () =>
        [...refused].flatMap((name) => {
          const connector = connectors.find(kind, name)
          if (connector === undefined) return []
          return {
            severity: 'warning' as const,
            code: 'slack_signature_refused',
            message: `Requests to the Slack connector ${name} do not fit its signing secret, and none has since.`,
            related_id: name,
            action:
              'If Slack says that the address does not answer, give the Signing Secret of the app again: ' +
              changeLine(connector, '--secret signing_secret --stdin'),
          }
        }),
    },
  }
}
