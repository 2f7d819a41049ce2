/** What an event must keep (external-15, external-16). Sizes are bytes. */
import type { InlineAsset } from '../../../execution/runs/contract.js'
import { fromBase64 } from '../../../media/assets/contract.js'
import type { ExternalEvent } from './event.js'

const mebibyte = 1_048_576
export const mostBody = 2 * mebibyte
const [mostContent, mostFile] = [mebibyte, mebibyte]
const [mostItems, mostAttachments, mostSegments] = [64, 10, 64]

/** Bytes of texts that are kept beside what the model is told. */
const mostOf = {
  event_id: 1024,
  instance_id: 1024,
  fingerprint: 1024,
  routing_key: 4096,
  reply_route: 20_000,
} as const
const named = ['fingerprint', 'routing_key', 'reply_route'] as const
/** Those that runs have in characters. */
const short = ['actor_id', 'source_kind', 'intent'] as const
const mostCharacters = 200
const mostSegment = 4096

const isBlank = (text: string | undefined): boolean => text !== undefined && text.trim() === ''
const isLonger = (text: string | undefined, most: number): boolean =>
  text !== undefined && (text.length > most || Buffer.byteLength(text) > most)

/** Clients look for these words, and send the version before. */
export const faultOfVersion = 'unsupported protocol_version: events of the versions 1 and 2 are taken'

export const faultOfId = ({ event_id }: ExternalEvent): string | undefined => {
  if (isBlank(event_id)) return 'event_id must not be blank'
  return isLonger(event_id, mostOf.event_id) ? `event_id must have at most ${mostOf.event_id} bytes` : undefined
}

/** Relations and hints say something or are not there. */
const faultOfTexts = (event: ExternalEvent): string | undefined => {
  const { intent, routing_key, relation, thread } = event
  const told = {
    intent,
    routing_key,
    'relation.kind': relation?.kind,
    'relation.target_event_id': relation?.target_event_id,
  }
  const blank = Object.entries(told).find(([, text]) => isBlank(text))
  if (blank !== undefined) return `${blank[0]} must not be blank`
  const wordy = short.find(
    (name) => isLonger(event[name], 4 * mostCharacters) || [...(event[name] ?? '')].length > mostCharacters,
  )
  if (wordy !== undefined) return `${wordy} must have at most ${mostCharacters} characters`
  const long = named.find((name) => isLonger(event[name], mostOf[name]))
  if (long !== undefined) return `${long} must have at most ${mostOf[long]} bytes`
  if ([relation?.kind, relation?.target_event_id].some((text) => isLonger(text, mostOf.event_id)))
    return `relation must have texts of at most ${mostOf.event_id} bytes`
  const path = thread?.path ?? []
  if (path.length > mostSegments) return `thread.path must have at most ${mostSegments} parts`
  return path.some((segment) => isLonger(segment, mostSegment))
    ? `thread.path must have parts of at most ${mostSegment} bytes`
    : undefined
}

const faultOfShape = ({ content = '', input_items = [], attachments = [] }: ExternalEvent): string | undefined => {
  if (isLonger(content, mostContent)) return 'content must have at most 1 MiB'
  if (input_items.length > mostItems) return `input_items must have at most ${mostItems} items`
  if (attachments.length > mostAttachments) return `attachments must have at most ${mostAttachments} files`
  return input_items.length > 0 && (content.trim() !== '' || attachments.length > 0)
    ? 'input_items cannot be combined with content or attachments'
    : undefined
}

const filesOf = ({ input_items = [], attachments = [] }: ExternalEvent): readonly InlineAsset[] => [
  ...attachments,
  ...input_items.filter((item) => item.type === 'inline_asset'),
]

/** Characters of base64 beyond which there are more bytes than that. */
const mostBase64 = Math.ceil(mostFile / 3) * 4
const faultOfFiles = async (files: readonly InlineAsset[]): Promise<string | undefined> => {
  if (files.some(({ content_base64 }) => content_base64.length > mostBase64)) return tooLarge
  for (const { content_base64 } of files) {
    const bytes = await fromBase64(content_base64)
    if (bytes === undefined) return 'the content of a file must be base64'
    if (bytes.length > mostFile) return tooLarge
  }
  return undefined
}
const tooLarge = 'a file must have at most 1 MiB'

/** What nobody proved to be the sidecar's cannot name what is stored here. */
const faultOfReferences = ({ input_items = [] }: ExternalEvent): string | undefined =>
  input_items.some(({ type }) => type === 'asset_reference' || type === 'board_reference')
    ? 'input_items must name nothing that is stored, where the connector has no shared token'
    : undefined

export const faultOfLimits = async (event: ExternalEvent, isProven: boolean): Promise<string | undefined> =>
  (isLonger(event.instance_id, mostOf.instance_id)
    ? `instance_id must have at most ${mostOf.instance_id} bytes`
    : undefined) ??
  faultOfTexts(event) ??
  faultOfShape(event) ??
  (isProven ? undefined : faultOfReferences(event)) ??
  (await faultOfFiles(filesOf(event)))
