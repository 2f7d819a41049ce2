/** Reads the files of messages, after these are on disk (slack-17, slack-18). */
import {
  parse,
  Problem,
  object,
  optional,
  string,
  type Clock,
  type JsonObject,
  type Outbound,
} from '../../../../core/plugin.js'
import { fetchFile, type FileWish } from '../../ingress/contract.js'
import type { Connector, ConnectorKind, Connectors, FetchedFile, FileSource } from '../../registry/contract.js'
import type { SlackConfig } from '../setup/config.js'
import type { SlackSettings } from '../setup/settings.js'
import { tokenOf } from '../setup/token.js'
import { isFileHost } from './file-rules.js'

export interface FileSourceParts {
  readonly outbound: Outbound
  readonly clock: Pick<Clock, 'now'>
  readonly config: SlackConfig
  readonly connectors: Pick<Connectors, 'find'>
  readonly kind: ConnectorKind<SlackSettings>
  /** Told when Slack shows its login in place of a file. */
  readonly lockedOut: (connector: Connector<SlackSettings>) => void
}

const Wanted = object({
  url: string(),
  name: string(),
  media_type: optional(string()),
  team_id: optional(string()),
})

const refused = (cause: string): FetchedFile => ({ type: 'refused', cause })
const later = (cause: string): FetchedFile => ({ type: 'retry', cause })

/** The token of the bot as of now; or why there is none. */
const tokenNow = (connector: Connector<SlackSettings>, team_id: string | undefined): string | FetchedFile => {
  try {
    return tokenOf(connector, team_id) ?? refused('the connector has no bot token')
  } catch (error) {
    if (error instanceof Problem) return later('the bot token of the connector cannot be used')
    throw error
  }
}

const isPage = (media_type: string | undefined): boolean => /^text\/html(?:\s*;|$)/iu.test(media_type ?? '')

/** The file; where Slack does not know the token it shows a login in its place, as if that were the file. */
const read = async (
  parts: FileSourceParts,
  connector: Connector<SlackSettings>,
  { url, headers = {}, file_name, media_type, signal }: FileWish,
): Promise<FetchedFile> => {
  const { outbound, clock, config } = parts
  const came = await fetchFile(outbound, { url, headers, file_name, signal, allow_cidrs: config.allow_cidrs }, clock)
  if (came.type !== 'file') return came
  if (isPage(came.file.media_type) && !isPage(media_type)) {
    parts.lockedOut(connector)
    return refused('the bot token of the connector does not open it')
  }
  return media_type === undefined ? came : { type: 'file', file: { ...came.file, media_type } }
}

const fetchWanted = async (
  parts: FileSourceParts,
  connector: Connector<SlackSettings>,
  { file, signal }: { file: JsonObject; signal: AbortSignal },
): Promise<FetchedFile> => {
  const parsed = parse(Wanted, file)
  if (!parsed.ok) return refused('what is kept of it cannot be read')
  const { url, name, media_type, team_id } = parsed.value
  // The lists may be others than when the message came.
  if (!isFileHost(connector.settings, url)) return refused('it is at a host that files are not read from')
  const token = tokenNow(connector, team_id)
  if (typeof token !== 'string') return token
  const headers = { authorization: `Bearer ${token}` }
  return read(parts, connector, { url, headers, file_name: name, media_type, signal })
}

export const createFileSource = (parts: FileSourceParts): FileSource => ({
  kind: 'slack',
  async fetch({ name }, file, signal) {
    const connector = parts.connectors.find(parts.kind, name)
    return connector === undefined
      ? later('the connector is not there')
      : fetchWanted(parts, connector, { file, signal })
  },
})
