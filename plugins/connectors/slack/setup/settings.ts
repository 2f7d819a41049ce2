/** What a Slack connector is set up with, but for its secrets. */
import { array, defaulted, doc, object, optional, string, type Infer } from '../../../../core/plugin.js'
import { connectorSettings, selfReplySettings } from '../../registry/contract.js'

/** Messages a second when nothing is said. */
const usualRate = 60

const list = (sentence: string) =>
  doc(defaulted(array(string({ min: 1, max: 253 }), { max: 1000 }), []), `${sentence} Any when empty.`)

export const SlackSettings = object({
  ...connectorSettings(usualRate),
  ...selfReplySettings,
  api_base_url: optional(
    doc(string({ min: 1, max: 2000 }), 'Where the Web API of Slack is: https://slack.com/api when absent.'),
  ),
  allowed_api_app_ids: list('Ids of apps whose events are taken.'),
  allowed_enterprise_ids: list('Ids of enterprises that events come from and answers go to.'),
  allowed_team_ids: list('Ids of workspaces that events come from and answers go to.'),
  allowed_channel_ids: list('Ids of channels that messages come from and answers go to.'),
  allowed_file_hosts: doc(
    defaulted(array(string({ min: 1, max: 253 }), { max: 1000 }), []),
    'Hosts that files are read from, over https. Those of Slack, and the one of api_base_url, when empty.',
  ),
})
export type SlackSettings = Infer<typeof SlackSettings>

export const defaultApi = 'https://slack.com/api'

/** The base of the Web API, without the slash at its end. */
export const apiOf = ({ api_base_url = defaultApi }: Pick<SlackSettings, 'api_base_url'>): string =>
  api_base_url.replace(/\/+$/u, '')

/** The secret that holds the token of one workspace. */
export const teamToken = (team_id: string): string => `team_bot_tokens.${team_id}.bot_token`
