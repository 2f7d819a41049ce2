/** Kinds of connectors for tests of the registry: what a kind may be, without anything that it would do. */
import { array, defaulted, object, optional, string, type AnyPlugin, type Infer } from '../../core/plugin.js'
import { shippedPlugins } from '../../core/shipped.js'
import { ReplyPlugins } from '../../plugins/execution/deliveries/contract.js'
import {
  connectorSettings,
  ConnectorKinds,
  Connectors,
  selfReplySettings,
  targets,
  type AnyConnectorKind,
  type ConnectorKind,
} from '../../plugins/connectors/registry/contract.js'
import { testPlugin } from './plugins.js'

const HttpSettings = object({
  ...connectorSettings(60),
  actor_id: optional(string({ max: 200 })),
  default_reply_targets: targets('Where answers go.'),
})
const SlackSettings = object({
  ...connectorSettings(60),
  ...selfReplySettings,
  allowed_team_ids: defaulted(array(string({ max: 200 })), []),
})
const ExternalSettings = object({
  ...connectorSettings(100),
  ...selfReplySettings,
  platform: string({ min: 1, max: 100 }),
})

export const httpKind: ConnectorKind<Infer<typeof HttpSettings>> = {
  kind: 'http',
  settings: HttpSettings,
  secrets: ['bearer_token', 'hmac_secret'],
  targets: 'default_reply_targets',
  fault: ({ settings, has }) =>
    has('bearer_token') || settings.allow_unauthenticated_ingress
      ? undefined
      : { path: 'bearer_token', rule: 'must be given, or allow_unauthenticated_ingress' },
}
export const slackKind: ConnectorKind<Infer<typeof SlackSettings>> = {
  kind: 'slack',
  settings: SlackSettings,
  secrets: ['bot_token', 'signing_secret'],
  secretLists: { team_bot_tokens: { id: 'team_id', secret: 'bot_token' } },
  targets: 'additional_reply_targets',
  normal: (settings) => ({
    ...settings,
    ingress_events_per_second: Math.max(1, settings.ingress_events_per_second),
    allowed_team_ids: [...new Set(settings.allowed_team_ids.map((id) => id.trim()))].toSorted(),
  }),
  fault: () => undefined,
  refuseTarget: ({ settings }, { plugin }) =>
    plugin === 'http' && settings.allow_unauthenticated_ingress ? 'must not be of http here' : undefined,
}
export const externalKind: ConnectorKind<Infer<typeof ExternalSettings>> = {
  kind: 'external',
  settings: ExternalSettings,
  secrets: ['shared_token'],
  targets: 'additional_reply_targets',
  fixed: ['platform'],
  fault: () => undefined,
  view: ({ platform }) => ({ mode: `for ${platform}` }),
}

/** Served by the plugins of the kinds themselves. */
const served: ReadonlySet<string> = new Set(['http-ingress', 'slack', 'telegram', 'external'])

/** The shipped plugins but for those of kinds, which these stand in for. */
export const shippedWithoutKinds = async () => (await shippedPlugins()).filter(({ id }) => !served.has(id))

/** A plugin that serves three kinds, with replies to slack and external connectors that are there. */
export const kindsPlugin = (kinds: readonly AnyConnectorKind[] = [httpKind, slackKind, externalKind]): AnyPlugin =>
  testPlugin('kinds', {
    needs: { connectors: Connectors },
    register(ctx, { connectors }) {
      ctx.contribute(ConnectorKinds, ...kinds)
      for (const kind of [slackKind, externalKind])
        ctx.contribute(ReplyPlugins, {
          plugin: kind.kind,
          address(request) {
            if (request.type !== kind.kind) return undefined
            const { type: _, ...route } = request
            return JSON.stringify(route)
          },
          refuse: (address) =>
            connectors.has(kind.kind, String(JSON.parse(address).connector))
              ? undefined
              : 'must name a connector that is there',
          target: () => kind.kind,
          deliver: async () => ({ type: 'delivered' }),
        })
    },
  })
