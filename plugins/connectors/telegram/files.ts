/** Fetches the files of messages (telegram-12, telegram-13). */
import { open, optional, nullable, parse, string, integer, type JsonObject, Problem } from '../../../core/plugin.js'
import { mostAssetBytes } from '../../media/assets/contract.js'
import { fileTimeoutMs } from '../ingress/contract.js'
import type { ConnectorKind, Connectors, FetchedFile, FileSource } from '../registry/contract.js'
import { botOf, callBot, download, isFlood, type Bot, type BotAnswer, type BotApiParts } from './bot/bot-api.js'
import type { TelegramConnector, TelegramSettings } from './bot/settings.js'

const Kept = open({
  file_id: string(),
  file_name: string(),
  media_type: optional(string()),
  file_size: optional(integer()),
})
const Found = open({ file_path: optional(nullable(string())), file_size: optional(nullable(integer())) })

const refused = (cause: string): FetchedFile => ({ type: 'refused', cause })
const later = (cause: string, retry_after_ms?: number): FetchedFile => ({
  type: 'retry',
  cause,
  ...(retry_after_ms !== undefined && { retry_after_ms }),
})

const tooLarge = (size: number | null | undefined): boolean => (size ?? 0) > mostAssetBytes
const tooLargeFile = refused('it is larger than 12 MiB')

/** Where the file is; or why that is not known. */
const pathOf = (answer: BotAnswer): string | FetchedFile => {
  if (answer.type === 'failure') return later(`the platform could not be asked for it: ${answer.code}`)
  if (answer.type === 'refused') {
    const { status, error_code, retry_after_ms } = answer
    const isPassing = status >= 500 || isFlood(answer) || error_code === undefined
    return isPassing
      ? later('the platform did not say where it is', retry_after_ms)
      : refused('the platform does not give it')
  }
  const parsed = parse(Found, answer.result)
  if (!parsed.ok || !parsed.value.file_path) return refused('the platform does not say where it is')
  return tooLarge(parsed.value.file_size) ? tooLargeFile : parsed.value.file_path
}

const plainType = (header: string | undefined): string => {
  const [type = ''] = (header ?? '').split(';')
  return type.trim().toLowerCase() || 'application/octet-stream'
}

const read = async (
  parts: BotApiParts,
  bot: Bot,
  { path, signal, timeout_ms }: { path: string; signal: AbortSignal; timeout_ms: number },
): Promise<{ readonly bytes: Uint8Array; readonly media_type: string } | FetchedFile> => {
  const answer = await download(parts, bot, { path, most: mostAssetBytes, timeout_ms, signal })
  if (answer === undefined) return refused('the platform names no place where it can be')
  if (answer.type === 'failure')
    return answer.code === 'outbound_answer_too_large' ? tooLargeFile : later(`it could not be read: ${answer.code}`)
  const { status, headers, body } = answer
  if (status === 429 || status >= 500) return later(`the platform answered ${status}`)
  if (status !== 200) return refused(`the platform answered ${status}`)
  return body.length === 0 ? refused('it is empty') : { bytes: body, media_type: plainType(headers['content-type']) }
}

const fetchFile = async (
  parts: FileParts,
  connector: TelegramConnector,
  { file, signal }: { file: JsonObject; signal: AbortSignal },
): Promise<FetchedFile> => {
  const parsed = parse(Kept, file)
  if (!parsed.ok) return refused('its record cannot be read')
  const { file_id, file_name, media_type, file_size } = parsed.value
  if (tooLarge(file_size)) return tooLargeFile
  const bot = botOf(connector)
  if (bot === undefined) return refused('the connector has no bot_token')
  const began = parts.elapsed()
  const asked = { method: 'getFile', body: { file_id }, signal, timeout_ms: fileTimeoutMs }
  const path = pathOf(await callBot(parts, bot, asked))
  if (typeof path !== 'string') return path
  const timeout_ms = Math.max(1, fileTimeoutMs - (parts.elapsed() - began))
  const came = await read(parts, bot, { path, signal, timeout_ms })
  if ('type' in came) return came
  return { type: 'file', file: { file_name, media_type: media_type ?? came.media_type, bytes: came.bytes } }
}

export interface FileParts extends BotApiParts {
  readonly connectors: Pick<Connectors, 'find'>
  readonly kind: ConnectorKind<TelegramSettings>
  elapsed(): number
}

export const telegramFiles = (parts: FileParts): FileSource => ({
  kind: 'telegram',
  async fetch({ name }, file, signal) {
    const connector = parts.connectors.find(parts.kind, name)
    if (connector === undefined) return refused('its connector is gone')
    try {
      return await fetchFile(parts, connector, { file, signal })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return later('the bot_token of the connector cannot be read')
    }
  },
})
