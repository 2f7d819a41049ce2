/** Which apps, enterprises, workspaces and channels a connector deals with (slack-11, slack-12). */
import type { SlackSettings } from './settings.js'

/** Where something comes from or goes to. */
export interface Place {
  readonly enterprise_id?: string | undefined
  readonly team_id?: string | undefined
}
/** Where an event comes from. */
export interface Origin extends Place {
  readonly api_app_id?: string | undefined
  readonly channel_id?: string | undefined
  /** Every place that the event is for. */
  readonly authorizations: readonly Place[]
}

/** A list that is there and does not have it; one that is empty has all. */
const denies = (list: readonly string[], id: string | undefined): boolean =>
  list.length > 0 && (id === undefined || !list.includes(id))

const deniesPlace = (settings: SlackSettings, { enterprise_id, team_id }: Place): boolean =>
  denies(settings.allowed_enterprise_ids, enterprise_id) || denies(settings.allowed_team_ids, team_id)

/** True if an event may not come from there. A channel is looked at where the event has one, or must have. */
export const isDenied = (settings: SlackSettings, origin: Origin, { needsChannel = false } = {}): boolean =>
  denies(settings.allowed_api_app_ids, origin.api_app_id) ||
  deniesPlace(settings, origin) ||
  ((needsChannel || origin.channel_id !== undefined) && denies(settings.allowed_channel_ids, origin.channel_id)) ||
  origin.authorizations.some((place) => deniesPlace(settings, place))

/** True if nothing may be said there. */
export const isTargetDenied = (settings: SlackSettings, target: Place & { readonly channel_id: string }): boolean =>
  deniesPlace(settings, target) || denies(settings.allowed_channel_ids, target.channel_id)
