/** What an event of Slack is: a message, or what is only acknowledged (slack-8 to slack-10). */
import { isJsonObject, type Json, type JsonObject } from '../../../../core/plugin.js'
import { objectOf, word } from '../api/json.js'
import type { Origin, Place } from '../setup/allow-lists.js'

/** A file as a message tells of it. */
export interface ToldFile {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly mimetype?: string | undefined
  readonly url?: string | undefined
  readonly size?: number | undefined
}
/** What somebody wrote. */
export interface SlackMessage {
  readonly event_id?: string | undefined
  readonly channel_id: string
  /** Names it in its channel. */
  readonly ts: string
  /** The message that its thread began with: itself outside of threads. */
  readonly root_ts: string
  readonly thread_ts?: string | undefined
  readonly user?: string | undefined
  readonly text: string
  readonly files: readonly ToldFile[]
}

/** What is told of an event that nobody needs. */
export type Ignored =
  | { readonly ignored: true; readonly reason: string }
  | { readonly ignored: true; readonly type: 'app_rate_limited'; readonly minute_rate_limited?: number }

export type Envelope =
  | { readonly type: 'challenge'; readonly challenge: string }
  | {
      readonly type: 'ignored'
      readonly origin: Origin
      readonly answer: Ignored
      readonly says?: 'removed' | 'limited'
    }
  | { readonly type: 'message'; readonly origin: Origin; readonly message: SlackMessage }
  | { readonly type: 'invalid'; readonly what: string }

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

const placeOf = (value: Json): Place => {
  const { enterprise_id, team_id } = objectOf(value)
  return { enterprise_id: word(enterprise_id), team_id: word(team_id) }
}

/** The first that is there of what is said of a place. */
export const originOf = (payload: JsonObject): Origin => {
  const { team, channel } = objectOf(payload['event'])
  const authorizations = listOf(payload['authorizations']).map(placeOf)
  const [first] = authorizations
  return {
    api_app_id: word(payload['api_app_id']),
    team_id: word(payload['context_team_id']) ?? word(payload['team_id']) ?? word(team) ?? first?.team_id,
    enterprise_id: word(payload['context_enterprise_id']) ?? word(payload['enterprise_id']) ?? first?.enterprise_id,
    channel_id: word(channel),
    authorizations,
  }
}

const fileOf = (value: Json): ToldFile => {
  const { id, name, mimetype, url_private, url_private_download, size } = objectOf(value)
  return {
    id: word(id),
    name: word(name),
    mimetype: word(mimetype),
    url: word(url_private_download) ?? word(url_private),
    size: typeof size === 'number' ? size : undefined,
  }
}

/** What a bot of ours wrote: Slack tells of its files as if a person had shared them, with no `bot_id`. */
const isOurs = (payload: JsonObject, { user }: JsonObject): boolean =>
  word(user) !== undefined &&
  listOf(payload['authorizations'])
    .map(objectOf)
    .some(({ user_id, is_bot }) => is_bot === true && word(user_id) === word(user))

const isPlain = ({ bot_id, subtype }: JsonObject): boolean =>
  word(bot_id) === undefined && (word(subtype) ?? 'file_share') === 'file_share'

const messageOf = (payload: JsonObject, event: JsonObject): SlackMessage | string => {
  const [channel_id, thread_ts] = [word(event['channel']), word(event['thread_ts'])]
  const root_ts = thread_ts ?? word(event['ts'])
  if (channel_id === undefined) return 'its message has no channel'
  if (root_ts === undefined) return 'its message has no ts'
  const { text } = event
  return {
    event_id: word(payload['event_id']),
    channel_id,
    ts: word(event['ts']) ?? root_ts,
    root_ts,
    thread_ts,
    user: word(event['user']),
    text: typeof text === 'string' ? text : '',
    files: listOf(event['files']).map(fileOf),
  }
}

/** Events after which Slack sends nothing any more. */
const removals: ReadonlySet<string | undefined> = new Set(['app_uninstalled', 'tokens_revoked'])

export const readEnvelope = (payload: JsonObject): Envelope => {
  const { type, challenge, minute_rate_limited: minute, event } = payload
  if (type === 'url_verification')
    return { type: 'challenge', challenge: typeof challenge === 'string' ? challenge : '' }
  const origin = originOf(payload)
  const ignored = (reason: string): Envelope => ({ type: 'ignored', origin, answer: { ignored: true, reason } })
  if (type === 'app_rate_limited')
    return {
      type: 'ignored',
      origin,
      answer: { ignored: true, type, ...(typeof minute === 'number' && { minute_rate_limited: minute }) },
      says: 'limited',
    }
  if (type !== 'event_callback') return ignored('unsupported_envelope')
  if (!isJsonObject(event)) return { type: 'invalid', what: 'it has no event' }
  if (removals.has(word(event['type'])))
    return Object.assign(ignored('unsupported_event'), { says: 'removed' as const })
  if (event['type'] !== 'message') return ignored('unsupported_event')
  if (!isPlain(event) || isOurs(payload, event)) return ignored('unsupported_message_subtype')
  const message = messageOf(payload, event)
  return typeof message === 'string' ? { type: 'invalid', what: message } : { type: 'message', origin, message }
}
