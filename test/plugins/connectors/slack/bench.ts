/** A Slack connector without a daemon, for tests of what it says and reads. */
import type { ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createOutbound, parse, type JsonObject } from '../../../../core/plugin.js'
import { assert } from '../../../../core/base/assert.js'
import type { Connector, ConnectorTrouble } from '../../../../plugins/connectors/registry/contract.js'
import type { LiveReplies } from '../../../../plugins/connectors/live/contract.js'
import { createReply, type ReplyParts } from '../../../../plugins/connectors/slack/outgoing/reply.js'
import { createSlackKind } from '../../../../plugins/connectors/slack/setup/kind.js'
import { SlackSettings } from '../../../../plugins/connectors/slack/setup/settings.js'
import type { Envelope } from '../../../../plugins/execution/deliveries/contract.js'
import type { AttachmentRef, OutputPart } from '../../../../plugins/media/assets/contract.js'
import { botToken, signingSecret, startSlack } from '../../../support/slack-server.js'

export const settingsOf = (more: object = {}): SlackSettings => {
  const parsed = parse(SlackSettings, more)
  assert(parsed.ok, 'these are settings')
  return parsed.value
}

export const connectorOf = (
  settings: object = {},
  secrets: Readonly<Record<string, string>> = { bot_token: botToken, signing_secret: signingSecret },
): Connector<SlackSettings> => ({
  kind: 'slack',
  name: 'main',
  source: 'daemon',
  settings: settingsOf(settings),
  has: (name) => secrets[name] !== undefined,
  secret: (name) => secrets[name],
})

export const slackConfig = { allow_cidrs: ['127.0.0.0/8'], timeout_ms: 15_000 }
export const fileOf = (id: string, file_name: string, media_type = 'text/csv'): AttachmentRef => ({
  id,
  media_type,
  uri: `asset:${id}`,
  file_name,
})
export const said = (text: string): OutputPart => ({ type: 'text', text })
export const shown = (attachment: AttachmentRef): OutputPart => ({ type: 'attachment', attachment })

/** The progress of deliveries, in memory, and each form that it had. */
export const memoryProgress = (forgets = false) => {
  const kept = new Map<string, JsonObject>()
  const written: string[] = []
  return {
    kept,
    written,
    read: (id: string) => kept.get(id),
    write: async (id: string, progress: JsonObject) => {
      written.push(JSON.stringify(progress))
      if (!forgets) kept.set(id, progress)
    },
  }
}

export interface BenchOptions {
  readonly settings?: object
  readonly secrets?: Readonly<Record<string, string>>
  readonly config?: ReplyParts['config']
  readonly forgets?: boolean
  readonly live?: Pick<LiveReplies, 'takeDraft'>
}

/** A reply plugin with one connector, `main`, at a local Slack. */
export const startBench = async (t: ExecutionContext<any>, options: BenchOptions = {}) => {
  const slack = await startSlack(t)
  const clock = createClock()
  const outbound = createOutbound({ clock })
  t.teardown(() => outbound.close())
  const { config = slackConfig, settings, secrets, live } = options
  const kind = createSlackKind(config)
  const connector = connectorOf({ api_base_url: slack.base, ...settings }, secrets)
  const [progress, troubles] = [memoryProgress(options.forgets), [] as (ConnectorTrouble | 'well')[]]
  const found: any = (_: unknown, name: string) => (name === connector.name ? connector : undefined)
  const reply = createReply({
    outbound,
    config,
    kind,
    connectors: {
      find: found,
      settingsOf: (asked, name) => found(asked, name)?.settings,
      well: () => void troubles.push('well'),
      trouble: (_, __, trouble) => void troubles.push(trouble),
    },
    progress,
    assets: () => ({ read: async (id) => Buffer.from(`bytes of ${id}`) }),
    live: () => live as LiveReplies | undefined,
  })
  const address = (more: object = {}): string => JSON.stringify({ connector: 'main', channel_id: 'C1', ...more })
  const deliver = (
    more: Partial<Envelope>,
    { to = address(), signal = new AbortController().signal }: { to?: string; signal?: AbortSignal } = {},
  ) =>
    reply.deliver(
      {
        delivery_id: 'delivery-1',
        attempt: 1,
        session_id: 's1',
        thread_id: null,
        address: to,
        content: '',
        parts: [],
        artifacts: [],
        metadata: {},
        ...more,
      },
      signal,
    )
  return { slack, reply, deliver, address, progress, troubles, connector, outbound, kind, config }
}
