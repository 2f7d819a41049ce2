/** What is wrong with a connector, and what to do about it (slack-31). */
import type { DeliveryOutcome } from '../../../execution/deliveries/contract.js'
import { changeLine, openingLine, type Changeable, type ConnectorTrouble } from '../../registry/contract.js'

const give = (connector: Changeable): string =>
  'Install the app in the workspace again and give the connector its bot token: ' +
  changeLine(connector, '--secret bot_token --stdin')

/** Codes of calls that say that Slack sends nothing any more. */
const gone: ReadonlySet<string> = new Set(['slack_account_inactive', 'slack_token_revoked'])
/** Codes of calls that say that nothing can be posted. */
const unopened: ReadonlySet<string> = new Set([
  'slack_invalid_auth',
  'slack_not_authed',
  'slack_not_allowed_token_type',
  'slack_token_expired',
  'slack_token_missing',
])

export const appRemoved = (connector: Changeable): ConnectorTrouble => ({
  state: 'deaf',
  cause:
    'The app was taken out of the workspace, or its tokens were revoked: Slack sends no events and takes no answers.',
  action: give(connector),
})
export const appRateLimited: ConnectorTrouble = {
  state: 'degraded',
  cause: 'Slack leaves out events of this app: there are more than it sends in an hour.',
  action: 'Subscribe the app to fewer events, or take it out of channels that it need not hear.',
}
const tokenRefused = (connector: Changeable): ConnectorTrouble => ({
  state: 'degraded',
  cause: 'Slack does not take the bot token of the connector: no answer is posted.',
  action:
    'Copy the Bot User OAuth Token of the app, after you have installed it again if it was revoked: ' +
    changeLine(connector, '--secret bot_token --stdin'),
})
const scopeMissing: ConnectorTrouble = {
  state: 'degraded',
  cause: 'The app lacks a scope that its answers or files need.',
  action: 'Give it the scopes of the manifest in docs/connectors-slack.md, and install it again.',
}
export const filesUnopened = (connector: Changeable): ConnectorTrouble => ({
  state: 'degraded',
  cause: 'Slack showed its login in place of a file: the bot token does not open files.',
  action:
    'Give the app the scope files:read, install it again, and give the connector its bot token: ' +
    changeLine(connector, '--secret bot_token --stdin'),
})

export const sessionMissing = (connector: Changeable): ConnectorTrouble => ({
  state: 'degraded',
  cause: 'Messages are not taken: their session is not there, and the connector opens none.',
  action: openingLine(connector),
})

/** What an attempt says of its connector; undefined if nothing. */
export const troubleOf = (outcome: DeliveryOutcome, connector: Changeable): ConnectorTrouble | undefined => {
  if (outcome.type === 'delivered') return undefined
  if (gone.has(outcome.code)) return appRemoved(connector)
  if (unopened.has(outcome.code)) return tokenRefused(connector)
  return outcome.code === 'slack_missing_scope' ? scopeMissing : undefined
}
