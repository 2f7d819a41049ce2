/** The token with which Slack is asked. */
import type { Connector } from '../../registry/contract.js'
import { teamToken, type SlackSettings } from './settings.js'

type Holder = Pick<Connector<SlackSettings>, 'has' | 'secret'>

const nameOf = ({ has }: Pick<Holder, 'has'>, team_id: string | undefined): string => {
  const own = team_id === undefined ? undefined : teamToken(team_id)
  return own !== undefined && has(own) ? own : 'bot_token'
}

/** Of a workspace, else of the connector. Throws `connector_secret_unusable`. */
export const tokenOf = (connector: Holder, team_id: string | undefined): string | undefined =>
  connector.secret(nameOf(connector, team_id))

/** True if there is one. */
export const hasToken = (connector: Pick<Holder, 'has'>, team_id: string | undefined): boolean =>
  connector.has(nameOf(connector, team_id))
