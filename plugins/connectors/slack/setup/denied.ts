/** What operators are told of events that the lists of a connector leave out: Slack is told no reason (slack-12). */
import type { Clock, Log } from '../../../../core/plugin.js'
import { ingressErrors } from '../../ingress/contract.js'
import type { Connector } from '../../registry/contract.js'
import { isDenied, type Origin } from './allow-lists.js'
import type { SlackSettings } from './settings.js'

const tellEveryMs = 30_000
/** As Slack writes ids: anything else is not told. */
const id = /^[A-Za-z0-9]{1,40}$/u
const shown = (text: string | undefined): string | undefined => (id.test(text ?? '') ? text : undefined)

/** Told where something comes from that the lists of a connector leave out. */
export type Denied = (name: string, origin: Origin) => void

/** Throws for what comes from where the lists of the connector leave out. */
export const checkOrigin = (
  denied: Denied,
  { name, settings }: Connector<SlackSettings>,
  { origin, needsChannel }: { readonly origin: Origin; readonly needsChannel: boolean },
): void => {
  if (!isDenied(settings, origin, { needsChannel })) return
  denied(name, origin)
  throw ingressErrors.forbidden()
}

/** Says it in the log, once in a while for each connector. */
export const createDenied = (clock: Pick<Clock, 'elapsed'>, log: Log): Denied => {
  const told = new Map<string, number>()
  return (connector, { api_app_id, enterprise_id, team_id, channel_id }) => {
    const now = clock.elapsed()
    if (now - (told.get(connector) ?? -Infinity) < tellEveryMs) return
    told.set(connector, now)
    log.warn('a slack event is refused: a list of its connector leaves out where it comes from', {
      connector,
      api_app_id: shown(api_app_id),
      enterprise_id: shown(enterprise_id),
      team_id: shown(team_id),
      channel_id: shown(channel_id),
    })
  }
}
