/** Which files of messages are read, and from where (slack-17, slack-18). */
import type { JsonObject } from '../../../../core/plugin.js'
import { mostFileBytes } from '../../ingress/contract.js'
import { apiOf, type SlackSettings } from '../setup/settings.js'
import type { ToldFile } from './envelope.js'

/** Most files of one message. */
const mostFiles = 8

const slackHosts: ReadonlySet<string> = new Set(['files.slack.com', 'files.slack-edge.com', 'slack-files.com'])

/** True if a file may be read from there with the token of the bot. */
export const isFileHost = (
  settings: Pick<SlackSettings, 'allowed_file_hosts' | 'api_base_url'>,
  url: string,
): boolean => {
  if (!URL.canParse(url)) return false
  const { protocol, host, hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') return false
  const { allowed_file_hosts: allowed } = settings
  if (allowed.length > 0) return protocol === 'https:' && (allowed.includes(hostname) || allowed.includes(host))
  const api = new URL(apiOf(settings))
  return (protocol === 'https:' && slackHosts.has(host)) || (protocol === api.protocol && host === api.host)
}

/** A file that is to be read, as it is kept until then. */
export interface WantedFile extends JsonObject {
  readonly url: string
  readonly name: string
}

export type FilesRead =
  | { readonly type: 'files'; readonly files: readonly WantedFile[] }
  | { readonly type: 'invalid'; readonly what: string }

const invalid = (what: string): FilesRead => ({ type: 'invalid', what })

export interface FileGrounds {
  readonly settings: Pick<SlackSettings, 'allowed_file_hosts' | 'api_base_url'>
  /** Slack signed the event. */
  readonly isAuthenticated: boolean
  /** There is a token of the bot for where the event comes from. */
  readonly hasToken: boolean
  readonly team_id?: string | undefined
}

export const readFiles = (told: readonly ToldFile[], grounds: FileGrounds): FilesRead => {
  if (told.length === 0) return { type: 'files', files: [] }
  if (told.length > mostFiles) return invalid(`it has more than ${mostFiles} files`)
  if (!grounds.isAuthenticated) return invalid('nothing proves that its files are of Slack')
  if (!grounds.hasToken) return invalid('the connector has no bot token to read its files with')
  const files: WantedFile[] = []
  for (const { id, name = id, url, mimetype, size } of told) {
    if (url === undefined) return invalid('one of its files has no address')
    if (name === undefined) return invalid('one of its files has no name')
    if (!isFileHost(grounds.settings, url)) return invalid('one of its files is at a host that files are not read from')
    if (size !== undefined && size > mostFileBytes)
      return invalid(`one of its files is larger than ${mostFileBytes} bytes`)
    files.push({
      url,
      name,
      ...(mimetype !== undefined && { media_type: mimetype }),
      ...(grounds.team_id !== undefined && { team_id: grounds.team_id }),
    })
  }
  return { type: 'files', files }
}
