/** What operators do about a connector, as its kind tells them. */
import { commandLine } from '../../../core/plugin.js'
import type { ConnectorKindName } from './settings.js'

/** What is to be known of a connector to say how it is changed. */
export interface Changeable {
  readonly kind: ConnectorKindName
  readonly name: string
  readonly source: 'file' | 'daemon'
}

/** The line that changes a connector, which can be pasted; or where it is changed, if a file of the operator has it. */
export const changeLine = ({ kind, name, source }: Changeable, flags: string): string =>
  source === 'file'
    ? 'change its table in the file of connectors'
    : `${commandLine('connectors put', kind, name)} ${flags}`

/** Of a connector that asks nobody who he is; `secret` is what would close it. */
export const unauthenticated = (secret: string) => ({
  severity: 'warning' as const,
  message: 'takes messages from anybody who reaches the daemon (allow_unauthenticated_ingress)',
  action: 'Give it what senders have to show',
  flags: `--set allow_unauthenticated_ingress=false --secret ${secret} --stdin`,
})

/** What lets a connector open sessions. */
export const opening = '--set session_policy.create_if_missing=true'

/** What to do about messages whose session is not there. */
export const openingLine = (connector: Changeable): string => `Let it open sessions: ${changeLine(connector, opening)}`
