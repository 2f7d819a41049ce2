/** Slack as a kind of connector (slack-1 to slack-5). */
import { refusedUrl, type Issue } from '../../../../core/plugin.js'
import { type ConnectorKind, unauthenticated } from '../../registry/contract.js'
import { readRoute } from './reply-route.js'
import { isTargetDenied } from './allow-lists.js'
import type { SlackConfig } from './config.js'
import { SlackSettings } from './settings.js'

const lists = [
  'allowed_api_app_ids',
  'allowed_enterprise_ids',
  'allowed_team_ids',
  'allowed_channel_ids',
  'allowed_file_hosts',
] as const

const sorted = (ids: readonly string[]): string[] =>
  [...new Set(ids.map((id) => id.trim()).filter((id) => id !== ''))].toSorted()

const normal = (settings: SlackSettings): SlackSettings => ({
  ...settings,
  ingress_events_per_second: Math.max(1, settings.ingress_events_per_second),
  ...Object.fromEntries(lists.map((list) => [list, sorted(settings[list])])),
  allowed_file_hosts: sorted(settings.allowed_file_hosts.map((host) => host.toLowerCase())),
})

const faultOfBase = (text: string, config: SlackConfig): string | undefined => {
  const refused = refusedUrl(text, config)
  if (refused !== undefined)
    return refused.includes('private')
      ? `${refused} that allow_cidrs of config/slack.toml had not when the daemon started`
      : refused
  const { search, hash } = new URL(text)
  return search !== '' || hash !== '' || /[?#]/u.test(text) ? 'must have no query and no fragment' : undefined
}

export const createSlackKind = (config: SlackConfig): ConnectorKind<SlackSettings> => ({
  kind: 'slack',
  settings: SlackSettings,
  secrets: ['bot_token', 'signing_secret'],
  secretLists: { team_bot_tokens: { id: 'team_id', secret: 'bot_token' } },
  targets: 'additional_reply_targets',
  normal,
  fault({ settings, has }): Issue | undefined {
    if (!has('signing_secret') && !settings.allow_unauthenticated_ingress)
      return { path: 'signing_secret', rule: 'must be given, or allow_unauthenticated_ingress must be true' }
    const rule = settings.api_base_url === undefined ? undefined : faultOfBase(settings.api_base_url, config)
    return rule === undefined ? undefined : { path: 'api_base_url', rule }
  },
  exposure: ({ has }) => (has('signing_secret') ? undefined : unauthenticated('signing_secret')),
  refuseTarget({ name, settings }, { plugin, address }) {
    const route = plugin === 'slack' ? readRoute(address) : undefined
    if (route?.connector !== name || !isTargetDenied(settings, route)) return undefined
    return 'must be within the lists of ids that the connector allows'
  },
})
