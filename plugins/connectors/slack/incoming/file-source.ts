/** Reads the files of messages, after these are on disk (slack-17, slack-18). */
import { parse, Problem, object, optional, string, type JsonObject, type Outbound } from '../../../../core/plugin.js'
import type { Connector, ConnectorKind, Connectors, FetchedFile, FileSource } from '../../registry/contract.js'
import { waitOf } from '../api/web-api.js'
import type { SlackConfig } from '../setup/config.js'
import type { SlackSettings } from '../setup/settings.js'
import { tokenOf } from '../setup/token.js'
import { isFileHost, mostFileBytes } from './file-rules.js'

export interface FileSourceParts {
  readonly outbound: Pick<Outbound, 'request'>
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
const later = (cause: string, retry_after_ms?: number): FetchedFile => ({
  type: 'retry',
  cause,
  ...(retry_after_ms !== undefined && { retry_after_ms }),
})

/** A media type without its parameters. */
const typeOf = (header: string | undefined): string => header?.split(';', 1).join('').trim().toLowerCase() ?? ''

interface Wish {
  readonly connector: Connector<SlackSettings>
  readonly url: string
  readonly token: string
  readonly signal: AbortSignal
}

const read = ({ outbound, config }: FileSourceParts, { url, token, signal }: Wish): ReturnType<Outbound['request']> =>
  outbound.request({
    method: 'GET',
    url,
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'holdfast' },
    allow_cidrs: config.allow_cidrs,
    timeout_ms: config.timeout_ms,
    max_answer_bytes: mostFileBytes,
    signal,
  })

/** The token of the bot as of now; or why there is none. */
const tokenNow = (connector: Connector<SlackSettings>, team_id: string | undefined): string | FetchedFile => {
  try {
    return tokenOf(connector, team_id) ?? refused('the connector has no bot token')
  } catch (error) {
    if (error instanceof Problem) return later('the bot token of the connector cannot be used')
    throw error
  }
}

type Bytes = { readonly type: 'bytes'; readonly media_type: string; readonly bytes: Uint8Array }

const bytesIn = async (parts: FileSourceParts, wish: Wish, isPage: boolean): Promise<Bytes | FetchedFile> => {
  const answer = await read(parts, wish)
  if (answer.type === 'failure') {
    if (answer.code === 'outbound_answer_too_large') return refused(`it is larger than ${mostFileBytes} bytes`)
    const isFinal = answer.code === 'outbound_address_refused' || answer.code === 'outbound_url_invalid'
    return isFinal ? refused('it is where nothing is read from') : later('Slack could not be reached')
  }
  const { status, headers, body } = answer
  if (status === 429) return later('Slack asks for time', waitOf(headers))
  if (status >= 500) return later('Slack failed')
  if (status !== 200) return refused('Slack did not give it')
  const media_type = typeOf(headers['content-type'])
  if (media_type === 'text/html' && !isPage) {
    parts.lockedOut(wish.connector)
    return refused('the bot token of the connector does not open it')
  }
  return body.length === 0 ? refused('it is empty') : { type: 'bytes', media_type, bytes: body }
}

const fetchFile = async (
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
  const came = await bytesIn(parts, { connector, url, token, signal }, typeOf(media_type) === 'text/html')
  if (came.type !== 'bytes') return came
  const type = media_type ?? (came.media_type === '' ? 'application/octet-stream' : came.media_type)
  return { type: 'file', file: { file_name: name, media_type: type, bytes: came.bytes } }
}

export const createFileSource = (parts: FileSourceParts): FileSource => ({
  kind: 'slack',
  async fetch({ name }, file, signal) {
    const connector = parts.connectors.find(parts.kind, name)
    return connector === undefined ? later('the connector is not there') : fetchFile(parts, connector, { file, signal })
  },
})
